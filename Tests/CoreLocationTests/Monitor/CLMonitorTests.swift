import BeaconApplications
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import CoreLocation
import Testing

@Suite("Monitor")
final class CLMonitorTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())", isDirectory: true)
    private var files: FileMonitorStore { FileMonitorStore(ApplicationIdentity("test"), in: StateDirectory(folder)) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    @Test("The next launch has the conditions of a named monitor, and their last events (M1)")
    func m1() async throws {
        do {
            let bench = await MonitorBench(store: files)
            let monitor = await bench.monitor()
            await monitor.add(everyone, identifier: "all")
            await monitor.add(
                CLMonitor.BeaconIdentityCondition(uuid: deployment, major: 2, minor: 3), identifier: "one")
            await bench.hear(100)
            var reader = await EventReader(monitor)
            #expect(try await reader.word() == "all satisfied 100")
            await bench.hear(125)
            await bench.time(130)
            #expect(try await reader.word() == "one unsatisfied 130")
            await monitor.remove("one")
            await monitor.add(CLMonitor.BeaconIdentityCondition(uuid: deployment, major: 4), identifier: "four")
            await bench.settle()
        }
        let bench = await MonitorBench(store: files)
        let monitor = await bench.monitor()
        #expect(await monitor.identifiers == ["all", "four"])
        let record = try #require(await monitor.record(for: "all"))
        #expect(record.lastEvent.word == "all satisfied 100")
        #expect((record.lastEvent.refinement as? CLMonitor.BeaconIdentityCondition)?.minor == 1)
        #expect((record.condition as? CLMonitor.BeaconIdentityCondition)?.uuid == deployment)
        let four = try #require(await monitor.record(for: "four")?.condition as? CLMonitor.BeaconIdentityCondition)
        #expect(four.major == 4 && four.minor == nil)
        // A satisfied condition waits to be heard again, and is not reported as satisfied again.
        await bench.time(1000)
        await bench.hear(1001, major: 9)
        await bench.time(1032)
        var reader = await EventReader(monitor)
        #expect(try await reader.word() == "four unsatisfied 1030")
        #expect(try await reader.word() == "all unsatisfied 1031")
    }

    @Test("Any name is valid, and each monitor has its own file (M2)")
    func m2() async {
        let names = ["Shop", "shop", "", "a.b", "a/b", "../../a", "a%2Fb", "a:b-c", "Grüße"]
        do {
            let bench = await MonitorBench(store: files)
            for name in names { await bench.monitor(name).add(everyone, identifier: "in \(name)") }
            await bench.settle()
        }
        let bench = await MonitorBench(store: files)
        for name in names {
            #expect(await bench.monitor(name).identifiers == ["in \(name)"])
        }
        #expect((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) == ["applications"])
    }

    @Test("A second monitor with a name has the same conditions and records, and each event goes to one of them (M3)")
    func m3() async throws {
        let bench = await MonitorBench()
        let first = await bench.monitor()
        let second = await bench.monitor()
        await first.add(everyone, identifier: "all")
        #expect(await second.identifiers == ["all"])
        #expect(await bench.monitor("other").identifiers == [])
        await bench.hear(1)
        var reader = await EventReader(second)
        #expect(try await reader.word() == "all satisfied 1")
        var other = await EventReader(first)
        await bench.time(40)
        #expect(try await other.word() == "all unsatisfied 31")
    }

    @Test("A correct assumption is not reported, and a wrong one is corrected (M4)")
    func m4() async throws {
        let bench = await MonitorBench()
        let monitor = await bench.monitor()
        await bench.time(100)
        let three = CLMonitor.BeaconIdentityCondition(uuid: deployment, major: 3)
        await monitor.add(everyone, identifier: "rightly in", assuming: .satisfied)
        await monitor.add(three, identifier: "rightly out", assuming: .unsatisfied)
        await monitor.add(everyone, identifier: "wrongly out", assuming: .unsatisfied)
        await monitor.add(three, identifier: "wrongly in", assuming: .satisfied)
        await monitor.add(three, identifier: "unknown")
        #expect(await monitor.record(for: "wrongly in")?.lastEvent.state == .satisfied)
        var reader = await EventReader(monitor)
        await bench.hear(101)
        await bench.hear(129)
        await bench.time(131)
        #expect(try await reader.word() == "wrongly out satisfied 101")
        #expect(
            Set([try await reader.word(), try await reader.word()])
                == ["unknown unsatisfied 130", "wrongly in unsatisfied 130"])
        await bench.hear(132, major: 3)
        #expect(try await reader.word().hasSuffix(" satisfied 132"))
    }

    @Test("A record exists from when a condition is added until it is removed (M5)")
    func m5() async {
        let bench = await MonitorBench()
        let monitor = await bench.monitor()
        #expect(await monitor.record(for: "a") == nil)
        await monitor.add(everyone, identifier: "a")
        await monitor.add(everyone, identifier: "b", assuming: .satisfied)
        let a = await monitor.record(for: "a")
        #expect(a?.lastEvent.identifier == "a")
        #expect(a?.lastEvent.state == .unknown)
        #expect(await monitor.record(for: "b")?.lastEvent.state == .satisfied)
        #expect(await monitor.identifiers == ["a", "b"])
        await monitor.remove("a")
        await monitor.remove("a")
        #expect(await monitor.record(for: "a") == nil)
        #expect(await monitor.identifiers == ["b"])
    }

    @Test("Adding the same condition again changes nothing; a different one with its name replaces it (M6)")
    func m6() async throws {
        let bench = await MonitorBench()
        let monitor = await bench.monitor()
        await monitor.add(everyone, identifier: "a")
        await bench.hear(1)
        var reader = await EventReader(monitor)
        #expect(try await reader.word() == "a satisfied 1")
        await monitor.add(everyone, identifier: "b", assuming: .unsatisfied)
        await bench.hear(2)
        #expect(try await reader.word() == "b satisfied 2")
        await monitor.add(CLMonitor.BeaconIdentityCondition(uuid: deployment), identifier: "a", assuming: .unknown)
        #expect(await monitor.record(for: "a")?.lastEvent.word == "a satisfied 1")
        await bench.time(33)
        await monitor.add(CLMonitor.BeaconIdentityCondition(uuid: deployment, major: 1), identifier: "a")
        let record = try #require(await monitor.record(for: "a"))
        #expect(record.lastEvent.state == .unknown)
        #expect((record.condition as? CLMonitor.BeaconIdentityCondition)?.major == 1)
        #expect(await monitor.identifiers == ["a", "b"])
        // Events that waited for the old condition are no longer delivered.
        await bench.hear(34)
        #expect(try await reader.word() == "b unsatisfied 32")
        let states = [try await reader.word(), try await reader.word()]
        #expect(Set(states) == ["a satisfied 34", "b satisfied 34"])
    }

    @Test("While an event is being handled, the record has the previous one; then it has that event (M7)")
    func m7() async throws {
        let bench = await MonitorBench()
        let monitor = await bench.monitor()
        await monitor.add(everyone, identifier: "a")
        await bench.hear(1)
        await bench.time(40)
        for try await event in await monitor.events {
            if event.state == .satisfied {
                #expect(await monitor.record(for: "a")?.lastEvent.state == .unknown)
            }
            break
        }
        // With no iterating task, only the newest event is kept.
        #expect(await monitor.record(for: "a")?.lastEvent.word == "a unsatisfied 31")
        var reader = await EventReader(monitor)
        await bench.hear(41)
        await bench.time(80)
        #expect(try await reader.word() == "a satisfied 41")
        #expect(await monitor.record(for: "a")?.lastEvent.word == "a unsatisfied 31")
        #expect(try await reader.word() == "a unsatisfied 71")
        #expect(await monitor.record(for: "a")?.lastEvent.word == "a satisfied 41")
    }

    @Test("An event with an unchanged state reports changed obstacles (M8)")
    func m8() async throws {
        let bench = await MonitorBench()
        let monitor = await bench.monitor()
        await monitor.add(everyone, identifier: "a")
        await monitor.add(disc, identifier: "d")
        await bench.hear(1)
        var reader = await EventReader(monitor)
        #expect(try await reader.next().identifier == "d")
        #expect(try await reader.word() == "a satisfied 1")
        await bench.center.setStatus(.denied)
        #expect(try await reader.word() == "a unmonitored 1 denied")
        #expect(try await reader.word() == "d unmonitored 1 denied unsupported")
        await bench.time(5)
        await bench.center.setStatus(.restricted)
        #expect(try await reader.word() == "a unmonitored 5 restricted")
        #expect(try await reader.word() == "d unmonitored 5 restricted unsupported")
        await bench.center.setStatus(.always)
        #expect(try await reader.word() == "a unknown 5")
        #expect(try await reader.word() == "d unmonitored 5 unsupported")
        await bench.hear(6)
        #expect(try await reader.word() == "a satisfied 6")
    }

    @Test("An event that a beacon caused contains the beacon; other events do not (M9)")
    func m9() async throws {
        let bench = await MonitorBench()
        let monitor = await bench.monitor()
        await monitor.add(everyone, identifier: "a")
        var reader = await EventReader(monitor)
        await bench.hear(1, major: 7, minor: 65_535)
        await bench.time(40)
        let entry = try await reader.next()
        let beacon = try #require(entry.refinement as? CLMonitor.BeaconIdentityCondition)
        #expect(beacon.uuid == deployment)
        #expect(beacon.major == 7)
        #expect(beacon.minor == 65_535)
        #expect(try await reader.next().refinement == nil)
    }

    @Test("Satisfied with a beacon, unsatisfied without, unknown if undetermined, else unmonitored (M10)")
    func m10() async throws {
        let bench = await MonitorBench(status: .notDetermined, radio: .unknown)
        let monitor = await bench.monitor()
        await monitor.add(everyone, identifier: "a")
        var reader = await EventReader(monitor)
        await bench.center.request(.whenInUse)
        await bench.center.receive(.state(.poweredOn))
        await bench.time(10)
        await bench.time(40)
        #expect(try await reader.word() == "a unsatisfied 40")
        await bench.hear(41)
        #expect(try await reader.word() == "a satisfied 41")
        await bench.center.receive(.state(.poweredOff))
        #expect(try await reader.word() == "a unknown 41")
        await bench.center.receive(.state(.poweredOn))
        await bench.hear(42)
        #expect(try await reader.word() == "a satisfied 42")
        await bench.center.receive(.state(.unsupported))
        #expect(try await reader.word() == "a unmonitored 42 unsupported")
    }

    @Test("The diagnostics explain the state (M11)")
    func m11() async throws {
        struct Own: CLCondition {}
        let bench = await MonitorBench(store: FullStore(), status: .denied)
        let monitor = await bench.monitor()
        await bench.time(5)
        await monitor.add(everyone, identifier: "a")
        #expect(await monitor.record(for: "a")?.lastEvent.word == "a unknown 5")
        await bench.settle()
        var reader = await EventReader(monitor)
        #expect(try await reader.word() == "a unmonitored 5 denied unkept")
        await bench.center.setStatus(.always)
        #expect(try await reader.word() == "a unknown 5 unkept")
        await monitor.add(Own(), identifier: "own")
        #expect(try await reader.word() == "own unmonitored 5 unsupported unkept")
        await bench.hear(6)
        #expect(try await reader.word() == "a satisfied 6 unkept")
        await bench.center.receive(.state(.unauthorized))
        #expect(try await reader.word() == "a unmonitored 6 denied unkept")
    }

    @Test("A damaged file of conditions is set aside, and the monitor starts without conditions and is stored")
    func damage() async throws {
        let file = folder.appendingPathComponent("applications/test/monitors/shop.json")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("{".utf8).write(to: file)
        let bench = await MonitorBench(store: files)
        let monitor = await bench.monitor()
        await bench.time(1)
        await monitor.add(everyone, identifier: "a")
        await bench.hear(2)
        var reader = await EventReader(monitor)
        #expect(try await reader.word() == "a satisfied 2")
        await bench.settle()
        #expect(try Data(contentsOf: URL(fileURLWithPath: file.path + ".damaged")) == Data("{".utf8))
        #expect(try files.load("shop").map(\.identifier) == ["a"])
    }

    @Test("Beyond 20 conditions of the application, the newest are not monitored until others are removed (M12)")
    func m12() async throws {
        let bench = await MonitorBench()
        let shop = await bench.monitor("shop")
        let hall = await bench.monitor("hall")
        await bench.time(1)
        for number in 0..<10 {
            await shop.add(everyone, identifier: "\(number)")
            await hall.add(everyone, identifier: "\(number)")
            // Conditions that cannot be monitored do not count.
            await hall.add(disc, identifier: "disc \(number)")
        }
        await shop.add(everyone, identifier: "late")
        var reader = await EventReader(shop)
        #expect(try await reader.word() == "late unmonitored 1 limit")
        await bench.hear(2)
        for _ in 0..<10 { #expect(try await reader.word().hasSuffix(" satisfied 2")) }
        await hall.remove("3")
        #expect(try await reader.word() == "late unknown 2")
        await bench.hear(3)
        #expect(try await reader.word() == "late satisfied 3")
    }

    @Test("Conditions are monitored while no monitor is open, and the newest event of each waits (M13)")
    func m13() async throws {
        let bench = await MonitorBench()
        await bench.monitor().add(everyone, identifier: "a")
        await bench.monitor().add(
            CLMonitor.BeaconIdentityCondition(uuid: deployment, major: 2), identifier: "b")
        await bench.hear(1)
        await bench.hear(2, major: 2)
        await bench.hear(31)
        await bench.time(33)
        await bench.hear(34, major: 2)
        var reader = await EventReader(bench.monitor())
        #expect(try await reader.word() == "a satisfied 1")
        #expect(try await reader.word() == "b satisfied 34")
        await bench.time(65)
        let last = [try await reader.word(), try await reader.word()]
        #expect(Set(last) == ["a unsatisfied 64", "b unsatisfied 64"])
    }

    @Test("An event that was not handled is delivered in the next launch (M13)")
    func m13NextLaunch() async throws {
        let store = MemoryMonitorStore()
        do {
            let bench = await MonitorBench(store: store)
            let monitor = await bench.monitor()
            await monitor.add(everyone, identifier: "a")
            await bench.hear(1)
            await bench.settle()
        }
        let bench = await MonitorBench(store: store)
        let monitor = await bench.monitor()
        #expect(await monitor.record(for: "a")?.lastEvent.state == .unknown)
        var reader = await EventReader(monitor)
        #expect(try await reader.word() == "a satisfied 1")
        await bench.time(100)
        await bench.time(130)
        #expect(try await reader.word() == "a unsatisfied 130")
    }

    @Test("A condition that was unmonitored in an earlier launch is monitored again without obstacles (M13)")
    func m13Unmonitored() async throws {
        let store = MemoryMonitorStore()
        do {
            let bench = await MonitorBench(store: store, status: .denied)
            let monitor = await bench.monitor()
            await bench.time(1)
            await monitor.add(everyone, identifier: "a")
            for try await event in await monitor.events {
                #expect(event.word == "a unmonitored 1 denied")
                break
            }
            await bench.settle()
        }
        let bench = await MonitorBench(store: store)
        await bench.time(10)
        let monitor = await bench.monitor()
        var reader = await EventReader(monitor)
        #expect(try await reader.word() == "a unknown 10")
        await bench.hear(11)
        #expect(try await reader.word() == "a satisfied 11")
    }

    @Test("Many tasks add, remove and iterate on one name, and each event is delivered once (M14)")
    func m14() async throws {
        let bench = await MonitorBench()
        let monitors = [await bench.monitor(), await bench.monitor(), await bench.monitor()]
        let heard = Words()
        await withTaskGroup { group in
            for monitor in monitors {
                group.addTask {
                    while !Task.isCancelled {
                        guard let event = try? await monitor.events.first(where: { _ in true }) else { return }
                        if heard.add(event.word) == 18 { return }
                    }
                }
            }
            await withTaskGroup { workers in
                for number in 0..<18 {
                    workers.addTask {
                        let monitor = monitors[number % 3]
                        for round in 0..<50 {
                            await monitor.add(
                                CLMonitor.BeaconIdentityCondition(uuid: deployment, major: UInt16(round)),
                                identifier: "\(number)")
                            if round % 7 == number % 7 { await monitors[0].remove("\(number)") }
                        }
                        await monitor.add(
                            CLMonitor.BeaconIdentityCondition(uuid: deployment, major: 100), identifier: "\(number)")
                    }
                }
            }
            await bench.hear(1, major: 100)
            // The reader with the last event ends first, and the others are cancelled.
            _ = await group.next()
            group.cancelAll()
        }
        #expect(heard.all.sorted() == (0..<18).map { "\($0) satisfied 1" }.sorted())
        #expect(Set(await monitors[1].identifiers) == Set((0..<18).map(String.init)))
    }

    @Test("Iterating ends with the iterating task, and no event is lost (M15)")
    func m15() async throws {
        let bench = await MonitorBench()
        let monitor = await bench.monitor()
        await monitor.add(everyone, identifier: "a")
        let task = Task {
            var count = 0
            for try await _ in await monitor.events { count += 1 }
            return count
        }
        task.cancel()
        #expect(try await task.value == 0)
        await bench.hear(1)
        var reader = await EventReader(monitor)
        #expect(try await reader.word() == "a satisfied 1")
    }

    @Test("Conditions are not regions: managers neither list nor report them")
    func apartFromRegions() async throws {
        let bench = await MonitorBench()
        let monitor = await bench.monitor()
        let reported = Words()
        bench.center.addClient(bench.center.makeClientID()) { event in
            switch event {
            case .authorization, .radio: break
            default: reported.add("\(event)")
            }
        }
        await monitor.add(everyone, identifier: "a")
        await bench.time(1)
        await bench.time(12)
        await bench.hear(13)
        var reader = await EventReader(monitor)
        #expect(try await reader.word() == "a satisfied 13")
        #expect(bench.center.snapshot.regions.isEmpty)
        #expect(reported.all == [])
        #expect(bench.radio.modes.count == 1)
        await monitor.remove("a")
        await bench.settle()
        #expect(bench.radio.modes.last == .off)
    }
}

/// Words that several tasks add.
private final class Words: Sendable {
    private let words = Locked<[String]>([])

    var all: [String] { words.withLock { $0 } }

    /// Adds a word, and returns the number of words.
    @discardableResult
    func add(_ word: String) -> Int {
        words.withLock { words in
            words.append(word)
            return words.count
        }
    }
}

/// A store without space.
private struct FullStore: MonitorStore {
    func load(_ name: String) -> [StoredCondition] { [] }
    func update(_ name: String, _ change: (inout [StoredCondition]) -> Void) throws(StateError) {
        throw StateError(.cannotWrite, "it is full")
    }
}
