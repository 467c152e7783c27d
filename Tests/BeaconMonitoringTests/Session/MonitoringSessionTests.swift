import BeaconCapture
import BeaconEngine
import BeaconModel
import BeaconMonitoring
import Testing

@Suite("Monitoring session")
struct MonitoringSessionTests {
    /// Runs a log and returns its events as text.
    private func run(
        _ log: SightingLog, monitors: Bool = true, ranges: Bool = false, receiver: String? = nil,
        packetInterval: Duration? = nil, pace: Pace = .fastest
    ) throws -> [String] {
        var configuration = MonitoringSession.Configuration()
        configuration.receiver = receiver
        if monitors {
            configuration.regions = [.init(name: "hall", region: MonitoredRegion(SightingLog.everyone))]
        }
        if ranges { configuration.rangings = [SightingLog.everyone] }
        var session = MonitoringSession(
            configuration, source: try log.source(packetInterval: packetInterval), pace: pace)
        var words: [String] = []
        try session.run { words.append(Self.word($0)) }
        return words
    }

    private static func word(_ event: BeaconEvent) -> String {
        switch event {
        case .placed(let change):
            "\(change.time.seconds) \(change.identity.minor) \(change.place ?? "\(change.state)") before \(change.before ?? "-")"
        case .located(let report): "\(report.time.seconds) \(report.beacons.map { $0.place ?? "-" })"
        case .suspected(let event): "\(event.grounds.reason) \(event.identity.minor)"
        case .region(let change):
            "\(change.kind) \(change.name) \(change.time.seconds) \(change.receiver ?? "-")"
        case .ranged(let report):
            "\(report.time.seconds) \(report.receiver) \(report.beacons.map { "\($0.identity.minor)" }.joined())"
        }
    }

    @Test("The clock stops at the end of the source, without a false exit")
    func noFalseExit() throws {
        let log = SightingLog()
        log.add(1000)
        #expect(try run(log) == ["enter hall 1000.0 hci0"])
    }

    @Test("An advert of another beacon advances the clock, and so does another receiver's")
    func everyRecordMovesTheClock() throws {
        let log = SightingLog()
        log.add(1000)
        log.add(1030.001, uuid: "00000000-0000-0000-0000-000000000001", receiver: "other")
        #expect(try run(log) == ["enter hall 1000.0 hci0", "exit hall 1030.0 hci0"])
        #expect(try run(log, receiver: "hci0") == ["enter hall 1000.0 hci0", "exit hall 1030.0 hci0"])
    }

    @Test("Only the selected receiver counts")
    func receiver() throws {
        let log = SightingLog()
        log.add(1000, receiver: "a")
        log.add(1001, receiver: "b")
        #expect(try run(log, receiver: "b") == ["enter hall 1001.0 b"])
        #expect(try run(log, monitors: false, ranges: true, receiver: "b") == ["1001.0 b 1"])
    }

    @Test("Without a receiver, monitoring merges the receivers and ranging keeps them apart")
    func receivers() throws {
        let log = SightingLog()
        log.add(1000, receiver: "a")
        log.add(1001, receiver: "b")
        #expect(try run(log) == ["enter hall 1000.0 a"])
        #expect(try run(log, monitors: false, ranges: true) == ["1000.0 a 1", "1001.0 a 1", "1001.0 b 1"])
    }

    @Test("A region that is never heard is outside after its time-out of hearing, without an exit")
    func neverHeard() throws {
        let log = SightingLog()
        for second in 0...40 {
            log.add(1000 + Double(second), uuid: "00000000-0000-0000-0000-000000000001", receiver: "hci0")
        }
        log.add(1050, receiver: "hci0")
        #expect(try run(log) == ["state hall 1030.0 -", "enter hall 1050.0 hci0"])
        // Without the receiver that counts, the state stays unknown.
        #expect(try run(log, receiver: "attic") == [])
    }

    @Test("A source without times causes an error, and times can be supplied")
    func noTimes() throws {
        let log = SightingLog()
        for _ in 0..<5 { log.add(nil) }
        #expect {
            _ = try run(log)
        } throws: { error in
            (error as? SourceError)?.code == .noTimes && "\(error)".contains("--packet-interval")
        }
        #expect(
            try run(log, monitors: false, ranges: true, packetInterval: .milliseconds(500))
                == ["0.0 hci0 1", "1.0 hci0 1", "2.0 hci0 1"])
    }

    @Test("The events before an error in a damaged source are delivered first")
    func damage() throws {
        let log = SightingLog()
        log.add(1000)
        log.add(1031)
        log.add(raw: "{\"time\":1032,\n")
        var configuration = MonitoringSession.Configuration()
        configuration.regions = [.init(name: "hall", region: MonitoredRegion(SightingLog.everyone))]
        var session = MonitoringSession(configuration, source: try log.source(), pace: .fastest)
        var words: [String] = []
        #expect(throws: CaptureError.self) { try session.run { words.append(Self.word($0)) } }
        #expect(words == ["enter hall 1000.0 hci0", "exit hall 1030.0 hci0", "enter hall 1031.0 hci0"])
    }

    @Test("At a pace, the events are the same as at full speed, but take their time")
    func pace() throws {
        let log = SightingLog()
        for index in 0..<20 { log.add(1000 + Double(index) * 0.2) }
        log.add(1008.5, minor: 2)
        let start = ContinuousClock.now
        let paced = try run(log, ranges: true, pace: .times(20))
        #expect(ContinuousClock.now - start >= .milliseconds(400))
        #expect(paced == (try run(log, ranges: true)))
        #expect(paced.count == 1 + 9)
    }

    @Test("A request to stop ends the run between two records")
    func stop() throws {
        let log = SightingLog()
        for index in 0..<100 { log.add(1000 + Double(index)) }
        var configuration = MonitoringSession.Configuration()
        configuration.rangings = [nil]
        var session = MonitoringSession(configuration, source: try log.source(), pace: .fastest)
        var reports = 0
        try session.run(shouldStop: { reports >= 10 }) { _ in reports += 1 }
        #expect((10...11).contains(reports))
    }
}
