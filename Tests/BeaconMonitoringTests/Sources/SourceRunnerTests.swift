import BeaconApplications
import BeaconModel
import BeaconRadio
import BeaconSupport
import Foundation
import TestSupport
import Testing

@testable import BeaconMonitoring

@Suite("A source on its own thread")
struct SourceRunnerTests {
    private static let frames = (1...3).map {
        OutgoingAdvert(
            IBeaconFrame(
                identity: BeaconIdentity(uuid: ProximityUUID(high: 1, low: 2), major: 3, minor: UInt16($0)),
                measuredPower: -59))
    }

    /// A clock that reaches the awaited time at once.
    private static func virtualClock() -> RunnerClock {
        let now = Locked(ScriptedMachine.start)
        return RunnerClock(
            now: { now.withLock { $0 } },
            wait: { _, milliseconds in
                now.withLock { $0 = $0.advanced(by: Int64(milliseconds) * 1_000_000) }
            })
    }

    /// Returns a capture's events in the form that a center receives, as text.
    private func words(_ log: SightingLog, packetInterval: Duration? = nil) async throws -> [String] {
        try log.write()
        let runner = SourceRunner(.file(path: log.path), pace: .fastest, packetInterval: packetInterval)
        var words: [String] = []
        for await event in runner.events() { words += Self.words(event) }
        return words
    }

    private static func words(_ event: SourceEvent) -> [String] {
        switch event {
        case .opened: []
        case .heard(let batch):
            (batch.sightings.isEmpty ? [] : ["heard \(batch.sightings.count)"])
                + (batch.time.map { ["time \($0.seconds)"] } ?? [])
        case .state(let state): ["\(state)"]
        case .advertising(let frame, .success): ["sends \(frame.frame?.identity.minor ?? 0)"]
        case .advertising(let frame, .failure(let error)): ["cannot send \(frame.frame?.identity.minor ?? 0): \(error)"]
        case .notice(let notice): ["\(notice.kind) \(notice.message)"]
        case .forged(_, let tag): ["forged \(tag)"]
        case .wallClock: ["wall clock"]
        case .deaf: ["deaf"]
        case .failed(let error, let retry): ["\(retry == nil ? "failed" : "fails") \(error)"]
        case .ended: ["ended"]
        }
    }

    @Test("A radio without an adapter reports the cause once and the time each second, and refuses each frame (O9)")
    func noAdapter() async {
        let tries = Locked(0)
        let runner = SourceRunner(clock: Self.virtualClock()) { _, _, _ in
            tries.withLock { $0 += 1 }
            throw RadioError(.unsupported, "there is no adapter. Plug one in")
        }
        runner.advertise(Array(Self.frames.prefix(2)))
        var words: [String] = []
        var times: [Timestamp] = []
        var hasAskedAgain = false
        for await event in runner.events() {
            if case .heard(let batch) = event {
                times += batch.time.map { [$0] } ?? []
            } else {
                words += Self.words(event)
            }
            if times.count == 20, !hasAskedAgain {
                hasAskedAgain = true
                runner.advertise([Self.frames[2]])
            }
            if hasAskedAgain, times.count >= 300 { break }
        }
        #expect(
            words.prefix(4) == [
                "fails there is no adapter. Plug one in", "unsupported",
                "cannot send 1: there is no adapter. Plug one in", "cannot send 2: there is no adapter. Plug one in",
            ])
        #expect(words.count { $0.hasPrefix("fails") } >= 7)
        #expect(words.contains("cannot send 3: there is no adapter. Plug one in"))
        #expect(Set(words).count == 5)
        // Each second, whether or not the radio is tried in between.
        #expect(zip(times, times.dropFirst()).allSatisfy { (1...1_001_000_000).contains($1.since($0)) })
        #expect(tries.withLock { $0 } >= 7)
    }

    @Test("A radio that this process may not use is unauthorized")
    func notPermitted() async {
        let runner = SourceRunner(clock: Self.virtualClock()) { _, _, _ in
            throw RadioError(.notPermitted, "this needs CAP_NET_RAW")
        }
        var words: [String] = []
        for await event in runner.events() {
            words += Self.words(event)
            if words.count == 2 { break }
        }
        #expect(words == ["fails this needs CAP_NET_RAW", "unauthorized"])
    }

    @Test("A radio that returns after a failure is used, and its next failure is reported again")
    func returnAfterFailure() async {
        let tries = Locked(0)
        let machine = ScriptedMachine()
        let runner = SourceRunner(clock: Self.virtualClock()) { mode, waker, report in
            let number = tries.withLock { tries in
                tries += 1
                return tries
            }
            if number == 1 { throw RadioError(.unsupported, "there is no adapter") }
            return machine.makeSource(mode: mode, waker: waker, report: report)
        }
        var words: [String] = []
        for await event in runner.events() {
            if case .heard = event { continue }
            words += Self.words(event)
            if words.last == "poweredOn" { break }
        }
        #expect(words == ["fails there is no adapter", "unsupported", "poweredOn"])
    }

    @Test("A slow reader blocks the thread, and nothing is lost (B5)")
    func bounds() async throws {
        let machine = ScriptedMachine()
        machine.beacon = Self.frames[0].frame
        let runner = SourceRunner(mode: .ranging) { mode, waker, report in
            machine.makeSource(mode: mode, waker: waker, report: report)
        }
        runner.start()
        var heard: [Timestamp] = []
        var messages = 0
        for await message in runner.channel {
            messages += 1
            if case .heard(let batch) = message { heard += batch.sightings.map(\.time) }
            // Long enough for an unblocked thread to be far ahead.
            if messages % 50 == 1 {
                for _ in 0..<2000 { await Task.yield() }
                // Each step of the machine creates at most one message: 64 wait, one is on its way and one is being
                // created.
                #expect(machine.steps <= messages + 64 + 2)
            }
            if messages == 400 { break }
        }
        runner.stop()
        #expect(heard.count >= 390)
        #expect(heard == (1...heard.count).map { ScriptedMachine.start.advanced(by: Int64($0) * 1_000_000_000) })
    }

    @Test("A capture is delivered completely, however slow its reader is")
    func wholeCapture() async throws {
        let log = SightingLog()
        for number in 0..<100_000 { log.add(1000 + Double(number) / 1000) }
        try log.write()
        let runner = SourceRunner(.file(path: log.path), pace: .fastest)
        runner.start()
        var count = 0
        var last: Timestamp?
        for await message in runner.channel {
            guard case .heard(let batch) = message else { continue }
            count += batch.sightings.count
            last = batch.time
            await Task.yield()
        }
        #expect(count == 100_000)
        #expect(last?.seconds == 1099.999)
    }

    @Test("A reader that stops ends the thread, even if it waits for capacity, and closes the adapter")
    func givenUp() async throws {
        let machine = ScriptedMachine()
        machine.beacon = Self.frames[0].frame
        let runner = SourceRunner(mode: .ranging) { mode, waker, report in
            machine.makeSource(mode: mode, waker: waker, report: report)
        }
        for await event in runner.events() {
            guard case .heard = event else { continue }
            // The thread runs until there is no capacity.
            try await eventually { machine.steps >= 60 }
            break
        }
        try await eventually { machine.isClosed }
    }

    @Test("Cancelling the task while the thread waits for capacity ends the thread")
    func cancelled() async throws {
        let machine = ScriptedMachine()
        machine.beacon = Self.frames[0].frame
        let runner = SourceRunner(mode: .ranging) { mode, waker, report in
            machine.makeSource(mode: mode, waker: waker, report: report)
        }
        runner.start()
        let task = Task {
            for await message in runner.channel {
                guard case .heard = message else { continue }
                // It reads no further message, so that the thread waits for capacity.
                while !Task.isCancelled { try? await Task.sleep(for: .milliseconds(2)) }
            }
        }
        try await eventually { machine.steps >= 60 }
        task.cancel()
        await task.value
        runner.stop()
        try await eventually { machine.isClosed }
    }

    @Test("A request to stop ends the run and the sequence")
    func stop() async throws {
        let machine = ScriptedMachine()
        let runner = SourceRunner(mode: .ranging) { mode, waker, report in
            machine.makeSource(mode: mode, waker: waker, report: report)
        }
        runner.start()
        var isOver = false
        for await message in runner.channel {
            if case .ended = message { isOver = true }
            runner.stop()
        }
        #expect(isOver)
        try await eventually { machine.isClosed }
    }

    @Test("The end of a capture is reported, and the radio stays on")
    func end() async throws {
        let log = SightingLog()
        log.add(1000)
        log.add(1031)
        #expect(
            try await words(log) == ["poweredOn", "heard 2", "time 1031.0", "ended"])
    }

    @Test("Invalid lines of a capture are reported at the first one, and counted at the end")
    func foreignLines() async throws {
        let path = NSTemporaryDirectory() + "foreign-\(UUID().uuidString).txt"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let packet = "2000-02-29 23:59:59.000000 > 04 0E 01 00"
        try [packet, "zz", "zz", packet, "zz", ""].joined(separator: "\n").write(
            toFile: path, atomically: true, encoding: .utf8)
        var words: [String] = []
        for await event in SourceRunner(.file(path: path), pace: .fastest).events() { words += Self.words(event) }
        #expect(words.count { $0.contains("is neither a packet") } == 1)
        #expect(words.count { $0 == "time 951868799.0" } == 1, "\(words)")
        // A recording is read ahead of the records that it delivers.
        #expect(words.count { $0.hasSuffix("3 lines were ignored in total.") } == 1)
        #expect(words.last == "ended")
    }

    @Test(
        "The end of a scenario is reported with a remedy, and the radio is off: an app need not wait for more adverts"
    )
    func endOfScenario() async throws {
        let path = NSTemporaryDirectory() + "scenario-\(UUID().uuidString).json"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try #"{"duration": 2, "receivers": [{"position": [0, 0]}]}"#.write(
            toFile: path, atomically: true, encoding: .utf8)
        var words: [String] = []
        for await event in SourceRunner(.simulation(path), pace: .fastest).events() { words += Self.words(event) }
        #expect(words.first == "poweredOn" && words.last == "ended")
        let bench = await CenterBench(radio: .poweredOn)
        bench.center.use(SourceRunner(.simulation(path), pace: .fastest))
        try await eventually { bench.center.snapshot.radio == .poweredOff }
        // It continues without end, with continuous times.
        var seconds: [Int64] = []
        for await event in SourceRunner(.simulation(path, isRepeated: true), pace: .times(500)).events() {
            if case .heard(let batch) = event, let time = batch.time {
                seconds.append(time.nanoseconds / 1_000_000_000 - 1_700_000_000)
            }
            if seconds.count >= 3, (seconds.last ?? 0) > 10 { break }
        }
        #expect(zip(seconds, seconds.dropFirst()).allSatisfy { $0 <= $1 })
    }

    @Test("A damaged capture delivers its readable part, then one error with its cause (B9)")
    func damage() async throws {
        let log = SightingLog()
        log.add(1000)
        log.add(raw: "{\"time\":1032,\n")
        let words = try await words(log)
        #expect(words.prefix(3) == ["poweredOn", "heard 1", "time 1000.0"])
        #expect(words.count == 4)
        let notice = try #require(words.last)
        var message = ""
        do {
            var source = try log.source()
            while try source.next() != nil {}
        } catch {
            message = "\(error)"
        }
        #expect(!message.isEmpty)
        #expect(notice == "failed \(message)")
    }

    @Test("A capture without times causes an error with a remedy, and the radio is unsupported (T11)")
    func noTimes() async throws {
        let log = SightingLog()
        log.add(nil)
        log.add(nil)
        let words = try await words(log)
        #expect(words.first == "poweredOn")
        #expect(words.count == 2)
        #expect(words.last?.contains("--packet-interval") == true)
        #expect(
            try await self.words(log, packetInterval: .seconds(2)) == [
                "poweredOn", "heard 2", "time 2.0", "ended",
            ])
    }

    @Test(
        "A source that cannot be opened causes the command line's error, and the radio is unsupported",
        arguments: ["simulation:musem", "/nowhere/to/be/found.pcap", "simulation:"])
    func wrongSource(text: String) async throws {
        let specification = SourceSpecification(text)
        var message = ""
        do {
            _ = try SourceReader(specification)
        } catch {
            message = "\(error)"
        }
        #expect(!message.isEmpty)
        var words: [String] = []
        for await event in SourceRunner(specification, pace: .times(1)).events() { words += Self.words(event) }
        #expect(words == ["failed \(message)"])
        let bench = await CenterBench(radio: .poweredOn)
        bench.center.use(SourceRunner(specification, pace: .times(1)))
        try await eventually { bench.center.snapshot.radio == .unsupported }
    }

    @Test(
        "A recording in real time counts as heard now: its wall clock offset comes first, once (C5)",
        arguments: [true, false])
    func heardNow(isSimulation: Bool) async throws {
        let log = SightingLog()
        for second in 0..<3 { log.add(1000 + Double(second) / 100) }
        try log.write()
        let source: SourceSpecification = isSimulation ? .init("simulation:museum") : .file(path: log.path)
        let now = Timestamp(nanoseconds: 1_800_000_000_000_000_000)
        let clock = RunnerClock(now: { now }, wait: { _, _ in })
        let runner = SourceRunner(source, pace: .times(1), clock: clock)
        var leads: [Int64] = []
        var first: Timestamp?
        for await event in runner.events() {
            switch event {
            case .wallClock(let ahead):
                #expect(first == nil)
                leads.append(ahead)
            case .heard(let batch): first = first ?? batch.sightings.first?.time ?? batch.time
            default: break
            }
            if isSimulation, first != nil { break }
        }
        let lead = try #require(leads.first)
        #expect(leads.count == 1)
        #expect(first?.advanced(by: lead) == now)
    }

    @Test("A recording faster than real time keeps its own times", arguments: [Pace.fastest, .times(1000)])
    func ownTimes(pace: Pace) async throws {
        let log = SightingLog()
        log.add(1000)
        try log.write()
        for await event in SourceRunner(.file(path: log.path), pace: pace).events() {
            if case .wallClock = event { Issue.record("the wall clock must not be reported") }
        }
    }

    @Test("A capture cannot send, and refuses each frame")
    func sendingIntoACapture() async throws {
        let log = SightingLog()
        log.add(1000)
        try log.write()
        let runner = SourceRunner(.file(path: log.path), pace: .fastest)
        runner.advertise(Self.frames)
        var words: [String] = []
        for await event in runner.events() { words += Self.words(event) }
        #expect(
            words.filter { $0.hasPrefix("cannot send 1: a capture or a simulation cannot send") }.count == 1)
        #expect(words.filter { $0.hasPrefix("cannot send 2") }.count == 1)
    }

    @Test("Deafness that is discovered later precedes the adverts after it (O3)")
    func deafness() async {
        let machine = ScriptedMachine()
        machine.beacon = Self.frames[0].frame
        let runner = SourceRunner(mode: .ranging) { mode, waker, report in
            machine.makeSource(mode: mode, waker: waker, report: report)
        }
        var hasSlept = false
        var words: [String] = []
        for await event in runner.events() {
            words += Self.words(event)
            if words.count >= 4, !hasSlept {
                hasSlept = true
                machine.sleep(3600)
            }
            if let place = words.firstIndex(of: "deaf"), words.count > place + 2 { break }
        }
        let place = words.firstIndex(of: "deaf")
        #expect(place.map { Array(words[$0...].prefix(2)) } == ["deaf", "heard 1"])
    }
}
