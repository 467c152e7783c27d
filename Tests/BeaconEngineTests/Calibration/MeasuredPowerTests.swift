import BeaconEngine
import BeaconModel
import BeaconSupport
import Testing

@Suite("Claims of the measured power")
struct MeasuredPowerTests {
    /// The ranging reports of a beacon that stands still, second by second.
    private func range(
        _ sequence: PowerSequence, seconds: Int = 60, rssi: Int8 = -60, perSecond: Int = 10
    ) -> [RangedBeacon] {
        var engine = Engine()
        _ = engine.startRanging(nil)
        for number in 0..<seconds * perSecond {
            let time = (Double(number) + 0.5) / Double(perSecond)
            // A still beacon's readings spread by some decibels.
            let reading = rssi + Int8(number * 7 % 5) - 2
            engine.receive(.of(at: time, rssi: reading, power: sequence.power(time, number)))
        }
        engine.advance(to: .at(Double(seconds)))
        return engine.reports().flatMap(\.beacons)
    }

    @Test(
        "An impossible, missing or alternating power never decides the distance",
        arguments: PowerSequence.usual + PowerSequence.changing)
    func distance(sequence: PowerSequence) {
        let expected = range(.constant(-59))
        let beacons = range(sequence)
        #expect(beacons.count == expected.count)
        for (beacon, usual) in zip(beacons, expected).dropFirst(30) {
            #expect(beacon.accuracy == usual.accuracy)
            #expect(beacon.proximity == .near && beacon.rssi == usual.rssi)
            // Without a power, the range is wider.
            let width = beacon.accuracyRange.map { $0.upperBound / $0.lowerBound } ?? 0
            #expect(beacon.isUncalibrated ? width > 5 : beacon.accuracyRange == usual.accuracyRange)
        }
    }

    @Test(
        "A beacon without a valid claim is uncalibrated from its first report on",
        arguments: PowerSequence.invalid)
    func uncalibrated(sequence: PowerSequence) {
        for beacon in range(sequence, seconds: 5) {
            #expect(beacon.isUncalibrated && beacon.measuredPower == nil && !beacon.isCalibrated)
            #expect(beacon.proximity == .near)
        }
    }

    @Test("Every possible power counts, and no other power does")
    func possible() {
        for power in Int8.min ... .max {
            let beacon = range(.constant(power), seconds: 2, rssi: -100).last
            let isPossible = power >= -100 && power <= -30
            #expect(beacon?.measuredPower == (isPossible ? Int(power) : nil))
            #expect(beacon?.isUncalibrated == !isPossible)
        }
    }

    @Test(
        "The valid power counts if every other advert of a tag has another value", arguments: [32, 0, 127, -110])
    func validAmongOthers(other: Int8) {
        let expected = range(.constant(-70))
        for (beacon, usual) in zip(range(.turns(-70, other)), expected) { #expect(beacon == usual) }
        for (beacon, usual) in zip(range(.turns(other, -70)), expected) { #expect(beacon.accuracy == usual.accuracy) }
    }

    @Test("Powers that keep changing do not count until one lasts")
    func changing() {
        let sequence = PowerSequence("") { $0 < 60 ? ($1 % 2 == 0 ? -70 : -80) : -80 }
        let beacons = range(sequence, seconds: 180)
        #expect(beacons[..<118].allSatisfy { $0.isUncalibrated })
        #expect(beacons[121...].allSatisfy { $0.measuredPower == -80 })
    }

    @Test("A reconfigured beacon's new power counts after a minute")
    func reconfigured() {
        var engine = Engine()
        _ = engine.startRanging(nil)
        // After two minutes it is turned down by 12 dB, and claims that.
        engine.hear(from: 0.05, to: 119.95, every: 0.1) { .of(at: $0, rssi: -62, power: -59) }
        engine.hear(from: 120.05, to: 240, every: 0.1) { .of(at: $0, rssi: -74, power: -71) }
        let beacons = engine.reports().flatMap(\.beacons)
        #expect(beacons[..<179].allSatisfy { $0.measuredPower == -59 })
        #expect(beacons[181...].allSatisfy { $0.measuredPower == -71 && abs($0.accuracy - 1.48) < 0.02 })
    }

    @Test("Neither two distant adverts nor a rarely heard beacon replace a power")
    func rarelyHeard() {
        for gap in [70.0, 35.0] {
            var engine = Engine()
            _ = engine.startRanging(nil)
            engine.hear(from: 0.05, to: 10, every: 0.1) { .of(at: $0, power: -59) }
            engine.hear(from: 20.05, to: 1000, every: gap) { .of(at: $0, power: -80) }
            engine.hear(from: 1000.05, to: 1059, every: 0.1) { .of(at: $0, power: -80) }
            engine.advance(to: .at(1059))
            let before = engine.reports().flatMap(\.beacons)
            #expect(before.allSatisfy { $0.measuredPower == -59 })
            engine.hear(from: 1059.05, to: 1062, every: 0.1) { .of(at: $0, power: -80) }
            engine.advance(to: .at(1062))
            #expect(engine.reports().last?.beacons.first?.measuredPower == -80)
        }
    }

    @Test("After an absence of five minutes, a beacon's claims are judged like a new beacon's")
    func absence() {
        var engine = Engine()
        _ = engine.startRanging(nil)
        engine.receive(.of(at: 0.5, power: -59))
        engine.receive(.of(at: 400.5, rssi: -72, power: -71))
        engine.advance(to: .at(401))
        #expect(engine.reports().last?.beacons.first?.measuredPower == -71)
    }

    @Test("With any random powers, a still beacon has one proximity once it is settled", arguments: 0..<40)
    func drawn(seed: Int) {
        // The powers change between adverts, and none lasts for a minute.
        let beacons = range(.drawn(seed, adverts: 1...20, of: 6000), seconds: 600)
        #expect(Set(beacons.dropFirst(120).map(\.proximity)).count == 1)
    }

    @Test("However slowly powers change, a still beacon's proximity changes only a few times", arguments: 0..<20)
    func drawnSlowly(seed: Int) {
        let beacons = range(.drawn(seed, adverts: 1...600, of: 7200), seconds: 3600, perSecond: 2)
        let classes = beacons.map(\.proximity)
        #expect(zip(classes, classes.dropFirst()).count { $0 != $1 } <= 4)
    }

    @Test("A week counter that alternates with the power changes nothing, and weekly powers change little")
    func weeks() {
        let week = 7 * 86_400
        var tag = MeasuredPower()
        // The counter of such tags goes up to 152.
        for minute in stride(from: 0, to: 53 * week / 60, by: 9) {
            let count = Int8(truncatingIfNeeded: 100 + minute / (week / 60))
            tag.hear(minute % 2 == 0 ? -59 : count, at: .at(Double(minute * 60)))
            if tag.valid != -59 { Issue.record("week \(count): \(tag)") }
        }
        var changing = MeasuredPower()
        var changes: [Int] = []
        for time in stride(from: 0, to: 26 * week, by: 30) {
            let number = time / week
            let before = changing.assumed
            changing.hear(number % 2 == 0 ? -59 : -75, at: .at(Double(time)))
            if changing.assumed != before { changes.append(number) }
        }
        #expect(changes.count <= 6 && changes.allSatisfy { $0 < 12 })
    }

    @Test("A beacon's calibration counts whatever it claims", arguments: PowerSequence.usual)
    func calibrated(sequence: PowerSequence) {
        var configuration = EngineConfiguration()
        configuration.beaconCalibrations[BeaconIdentity(uuid: .test, major: 1, minor: 1)] = BeaconCalibration(
            power: -70)
        var engine = Engine(configuration: configuration)
        _ = engine.startRanging(nil)
        for number in 0..<200 {
            let time = Double(number) / 10 + 0.05
            engine.receive(.of(at: time, rssi: -70, power: sequence.power(time, number)))
        }
        let events = engine.drainEvents()
        for case .ranged(let report) in events {
            #expect(report.beacons.allSatisfy { $0.accuracy == 1 && $0.isCalibrated && !$0.isUncalibrated })
        }
        #expect(!events.contains { if case .uncalibrated = $0 { true } else { false } })
    }

    // MARK: - Reports

    private func faults(_ engine: inout Engine) -> [UncalibratedBeacon] {
        engine.drainEvents().compactMap { if case .uncalibrated(let beacon) = $0 { beacon } else { nil } }
    }

    @Test(
        "An uncalibrated beacon is reported once, with the reason",
        arguments: [
            (.constant(-3), .impossible(-3)), (.constant(30), .impossible(30)), (.constant(127), .missing),
            (.turns(-59, -65), .changing), (.constant(-59), nil), (.turns(-59, 32), nil), (.turns(32, -59), nil),
        ] as [(PowerSequence, PowerFault?)])
    func report(sequence: PowerSequence, fault: PowerFault?) {
        var engine = Engine()
        _ = engine.startRanging(nil)
        for number in 0..<600 {
            let time = Double(number) / 10 + 0.05
            for receiver in 0..<3 as Range<UInt16> {
                engine.receive(.of(at: time, power: sequence.power(time, number), receiver: receiver))
            }
        }
        #expect(faults(&engine).map(\.fault) == (fault.map { [$0] } ?? []))
    }

    @Test("Of many uncalibrated beacons, the first are reported, and the last of them is marked")
    func bound() {
        var engine = Engine()
        _ = engine.startRanging(nil)
        for second in 0..<5 {
            for minor in 1...100 as ClosedRange<UInt16> {
                engine.receive(.of(minor: minor, at: Double(second) + 0.5, power: -3, address: UInt64(minor)))
            }
        }
        engine.advance(to: .at(5))
        let reported = faults(&engine)
        #expect(reported.count == UncalibratedBeacon.maximumReports)
        #expect(reported.map(\.isLast) == reported.indices.map { $0 == reported.count - 1 })
    }

    @Test("A named beacon is reported after invented ones", arguments: [true, false])
    func namedLast(isRanged: Bool) {
        var engine = Engine()
        _ = engine.startRanging(nil)
        let named = BeaconConstraint(Sighting.of(minor: 500, at: 0).identity)
        if isRanged { _ = engine.startRanging(named) } else { _ = engine.startMonitoring(MonitoredRegion(named)) }
        for second in 0..<8 {
            let minors: [UInt16] = second < 4 ? Array(1...100) : [500]
            for minor in minors {
                engine.receive(.of(minor: minor, at: Double(second) + 0.5, power: -3, address: UInt64(minor)))
            }
        }
        engine.advance(to: .at(9))
        let reported = faults(&engine)
        #expect(reported.count == UncalibratedBeacon.maximumReports + 1 && reported.last?.identity.minor == 500)
    }

    @Test("On the next day, other uncalibrated beacons are reported, and none twice")
    func nextDay() {
        var engine = Engine()
        _ = engine.startRanging(nil)
        var reported: [[UInt16]] = []
        for day in 0..<3 {
            for second in 0..<5 {
                for minor in 1...30 as ClosedRange<UInt16> {
                    let time = Double(day * 86_401 + second) + 0.5
                    engine.receive(.of(minor: minor, at: time, power: -3, address: UInt64(minor)))
                }
            }
            engine.advance(to: .at(Double(day * 86_401 + 5)))
            reported.append(faults(&engine).map(\.identity.minor))
        }
        #expect(reported.map(\.count) == [20, 10, 0])
        #expect(Set(reported.flatMap { $0 }).count == 30)
    }

    @Test("A reused receiver number does not inherit disputes or signals")
    func replacedReceiver() {
        var engine = Engine()
        var region = MonitoredRegion(BeaconConstraint(uuid: .test, major: 1, minor: 1))
        region.isSignalLearned = true
        _ = engine.startRanging(nil)
        _ = engine.startMonitoring(region)
        for number in 0..<100 {
            let time = Double(number) / 10 + 0.05
            engine.receive(.of(minor: 2, at: time, rssi: -40, power: number % 2 == 0 ? -59 : -65))
        }
        _ = engine.drainEvents()
        engine.forgetHearing(of: ReceiverID(0))
        // At -85 dBm, the region is entered only if no strong beacon was heard.
        engine.hear(from: 11, to: 12, every: 0.1) { .of(minor: 1, at: $0, rssi: -85) }
        engine.hear(from: 12.05, to: 13, every: 0.1) { .of(minor: 2, at: $0, rssi: -85, power: -70) }
        engine.advance(to: .at(13))
        let events = engine.drainEvents()
        #expect(events.contains { if case .entered = $0 { true } else { false } })
        guard case .ranged(let report)? = events.last else { Issue.record("there is no ranging report"); return }
        #expect(report.beacons.first { $0.identity.minor == 2 }?.measuredPower == -70)
    }

    // MARK: - Regions and places

    @Test(
        "A region with learned signals changes as with the usual power",
        arguments: PowerSequence.usual + PowerSequence.changing)
    func region(sequence: PowerSequence) {
        func changes(_ sequence: PowerSequence) -> [String] {
            var engine = Engine()
            var region = MonitoredRegion(BeaconConstraint(uuid: .test, major: 1, minor: 1))
            region.isSignalLearned = true
            _ = engine.startMonitoring(region)
            // Far, here, next door, and here again.
            for number in 0..<1500 {
                let time = Double(number) / 10 + 0.05
                let rssi: Int8 = time < 20 ? -118 : time < 50 ? -62 : time < 120 ? -86 : -65
                engine.receive(.of(at: time, rssi: rssi, power: sequence.power(time, number)))
            }
            return engine.regionEvents()
        }
        let expected = changes(.constant(-59))
        #expect(expected.map { $0.prefix(7) } == ["enter 2", "exit 79", "enter 1"])
        #expect(changes(sequence) == expected)
    }

    @Test(
        "A beacon has the same places as with the usual power", arguments: PowerSequence.usual, [false, true])
    func places(sequence: PowerSequence, isTaught: Bool) {
        func changes(_ sequence: PowerSequence) -> [String] {
            var map = PlaceMap(placeCount: 3, receivers: [0, 1, 2])
            if isTaught {
                map.taught = (0..<3).map { place in
                    TaughtPoint(place: place, levels: (0..<3).map { .heard(Double(-15 * abs($0 - place))) })
                }
            }
            var bench = PlaceBench(map)
            bench.claims = sequence
            bench.pass(30, [-60, -75, -90])
            bench.pass(30, [-75, -60, -75])
            // While a place is dark, only a close beacon is placed.
            bench.set(0, isHearing: false)
            bench.pass(30, [nil, -85, -60])
            return bench.changes()
        }
        let expected = changes(.constant(-59))
        #expect(expected.count >= 3)
        #expect(changes(sequence) == expected)
    }

    @Test(
        "A beacon with a changing power is placed like any other once the change is known",
        arguments: PowerSequence.changing)
    func changingPlaces(sequence: PowerSequence) {
        var bench = PlaceBench()
        bench.claims = sequence
        // A beacon is close only after all rooms have heard its kind for a while.
        bench.pass(60, [-60, -75, -90])
        #expect(bench.changes() == ["1.0 0"])
        bench.set(0, isHearing: false)
        bench.pass(30, [nil, -85, -60])
        #expect(bench.changes().map { $0.suffix(2) }.last == " 2")
    }

    @Test("If receivers report different powers or none, the first one counts for the place")
    func mixedReceivers() {
        func grounds(_ power: @escaping @Sendable (UInt16) -> Int8) -> [PlaceChange] {
            var map = PlaceMap(placeCount: 2, receivers: [0, 1])
            map.taught = (0..<2).map { place in
                TaughtPoint(place: place, levels: (0..<2).map { .heard(Double(-20 * abs($0 - place))) })
            }
            var engine = Engine()
            engine.startLocating(map, [nil])
            for number in 0..<2 as Range<UInt16> { engine.setReceiver(ReceiverID(number), of: Int(number)) }
            for tenth in 0..<200 {
                for number in 0..<2 as Range<UInt16> {
                    let rssi: Int8 = number == 0 ? -70 : -90
                    engine.receive(
                        .of(at: Double(tenth) / 10 + 0.05, rssi: rssi, power: power(number), receiver: number))
                }
            }
            return engine.drainEvents().compactMap { if case .placed(let change) = $0 { change } else { nil } }
        }
        #expect(grounds { $0 == 1 ? 127 : -70 } == grounds { _ in -70 })
        // Two receivers with different powers do not alternate: the first one counts.
        #expect(grounds { $0 == 1 ? -75 : -70 } == grounds { _ in -70 })
    }
}
