import BeaconEngine
import BeaconModel
import Testing

@Suite("Learned offsets in ranging")
struct EngineOffsetTests {
    /// Returns an engine that ranges six beacons at three receivers, of which the third one moves. Beacons 1 to 6 send
    /// 5, 3, 1, -1, -3 and -5 dB too much, and the third receiver reads 6 dB too much.
    private func engine(isMeasured: Bool = false) -> Engine {
        var configuration = EngineConfiguration()
        if isMeasured { configuration.beaconCalibrations[Self.beacon(1)] = BeaconCalibration(power: -54) }
        var engine = Engine(configuration: configuration)
        _ = engine.startRanging(nil)
        for index in 0..<3 {
            engine.addReceiver(ReceiverID(UInt16(index)))
            engine.setName("r\(index)", isMeasured: isMeasured && index == 2, of: ReceiverID(UInt16(index)))
            engine.setMoves(index == 2, of: ReceiverID(UInt16(index)))
        }
        return engine
    }

    private static func beacon(_ minor: UInt16) -> BeaconIdentity {
        BeaconIdentity(uuid: .test, major: 1, minor: minor)
    }

    /// Lets everything be heard every ten seconds, and returns the last reports.
    private func hear(_ engine: inout Engine, from start: Int, to end: Int) -> [RangingReport] {
        var last: [RangingReport] = []
        for second in stride(from: start, to: end, by: 10) {
            for receiver in UInt16(0)..<3 {
                for minor in UInt16(1)...6 {
                    engine.receive(
                        .of(
                            minor: minor, at: Double(second) + 0.5,
                            rssi: Int8(-66 - 2 * Int(minor) + (receiver == 2 ? 6 : 0)),
                            address: UInt64(minor), receiver: receiver))
                }
            }
            engine.advance(to: .at(Double(second) + 1))
            last = engine.reports()
        }
        return last
    }

    private func accuracy(_ reports: [RangingReport], _ receiver: UInt16, _ minor: UInt16) throws -> Double {
        let report = try #require(reports.last { $0.receiver == ReceiverID(receiver) })
        return try #require(report.beacons.first { $0.identity.minor == minor }).accuracy
    }

    @Test("After some hours, beacons at the same distance have the same distance; a restored engine begins with that")
    func distances() throws {
        var engine = engine()
        engine.learnOffsets(with: OffsetLearner())
        let early = hear(&engine, from: 0, to: 3590)
        #expect(try accuracy(early, 0, 6) > 2.5 * accuracy(early, 0, 1))
        var hasNews = engine.hasNewOffsets
        #expect(!hasNews)
        let late = hear(&engine, from: 3590, to: 16 * 3600)
        #expect(try accuracy(late, 0, 6) < 1.1 * accuracy(late, 0, 1))
        // Receivers that stand stay as they are, and the one that moves is 4 dB above the mean of all.
        let news = engine.takeNewOffsets(at: .at(9))
        let learner = try #require(news)
        #expect(learner.receivers.keys.sorted() == ["r2"])
        #expect(abs(try #require(learner.receivers["r2"]) - 4) < 0.3)
        #expect(learner.report?.time == 9)
        hasNews = engine.hasNewOffsets
        #expect(!hasNews)

        var restored = self.engine()
        restored.learnOffsets(with: learner)
        let first = hear(&restored, from: 0, to: 60)
        #expect(try accuracy(first, 0, 6) < 1.1 * accuracy(first, 0, 1))
        #expect(abs(try accuracy(first, 2, 3) - accuracy(late, 2, 3)) < 0.1)
        // Without offsets, the distances differ at once.
        restored.useOffsets(receivers: [:], beacons: [:])
        let off = hear(&restored, from: 60, to: 120)
        #expect(try accuracy(off, 0, 6) > 2.5 * accuracy(off, 0, 1))
    }

    @Test("A calibration replaces what was learned, and a receiver that no longer moves loses its offset")
    func calibrated() throws {
        let learner = OffsetLearner(receivers: ["r2": 6], beacons: [Self.beacon(1): 9, Self.beacon(2): 3])
        var engine = engine(isMeasured: true)
        engine.learnOffsets(with: learner)
        #expect(engine.offsetLearner?.receivers == [:])
        #expect(engine.offsetLearner?.beacons == [Self.beacon(2): 3])

        var other = self.engine()
        other.learnOffsets(with: learner)
        let before = try accuracy(hear(&other, from: 0, to: 60), 2, 3)
        other.setMoves(false, of: ReceiverID(2))
        #expect(other.offsetLearner?.receivers == [:])
        #expect(try accuracy(hear(&other, from: 60, to: 120), 2, 3) < before)
    }
}
