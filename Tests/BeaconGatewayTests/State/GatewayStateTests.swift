import BeaconEventStore
import BeaconModel
import BeaconMonitoring
import Foundation
import GRDB
import Glibc
import Testing

@testable import BeaconGateway

@Suite("What beacond knows beside its configuration")
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

    @Test("What is saved while everything ends is saved")
    func cancelled() async throws {
        let bench = try GatewayBench()
        let state = bench.state
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.cancelAll()
            group.addTask { try await state.set(.plan, to: Data([1])) }
            try await group.waitForAll()
        }
        #expect(try await bench.state.value(of: .plan) == Data([1]))
    }

    @Test("The presence is what was saved last, in any order of changes")
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

    @Test("Rows of the presence that are of another version are ignored")
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

    @Test("What is known is read though nothing can be written")
    func readOnly() async throws {
        let bench = try GatewayBench()
        // It was killed, and so left a log that is not in the file.
        let killed = bench.state
        try await killed.set(.plan, to: Data([1]))
        defer { killed.close() }
        // As a disk that is full does, somebody else's transaction lets nobody write.
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let file = GatewayState.file(besideOutbox: bench.folder.path + "/outbox.sqlite")
        let other = try DatabaseQueue(path: file.path, configuration: configuration)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let state = bench.state
        #expect(try await state.value(of: .plan) == Data([1]))
        await #expect(throws: DatabaseError.self) { try await state.set(.plan, to: Data([2])) }
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        try await state.set(.plan, to: Data([2]))
    }

    @Test("The first write makes the folder for this user alone")
    func folder() async throws {
        let bench = try GatewayBench(keepsPresence: false)
        let folder = bench.folder.path + "/state/beacond"
        let state = GatewayState(besideOutbox: folder + "/outbox.sqlite", logger: bench.lines.logger)
        #expect(!FileManager.default.fileExists(atPath: folder))
        try await state.set(.plan, to: Data([1]))
        let mode = try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? Int
        #expect(mode == 0o700)
        state.close()
        let other = GatewayState(besideOutbox: "/proc/none/outbox.sqlite", logger: bench.lines.logger)
        await #expect(throws: (any Error).self) { try await other.set(.plan, to: nil) }
    }

    @Test("A damaged file is set aside and told, and what was to be written is written")
    func damage() async throws {
        let bench = try GatewayBench()
        let state = bench.state
        try await state.set(.plan, to: Data([1]))
        state.close()
        let file = GatewayState.file(besideOutbox: bench.folder.path + "/outbox.sqlite")
        try? FileManager.default.removeItem(atPath: file.path + "-wal")
        try Data(repeating: 7, count: 8_192).write(to: file)
        try await state.set(.plan, to: Data([2]))
        #expect(try await bench.state.value(of: .plan) == Data([2]))
        #expect(FileManager.default.fileExists(atPath: file.path + ".damaged"))
        #expect(bench.lines.all.contains { $0.contains("the state in") && $0.contains("is damaged") })
    }

    @Test("A database of another program is left alone")
    func foreign() async throws {
        let bench = try GatewayBench()
        let file = GatewayState.file(besideOutbox: bench.folder.path + "/outbox.sqlite")
        try await DatabaseQueue(path: file.path).write { try $0.execute(sql: "PRAGMA application_id = 42") }
        await #expect(throws: (any Error).self) { try await bench.state.set(.plan, to: nil) }
        let found = try await DatabaseQueue(path: file.path).read { try Int.fetchOne($0, sql: "PRAGMA application_id") }
        #expect(found == 42)
    }

    @Test("A code of a link signs in once, and not after its time")
    func codes() async throws {
        let bench = try GatewayBench()
        // A link into a state that no beacond reads would be of no use.
        #expect(throws: ConsoleLink.Failure.self) { try ConsoleLink(bench.configuration([])) }
        try await bench.state.set(.plan, to: nil)
        let link = try ConsoleLink(bench.configuration([]))
        let hash = AccessToken.hash(of: link.code)
        #expect(try await !bench.state.use(code: AccessToken.hash(of: "another")))
        #expect(try await bench.state.use(code: hash))
        #expect(try await !bench.state.use(code: hash))
        let old = try ConsoleLink(bench.configuration([]))
        try await bench.state.write { try $0.execute(sql: "UPDATE code SET time = time - 601") }
        #expect(try await !bench.state.use(code: AccessToken.hash(of: old.code)))
    }

    @Test("Of messages that nobody takes, the newest hundred wait")
    func messages() async throws {
        let bench = try GatewayBench()
        for number in 0..<105 {
            try await bench.state.add(
                InstallMessage(
                    id: "\(number)", install: "i", time: .zero, content: RuleMessage(text: "\(number)"), rule: nil,
                    taken: nil))
        }
        let waiting = try await bench.state.messages(of: "i", isWaiting: true, limit: 200)
        #expect(waiting.map(\.id) == (5..<105).map(String.init))
        try await bench.state.take(["5", "7"], by: "other", at: .zero)
        #expect(try await bench.state.messages(of: "i", isWaiting: true, limit: 200).count == 100)
        try await bench.state.take(["5", "7"], by: "i", at: .zero)
        #expect(try await bench.state.messages(of: "i", isWaiting: true, limit: 2).map(\.id) == ["6", "8"])
    }

    @Test("An app has at most 5000 installs, and none that was silent for 400 days")
    func installBounds() async throws {
        let state = try GatewayBench().state
        @Sendable func install(_ number: Int, app: String = "a") -> Install {
            let time = Timestamp(nanoseconds: Int64(number) * 1_000_000_000)
            return Install(
                id: "\(app)\(number)", app: app, user: "u\(number)", first: time, last: time, events: 1,
                attributes: ["a": "b"])
        }
        try await state.write { database in
            // As `save` does, in less time.
            try database.execute(
                sql: """
                    WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 4999)
                    INSERT INTO install (id, app, user, first, last, events)
                    SELECT 'a' || i, 'a', 'u' || i, i * 1000000000, i * 1000000000, 1 FROM n;
                    INSERT INTO person (app, user, attributes) SELECT app, user, '{}' FROM install;
                    """)
            for number in 5_000..<5_050 { try GatewayState.save(install(number), in: database) }
            try GatewayState.save(install(1, app: "b"), in: database)
        }
        try await state.add(
            InstallMessage(id: "m", install: "a5049", time: .zero, content: RuleMessage(text: "t"), rule: nil))
        let kept = try await state.installs(limit: 10_000)
        #expect(kept.count == 5_001 && kept.last?.id == "b1" && kept.dropLast().last?.id == "a50")
        #expect(try await state.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM person") } == 5_001)
        let later = install(6_000 + 400 * 86_400)
        try await state.write { try GatewayState.save(later, in: $0) }
        #expect(try await state.installs(limit: 10_000).map(\.id) == [later.id, "b1"])
        #expect(try await state.messages(of: "a5049", isWaiting: true, limit: 9) == [])
    }

    @Test("A row that another program spoilt is passed over and told")
    func spoiltRow() async throws {
        let bench = try GatewayBench()
        for name in ["a", "b"] {
            #expect(try await bench.state.add(RegisteredApp(name: name, key: "k\(name)", secretHash: "h")))
        }
        bench.state.close()
        let file = GatewayState.file(besideOutbox: bench.folder.path + "/outbox.sqlite")
        var configuration = Configuration()
        // Another schema lets other values in.
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA writable_schema = ON") }
        try await DatabaseQueue(path: file.path, configuration: configuration).writeWithoutTransaction { database in
            try database.execute(
                sql: "UPDATE sqlite_master SET sql = replace(sql, ', STRICT', '') WHERE name = 'app'")
        }
        try await DatabaseQueue(path: file.path).write {
            try $0.execute(sql: "UPDATE app SET secret = x'00ff' WHERE name = 'a'")
        }
        #expect(try await bench.state.apps().map(\.name) == ["b"])
        #expect(bench.lines.all.contains { $0.contains("rows of the state") && $0.contains("passed over") })
    }

    // MARK: - Backup

    /// Puts something else in the place of a part of a backup.
    private func replace(part: String, of backup: URL, by content: Data) throws {
        try DatabaseQueue(path: backup.path).write { database in
            try database.execute(sql: "DELETE FROM piece WHERE part = ?", arguments: [part])
            try database.execute(
                sql: "INSERT INTO piece (part, number, content) VALUES (?, 0, ?)", arguments: [part, content])
        }
    }

    @Test(
        "What somebody put into a backup is refused, or stays behind",
        arguments: [
            ("CREATE TRIGGER t AFTER INSERT ON app BEGIN DELETE FROM app; END; CREATE VIEW v AS SELECT 1", true),
            ("CREATE TABLE other (a); ALTER TABLE app ADD COLUMN extra TEXT", true),
            ("UPDATE event SET time = 9223372036854775807, arrival = -9223372036854775808", true),
            ("INSERT INTO session (hash, time) VALUES ('s', 1); INSERT INTO code (hash, time) VALUES ('c', 1)", true),
            ("UPDATE app SET secret = x'00ff'", false), ("UPDATE setting SET value = 'text'", false),
            ("UPDATE event SET time = 'x'", false), ("UPDATE event SET id = x'00'", false),
            ("DROP TABLE app; CREATE VIEW app AS SELECT 1 AS name", false),
            ("DROP TABLE app; CREATE VIRTUAL TABLE app USING fts5(name)", false),
            ("DROP TABLE message", false), ("ALTER TABLE app DROP COLUMN secret", false),
            ("PRAGMA application_id = 7", false),
        ])
    func hostileBackup(change: String, isTaken: Bool) async throws {
        let (from, to) = (try WebBench(), try GatewayBench(keepsPresence: false))
        try await from.state.set(.plan, to: Data([1]))
        _ = try await from.state.add(Self.app)
        try await from.history.append([
            HistoryEvent(
                time: .zero, kind: .enter, summary: "in", receiver: nil, region: "hall", place: nil, beacon: nil,
                detail: "{}")
        ])
        let backup = from.bench.folder.appendingPathComponent("b.backup")
        try await Backup.write(
            to: backup, configuration: nil, state: from.state, store: from.history.store)
        let isOfEvents = change.contains("event")
        let file = from.bench.folder.appendingPathComponent("part")
        if isOfEvents {
            try await from.history.store.backUp(to: file)
        } else {
            try await from.state.file.opened().vacuum(into: file.path)
        }
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA writable_schema = ON") }
        try await DatabaseQueue(path: file.path, configuration: configuration).writeWithoutTransaction {
            try $0.execute(
                sql: "UPDATE sqlite_master SET sql = replace(replace(sql, ', STRICT', ''), ') STRICT', ')')")
        }
        try await DatabaseQueue(path: file.path).writeWithoutTransaction { try $0.execute(sql: change) }
        try replace(part: isOfEvents ? "events" : "state", of: backup, by: try Data(contentsOf: file))
        let outbox = to.folder.path + "/outbox.sqlite"
        func restore() async throws {
            _ = try await Backup.restore(from: backup, besideOutbox: outbox, configuration: to.folder.path + "/c")
        }
        guard isTaken else {
            await #expect(throws: Backup.Failure.self) { try await restore() }
            let left = try FileManager.default.contentsOfDirectory(atPath: to.folder.path)
            #expect(left.allSatisfy { $0 == "outbox.sqlite.lock" }, "\(left)")
            return
        }
        try await restore()
        #expect(try await to.state.apps() == [Self.app])
        let foreign = try await to.state.read { database in
            try Int.fetchOne(
                database,
                sql: """
                    SELECT (SELECT count(*) FROM sqlite_master WHERE type IN ('trigger', 'view') OR name = 'other')
                    + (SELECT count(*) FROM session) + (SELECT count(*) FROM code)
                    """)
        }
        #expect(foreign == 0)
        let history = try EventHistory(EventStore(file: URL(fileURLWithPath: outbox), settings: .gateway))
        #expect(try await history.all.map(\.event.summary) == ["in"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: to.folder.path)
                .allSatisfy { $0.hasPrefix("outbox.sqlite") })
    }

    @Test("What a process that was killed left of a backup is removed at the next start")
    func sweep() throws {
        let bench = try GatewayBench(keepsPresence: false)
        let names = [Backup.temporaryFile(in: bench.folder).lastPathComponent, "outbox.sqlite", "backup.sqlite"]
        for name in names { try Data([1]).write(to: bench.folder.appendingPathComponent(name)) }
        try Data([1]).write(to: bench.folder.appendingPathComponent(names[0] + "-journal"))
        Backup.sweep(besideOutbox: bench.folder.path + "/outbox.sqlite")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: bench.folder.path).sorted()
                == ["backup.sqlite", "outbox.sqlite"])
    }

    @Test("A backup put back elsewhere has all that was there, and signs nobody in")
    func backup() async throws {
        let (from, to) = (try WebBench(), try GatewayBench(keepsPresence: false))
        try await from.state.set(.plan, to: Data([1]))
        _ = try await from.state.add(Self.app)
        try await from.state.addSession("hash", for: nil)
        try await from.history.append([
            HistoryEvent(
                time: .zero, kind: .enter, summary: "in", receiver: nil, region: "hall", place: nil, beacon: nil,
                detail: "{}")
        ])
        let configuration = from.bench.folder.appendingPathComponent("beacond.yaml")
        try "web: true\n".write(to: configuration, atomically: true, encoding: .utf8)
        let file = from.bench.folder.appendingPathComponent("b.backup")
        try await from.bench.save(Self.presence(["region hall": .inside]))
        try await Backup.write(
            to: file, configuration: configuration.path, state: from.state, store: from.history.store)
        let outbox = to.folder.path + "/outbox.sqlite"
        try await to.state.set(.plan, to: Data([2]))
        func restore() async throws -> Backup.Restored {
            try await Backup.restore(
                from: file, besideOutbox: outbox, configuration: to.folder.path + "/etc/beacond.yaml")
        }
        let running = to.state
        _ = try await running.value(of: .plan)
        await #expect(throws: Backup.Failure.self) { _ = try await restore() }
        running.close()
        let store = try EventStore(file: URL(fileURLWithPath: outbox), settings: .gateway)
        try await store.append(
            Step(changes: Self.presence(["region attic": .outside]).changes(since: Presence())))
        await #expect(throws: Backup.Failure.self) { _ = try await restore() }
        await store.close()
        // What a process that was killed left beside a damaged file belongs to no other.
        let damaged = GatewayState.file(besideOutbox: outbox)
        try Data(repeating: 3, count: 4_096).write(to: damaged)
        try Data(repeating: 5, count: 40_000).write(to: URL(fileURLWithPath: damaged.path + "-wal"))
        let restored = try await restore()
        #expect(restored.setAside.count == 2 && restored.configuration?.hasSuffix("/etc/beacond.yaml") == true)
        #expect(try await to.state.apps() == [Self.app])
        let history = try EventHistory(EventStore(file: URL(fileURLWithPath: outbox), settings: .gateway))
        #expect(try await Presence(in: history.store) == Self.presence(["region hall": .inside]))
        #expect(try await !to.state.hasSession("hash", for: nil))
        #expect(try await history.all.map(\.event.summary) == ["in"])
    }

    @Test("What is put back belongs to the owner of the state, and the service can read the configuration")
    func restoredOwner() async throws {
        let (from, to) = (try WebBench(), try GatewayBench(keepsPresence: false))
        try await from.state.set(.plan, to: Data([1]))
        _ = try await from.state.add(Self.app)
        try await from.history.append([])
        let configuration = from.bench.folder.appendingPathComponent("beacond.yaml")
        try "web: true\n".write(to: configuration, atomically: true, encoding: .utf8)
        let file = from.bench.folder.appendingPathComponent("b.backup")
        try await Backup.write(
            to: file, configuration: configuration.path, state: from.state, store: from.history.store)
        // Only root gives files away.
        let owner = geteuid() == 0 ? 4711 : geteuid()
        let state = to.folder.path + "/state"
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        #expect(chown(state, owner, getegid()) == 0)
        let (outbox, path) = (state + "/outbox.sqlite", to.folder.path + "/etc/beacond.yaml")
        // On a new machine, and where files are there.
        for round in 0..<2 {
            let restored = try await Backup.restore(
                from: file, besideOutbox: outbox, configuration: path)
            #expect(restored.setAside.isEmpty == (round == 0))
            for file in [GatewayState.file(besideOutbox: outbox), URL(fileURLWithPath: outbox)] {
                let rights = try #require(FileRights(file.path, followsLinks: false))
                #expect(rights.owner == owner && rights.mode & 0o777 == 0o600, "\(file.path)")
            }
            #expect(FileRights(path, followsLinks: false).map { $0.mode & 0o777 } == 0o644)
            #expect(FileRights(to.folder.path + "/etc", followsLinks: false).map { $0.mode & 0o777 } == 0o755)
        }
        try "web: false\n".write(toFile: path, atomically: true, encoding: .utf8)
        let beside = try await Backup.restore(from: file, besideOutbox: outbox, configuration: path).configuration
        #expect(beside == path + ".restored")
        #expect(FileRights(path + ".restored", followsLinks: false).map { $0.mode & 0o777 } == 0o644)
    }

    @Test("A backup of which a part is missing is refused, and nothing is touched")
    func halfBackup() async throws {
        let (from, to) = (try WebBench(), try GatewayBench(keepsPresence: false))
        try await from.state.set(.plan, to: Data([1]))
        _ = try await from.state.add(Self.app)
        let file = from.bench.folder.appendingPathComponent("b.backup")
        try await Backup.write(
            to: file, configuration: nil, state: from.state, store: from.history.store)
        let whole = try Data(contentsOf: file)
        try await to.state.set(.plan, to: Data([2]))
        for part in [0.3, 0.6, 0.9] {
            try whole.prefix(Int(Double(whole.count) * part)).write(to: file)
            await #expect(throws: Backup.Failure.self) {
                try await Backup.restore(
                    from: file, besideOutbox: to.folder.path + "/outbox.sqlite", configuration: to.folder.path + "/c")
            }
        }
        #expect(try await to.state.value(of: .plan) == Data([2]))
    }

    @Test("Another file than a backup is refused, and nothing is touched")
    func noBackup() async throws {
        let bench = try GatewayBench(keepsPresence: false)
        let file = bench.folder.appendingPathComponent("x")
        try Data(repeating: 1, count: 5_000).write(to: file)
        for path in [file, bench.folder.appendingPathComponent("nowhere")] {
            await #expect(throws: Backup.Failure.self) {
                try await Backup.restore(
                    from: path, besideOutbox: bench.folder.path + "/o", configuration: bench.folder.path + "/c")
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.folder.path) == ["x"])
    }
}
