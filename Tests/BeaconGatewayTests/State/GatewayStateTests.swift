import BeaconConfiguration
import BeaconDelivery
import BeaconEventStore
import BeaconModel
import BeaconMonitoring
import BeaconSupport
import Foundation
import GRDB
import GatewayTestSupport
import Glibc
import Testing

@testable import BeaconGateway

@Suite("State of the gateway")
struct GatewayStateTests {
    private static let app = RegisteredApp(name: "museum", key: "k", secretHash: "h")
    private static let beacon = BeaconIdentity(uuid: GatewayBench.constraint.uuid, major: 1, minor: 2)

    private static func presence(_ states: [String: RegionState], places: [BeaconIdentity: String] = [:]) -> Presence {
        Presence(
            regions: states.mapValues {
                Presence.Region(
                    constraint: GatewayBench.constraint, state: $0, source: "a", since: Timestamp(nanoseconds: 5),
                    receiver: "hci0")
            }, places: places)
    }

    @Test("A save during shutdown is completed")
    func cancelled() async throws {
        let bench = try GatewayBench()
        let state = try bench.state
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.cancelAll()
            group.addTask { try await state.set(.plan, to: Data([1])) }
            try await group.waitForAll()
        }
        #expect(try await bench.state.value(of: .plan) == Data([1]))
    }

    @Test("The stored presence is the last saved one, in any order of changes")
    func presence() async throws {
        let bench = try GatewayBench()
        #expect(try await bench.presence == Presence())
        var saved = Presence()
        for presence in [
            Self.presence(["region a": .inside, "region b": .outside], places: [Self.beacon: "hall"]),
            Self.presence(["region b": .inside], places: [Self.beacon: "attic"]), Self.presence(["region b": .inside]),
            Presence(), Self.presence(["region c": .outside]),
        ] {
            try await bench.store?.append(Step(changes: presence.changes(since: saved)))
            #expect(try await bench.presence == presence)
            #expect(presence.changes(since: presence) == [])
            saved = presence
        }
    }

    @Test("Presence rows of other versions are ignored")
    func otherPresence() async throws {
        let bench = try GatewayBench()
        var changes = Self.presence(["region a": .inside], places: [Self.beacon: "hall"]).changes(since: Presence())
        for (key, value) in [("region b", "{}"), ("region c", "x"), ("region d", #"{"beacons":"x","state":1}"#)] {
            changes.append(StateChange(namespace: "region", key: key, value: Data(value.utf8)))
        }
        changes.append(StateChange(namespace: "whereabouts", key: "nobody", value: Data("hall".utf8)))
        try await bench.store?.append(Step(changes: changes))
        #expect(try await bench.presence == Self.presence(["region a": .inside], places: [Self.beacon: "hall"]))
    }

    @Test("A link's code signs in once, and not after it expires")
    func codes() async throws {
        let (bench, later) = (try GatewayBench(keepsPresence: false), Locked<Int64>(0))
        // A link must not lead to a state file that no beacond reads.
        #expect(throws: EventStoreError.self) { try ConsoleLink(bench.configuration([])) }
        let file = URL(fileURLWithPath: bench.configuration([]).outbox.path)
        var clock = EventStoreClock.system
        clock.wall = { [wall = clock.wall] in wall().advanced(by: later.withLock { $0 }) }
        clock.sinceBoot = { [sinceBoot = clock.sinceBoot] in sinceBoot() + later.withLock { $0 } }
        let state = GatewayState(try EventStore(file: file, settings: .gateway, clock: clock))
        let hash = AccessToken.hash(of: try ConsoleLink(bench.configuration([])).code)
        #expect(try await !state.access.use(code: AccessToken.hash(of: "another")))
        #expect(try await state.access.use(code: hash))
        #expect(try await !state.access.use(code: hash))
        let old = try ConsoleLink(bench.configuration([]))
        later.withLock { $0 = 601 * Timestamp.nanosecondsPerSecond }
        #expect(try await !state.access.use(code: AccessToken.hash(of: old.code)))
    }

    @Test("A guided start has a link before the first run of beacond")
    func firstLink() async throws {
        let bench = try GatewayBench(keepsPresence: false)
        let settings = GuidedStart.configuration(
            writing: bench.folder.path + "/c", web: WebSettings(), token: AccessToken(), folder: bench.folder)
        let link = try ConsoleLink(settings)
        let state = GatewayState(try EventStore(file: URL(fileURLWithPath: settings.outbox.path), settings: .gateway))
        #expect(try await state.access.use(code: AccessToken.hash(of: link.code)))
    }

    @Test("A session ends when its token changes and when the user signs out")
    func sessions() async throws {
        let bench = try GatewayBench()
        defer { withExtendedLifetime(bench) {} }
        let access = try bench.state.access
        try await access.addSession("a", for: nil)
        #expect(try await access.hasSession("a", for: nil))
        #expect(try await !access.hasSession("a", for: "token"))
        try await access.addSession("b", for: "token")
        #expect(try await !access.hasSession("a", for: nil))
        for number in 0..<100 { try await access.addSession("c\(number)", for: "token") }
        #expect(try await !access.hasSession("b", for: "token"))
        #expect(try await access.hasSession("c0", for: "token"))
        try await access.endSession("c0")
        #expect(try await !access.hasSession("c0", for: "token"))
    }

    @Test("The newest hundred unacknowledged messages are kept")
    func messages() async throws {
        let bench = try GatewayBench()
        for number in 0..<105 {
            try await bench.state.people.add(
                InstallMessage(
                    id: "\(number)", install: "i", time: Timestamp(nanoseconds: Int64(number)),
                    content: RuleMessage(text: "\(number)"), rule: nil,
                    taken: nil))
        }
        let waiting = try await bench.state.people.messages(of: "i", isWaiting: true, limit: 200)
        #expect(waiting.map(\.id) == (5..<105).map(String.init))
        try await bench.state.people.take(["5", "7"], by: "other", at: .zero)
        #expect(try await bench.state.people.messages(of: "i", isWaiting: true, limit: 200).count == 100)
        try await bench.state.people.take(["5", "7"], by: "i", at: .zero)
        #expect(try await bench.state.people.messages(of: "i", isWaiting: true, limit: 2).map(\.id) == ["6", "8"])
    }

    @Test("An app has at most 5000 installs, and the least recent are forgotten")
    func installBounds() async throws {
        let bench = try GatewayBench()
        let people = try bench.state.people
        func save(_ numbers: Range<Int>, of app: String = "a") async throws {
            var step = Step()
            for number in numbers {
                let time = Timestamp(nanoseconds: Int64(number) * 1_000_000_000)
                step.changes += try StoredPeople.changes(
                    saving: Install(
                        id: "\(app)\(number)", app: app, user: "u\(number)", first: time, last: time, events: 1,
                        attributes: ["a": "b"]))
            }
            try await people.store.append(step)
        }
        try await save(0..<1, of: "b")
        for start in stride(from: 0, to: 5_000, by: 1_000) { try await save(start..<start + 1_000) }
        try await save(5_000..<5_050)
        let kept = try await people.installs(limit: 10_000)
        #expect(kept.count == 5_001 && kept.first?.attributes == ["a": "b"])
        #expect(Set(kept.prefix(50).map(\.id)) == Set((5_000..<5_050).map { "a\($0)" }))
        #expect(try await people.installCounts() == ["a": 5_000, "b": 1])
        #expect(try await people.store.state("person").count == 5_001)
    }

    @Test("Forgetting an install removes only its own data")
    func forget() async throws {
        let bench = try GatewayBench()
        defer { withExtendedLifetime(bench) {} }
        let people = try bench.state.people
        // An id that begins like another id belongs to another install, whatever it contains.
        let names = ["i", "i/1", "i\n1", String(repeating: "i", count: 600)]
        for (number, name) in names.enumerated() {
            let install = Install(
                id: name, app: "a", user: number < 2 ? "mia" : "tom\(number)", first: .zero, last: .zero, events: 1,
                attributes: ["n": "\(number)"])
            try await people.store.append(Step(changes: try StoredPeople.changes(saving: install)))
            for message in 0..<2 {
                try await people.add(
                    InstallMessage(
                        id: "\(message)", install: name, time: Timestamp(nanoseconds: Int64(message)),
                        content: RuleMessage(text: "t"), rule: nil))
            }
            try await people.take(["0"], by: name, at: .zero)
        }
        #expect(try await people.forget(install: "i"))
        #expect(try await !people.forget(install: "i"))
        #expect(try await people.messages(of: "i", isWaiting: false, limit: 9).isEmpty)
        for name in names.dropFirst() {
            #expect(try await people.messages(of: name, isWaiting: false, limit: 9).map(\.id) == ["1", "0"])
        }
        let left = try await people.installs(limit: 9)
        #expect(Set(left.map(\.id)) == Set(names.dropFirst()) && left.allSatisfy { $0.waiting == 1 })
        #expect(left.first { $0.id == "i/1" }?.attributes == ["n": "1"])
        #expect(try await people.forget(install: "i/1"))
        #expect(try await people.store.state("person").map(\.key).allSatisfy { !$0.contains("mia") })
    }

    @Test("The audit trail is read in pages, the newest first, for one rule or all")
    func trail() async throws {
        let bench = try GatewayBench()
        defer { withExtendedLifetime(bench) {} }
        let trail = try bench.state.trail
        for number in 0..<25 {
            let run = RuleRun(
                time: .zero, rule: number.isMultiple(of: 5) ? "five" : "r", event: Int64(number), summary: "s",
                person: nil, action: "a", outcome: .done)
            try await trail.store.append(Step(changes: try trail.changes(adding: [run], [])))
        }
        for (rule, expected) in [(nil, (0..<25).reversed().map(Int64.init)), ("five", [20, 15, 10, 5, 0])] {
            var (events, before): ([Int64?], String?) = ([], nil)
            while let page = try? await trail.runs(of: rule, before: before, limit: 4), !page.runs.isEmpty {
                events += page.runs.map(\.event)
                before = page.next ?? "0"
            }
            #expect(events == expected)
        }
    }

    @Test("A value from another version is ignored")
    func otherVersion() async throws {
        let bench = try GatewayBench()
        defer { withExtendedLifetime(bench) {} }
        let state = try bench.state
        for name in ["a", "b"] {
            #expect(try await state.access.add(RegisteredApp(name: name, key: "k\(name)", secretHash: "h")))
        }
        for namespace in ["app", "install", "message", "run", "item", "firing"] {
            try await state.store.append(
                Step(changes: [StateChange(namespace: namespace, key: "a", value: Data("{}".utf8))]))
        }
        #expect(try await state.access.apps().map(\.name) == ["b"])
        #expect(try await state.people.installs(limit: 9).isEmpty)
        #expect(try await state.trail.runs(of: nil, before: nil, limit: 9).runs.isEmpty)
        #expect(try await state.items.all().isEmpty)
        #expect(try await state.trail.firings([:], at: .zero).isEmpty)
    }

    @Test("Users and messages are removed with their installs, for whatever reason and also after a change of user")
    func orphans() async throws {
        let bench = try GatewayBench()
        defer { withExtendedLifetime(bench) {} }
        let people = try bench.state.people
        func save(_ id: String, _ user: String?) async throws {
            let install = Install(
                id: id, app: "a", user: user, first: .zero, last: .zero, events: .max, attributes: ["k": "v"])
            try await people.store.append(Step(changes: try StoredPeople.changes(saving: install)))
            try await people.add(
                InstallMessage(id: "m", install: id, time: .zero, content: RuleMessage(text: "t"), rule: nil))
        }
        try await save("i", "mia")
        try await save("i", "tom")
        try await save("j", "lea")
        #expect(try await people.forget(install: "i"))
        #expect(try await people.store.state("person").map(\.key) == [GatewayState.key("a", "lea")])
        // As a limit would do.
        try await people.store.append(
            Step(changes: [StateChange(namespace: "install", key: GatewayState.key("j"), value: nil)]))
        try await save("k", "max")
        try await people.forgetOrphans()
        #expect(try await people.store.state("person").map(\.key) == [GatewayState.key("a", "max")])
        #expect(try await people.store.state("message").map(\.sender) == ["k"])
        // A count from a manipulated backup ends nothing.
        var known = People(installs: try await people.installs(["k"]))
        var event = BeaconNotification.shown(.app)
        (event.sender, event.install) = ("a", "k")
        #expect(known.receive(event, at: .zero)?.events == .max)
    }

    // MARK: - Backup

    @Test(
        "Manipulated content of a backup is refused or left out",
        arguments: [
            ("CREATE TRIGGER t AFTER INSERT ON state BEGIN DELETE FROM state; END; CREATE VIEW v AS SELECT 1", true),
            ("CREATE TABLE other (a); ALTER TABLE state ADD COLUMN extra TEXT", true),
            ("UPDATE event SET time = 9223372036854775807, arrival = -9223372036854775808", true),
            ("INSERT INTO state VALUES ('session', 's', x'00', NULL, 1), ('code', 'c', x'01', NULL, 1)", true),
            ("UPDATE state SET value = 'text'", false), ("UPDATE state SET modified = x'00'", false),
            ("UPDATE event SET time = 'x'", false), ("UPDATE event SET id = x'00'", false),
            ("DROP TABLE state; CREATE VIEW state AS SELECT 1 AS namespace", false),
            ("DROP TABLE state; CREATE VIRTUAL TABLE state USING fts5(namespace)", false),
            ("DROP INDEX stateBySender; ALTER TABLE state DROP COLUMN modified", false),
            ("PRAGMA application_id = 7", false),
        ])
    func hostileBackup(change: String, isTaken: Bool) async throws {
        let (from, to) = (try GatewayBench(), try GatewayBench(keepsPresence: false))
        let backup = try await backup(of: from)
        try await DatabaseQueue(path: backup.path).writeWithoutTransaction { try $0.execute(sql: change) }
        func restore() throws -> Backup.Restored {
            try Backup.restore(
                from: backup, to: to.folder.path + "/beacond.sqlite", configuration: to.folder.path + "/c")
        }
        guard isTaken else {
            #expect(throws: Backup.Failure.self) { try restore() }
            let left = try FileManager.default.contentsOfDirectory(atPath: to.folder.path)
            #expect(left.allSatisfy { $0 == "beacond.sqlite.lock" }, "\(left)")
            return
        }
        _ = try restore()
        let state = try to.state
        #expect(try await state.access.apps() == [Self.app])
        for namespace in ["session", "code", "configuration"] {
            #expect(try await state.store.state(namespace).isEmpty)
        }
        #expect(try await EventHistory(state.store).all.map(\.notification.summary) == ["in"])
        await state.store.close()
        let foreign = try await DatabaseQueue(path: to.folder.path + "/beacond.sqlite").read { database in
            try Int.fetchOne(
                database,
                sql: "SELECT count(*) FROM sqlite_schema WHERE type IN ('trigger', 'view') OR name = 'other'")
        }
        #expect(foreign == 0)
    }

    /// Returns a backup of a plan, an app, a session, an event and a configuration.
    private func backup(of bench: GatewayBench) async throws -> URL {
        let state = try bench.state
        try await state.set(.plan, to: Data([1]))
        _ = try await state.access.add(Self.app)
        try await state.access.addSession("hash", for: nil)
        try await EventHistory(state.store).append([.shown(.enter, "in", region: "hall")])
        let configuration = bench.folder.appendingPathComponent("beacond.yaml")
        try "web: true\n".write(to: configuration, atomically: true, encoding: .utf8)
        let file = bench.folder.appendingPathComponent("b.backup")
        try await Backup.write(to: file, configuration: configuration.path, store: state.store)
        return file
    }

    @Test("The partial backup of a killed process is removed at the next start")
    func sweep() throws {
        let bench = try GatewayBench(keepsPresence: false)
        let names = [Backup.temporaryFile(in: bench.folder).lastPathComponent, "outbox.sqlite", "backup.sqlite"]
        for name in names { try Data([1]).write(to: bench.folder.appendingPathComponent(name)) }
        try Data([1]).write(to: bench.folder.appendingPathComponent(names[0] + "-journal"))
        Backup.sweep(besideStore: bench.folder.path + "/outbox.sqlite")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: bench.folder.path).sorted()
                == ["backup.sqlite", "outbox.sqlite"])
    }

    @Test("A backup restored on another machine has everything except sessions")
    func backup() async throws {
        let (from, to) = (try GatewayBench(), try GatewayBench(keepsPresence: false))
        try await from.save(Self.presence(["region hall": .inside]))
        let file = try await backup(of: from)
        let path = to.folder.path + "/beacond.sqlite"
        func restore() throws -> Backup.Restored {
            try Backup.restore(from: file, to: path, configuration: to.folder.path + "/etc/beacond.yaml")
        }
        let running = try to.state
        try await running.store.append(
            Step(changes: Self.presence(["region attic": .outside]).changes(since: Presence())))
        #expect(throws: Backup.Failure.self) { try restore() }
        await running.store.close()
        let restored = try restore()
        #expect(restored.setAside != nil && restored.configuration?.hasSuffix("/etc/beacond.yaml") == true)
        let state = try to.state
        #expect(try await state.access.apps() == [Self.app])
        #expect(try await Presence(in: state.store) == Self.presence(["region hall": .inside]))
        #expect(try await !state.access.hasSession("hash", for: nil))
        #expect(try await EventHistory(state.store).all.map(\.notification.summary) == ["in"])
        #expect(try await state.store.state("configuration").isEmpty)
    }

    @Test("Restored files belong to the owner of the state, and the service can read the configuration")
    func restoredOwner() async throws {
        let (from, to) = (try GatewayBench(), try GatewayBench(keepsPresence: false))
        let file = try await backup(of: from)
        // Only root can change the owner of files.
        let owner = geteuid() == 0 ? 4711 : geteuid()
        let folder = to.folder.path + "/state"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        #expect(chown(folder, owner, getegid()) == 0)
        let (store, path) = (folder + "/beacond.sqlite", to.folder.path + "/etc/beacond.yaml")
        // On a new machine, and with existing files.
        for round in 0..<2 {
            let restored = try Backup.restore(from: file, to: store, configuration: path)
            #expect((restored.setAside == nil) == (round == 0))
            let rights = try #require(FileRights(store, followsLinks: false))
            #expect(rights.owner == owner && rights.mode & 0o777 == 0o600)
            #expect(FileRights(path, followsLinks: false).map { $0.mode & 0o777 } == 0o644)
            #expect(FileRights(to.folder.path + "/etc", followsLinks: false).map { $0.mode & 0o777 } == 0o755)
        }
        try "web: false\n".write(toFile: path, atomically: true, encoding: .utf8)
        let beside = try Backup.restore(from: file, to: store, configuration: path).configuration
        #expect(beside == path + ".restored")
        #expect(FileRights(path + ".restored", followsLinks: false).map { $0.mode & 0o777 } == 0o644)
    }

    @Test("An incomplete backup is refused, and nothing changes")
    func halfBackup() async throws {
        let (from, to) = (try GatewayBench(), try GatewayBench(keepsPresence: false))
        let file = try await backup(of: from)
        let whole = try Data(contentsOf: file)
        let store = try to.state
        try await store.set(.plan, to: Data([2]))
        await store.store.close()
        for part in [0.3, 0.6, 0.9] {
            try whole.prefix(Int(Double(whole.count) * part)).write(to: file)
            #expect(throws: Backup.Failure.self) {
                try Backup.restore(
                    from: file, to: to.folder.path + "/beacond.sqlite", configuration: to.folder.path + "/c")
            }
        }
        #expect(try await to.state.value(of: .plan) == Data([2]))
    }

    @Test("A file other than a backup is refused, and nothing changes")
    func noBackup() async throws {
        let bench = try GatewayBench(keepsPresence: false)
        let file = bench.folder.appendingPathComponent("x")
        try Data(repeating: 1, count: 5_000).write(to: file)
        for path in [file, bench.folder.appendingPathComponent("nowhere")] {
            #expect(throws: Backup.Failure.self) {
                try Backup.restore(
                    from: path, to: bench.folder.path + "/o", configuration: bench.folder.path + "/c")
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.folder.path) == ["x"])
    }
}
