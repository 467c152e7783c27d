import BeaconEngine
import BeaconModel
import BeaconSupport
import Foundation
import Testing

@Suite("Beacons that may have been cloned")
struct SuspicionDetectorTests {
    private static let all = [BeaconConstraint(uuid: .test)]
    private static let hour = 3600.0

    /// Returns receivers in a row at a constant distance in meters.
    private static func row(_ count: Int, every meters: Double) -> [SimulatedCloners.Receiver] {
        (0..<count).map { .init(x: Double($0) * meters, y: 0) }
    }

    private static func still(
        _ minor: UInt16 = 1, x: Double, from start: Double = 0, to end: Double = hour, address: UInt64 = 0xC1
    ) -> SimulatedCloners.Device {
        .init(
            identity: BeaconIdentity(uuid: .test, major: 1, minor: minor), path: [(start, x, 1), (end, x, 1)],
            addresses: [(0, address)])
    }

    private static func detector(
        _ rules: SuspicionRules = SuspicionRules(), _ cloners: SimulatedCloners,
        of constraints: [BeaconConstraint] = all
    ) -> SuspicionDetector {
        var detector = SuspicionDetector(rules, of: constraints)
        cloners.place(in: &detector)
        return detector
    }

    // MARK: - Findings

    @Test("Two distant devices of one identity are found once, and again after the pause")
    func apart() {
        var cloners = SimulatedCloners(
            receivers: Self.row(2, every: 60),
            devices: [Self.still(x: 1, address: 0xC1), Self.still(x: 59, address: 0xC1)], random: SplitMix64(seed: 1))
        let sightings = cloners.sightings(until: 700)
        var rules = SuspicionRules()
        rules.pause = .seconds(300)
        var detector = Self.detector(rules, cloners)
        var times: [Double] = []
        for sighting in sightings {
            detector.receive(sighting)
            for finding in detector.takeFindings() {
                #expect(finding.reason == .apart)
                #expect(finding.distance == 60)
                #expect(finding.seconds >= 15)
                #expect(Set([finding.first.receiver.index, finding.second.receiver.index]) == [0, 1])
                times.append(finding.time.seconds)
            }
        }
        #expect(times.count == 3, "\(times)")
        #expect(times.first ?? 0 < 60, "\(times)")
        for (a, b) in zip(times, times.dropFirst()) { #expect(b - a >= 300) }
    }

    @Test("A beacon that vanishes here and appears half a kilometer away was too fast")
    func speed() throws {
        var cloners = SimulatedCloners(
            receivers: Self.row(2, every: 500),
            devices: [Self.still(x: 1, to: 100), Self.still(x: 499, from: 110)], random: SplitMix64(seed: 2))
        let sightings = cloners.sightings(until: 200)
        var detector = Self.detector(SuspicionRules(), cloners)
        for sighting in sightings { detector.receive(sighting) }
        let findings = detector.takeFindings()
        try #require(findings.count == 1)
        #expect(findings[0].reason == .speed)
        let speed = try #require(findings[0].speed)
        #expect((20...60).contains(speed))
        #expect(findings[0].first.receiver == ReceiverID(0))
        #expect(findings[0].second.receiver == ReceiverID(1))
    }

    @Test("If it is no longer heard after the leap, time alone reveals the leap")
    func speedByTime() {
        var cloners = SimulatedCloners(
            receivers: Self.row(2, every: 500),
            devices: [Self.still(x: 1, to: 100), Self.still(x: 499, from: 110, to: 117)], random: SplitMix64(seed: 2))
        let sightings = cloners.sightings(until: 200)
        var detector = Self.detector(SuspicionRules(), cloners)
        for sighting in sightings { detector.receive(sighting) }
        #expect(detector.takeFindings().isEmpty)
        detector.advance(to: .at(130))
        #expect(detector.takeFindings().map(\.reason) == [.speed])
    }

    @Test("A leap into a room with several receivers is found, and one to a third place too")
    func leaps() {
        var cloners = SimulatedCloners(
            receivers: [
                .init(x: 0, y: 0), .init(x: 500, y: 0), .init(x: 506, y: 0), .init(x: 500, y: 6), .init(x: 2000, y: 0),
            ],
            devices: [Self.still(1, x: 1, to: 100), Self.still(1, x: 503, from: 110, to: 300)],
            random: SplitMix64(seed: 13))
        cloners.devices += [
            Self.still(2, x: 1, to: 100), Self.still(2, x: 503, from: 110, to: 113),
            Self.still(2, x: 1999, from: 114, to: 300),
        ]
        let sightings = cloners.sightings(until: 300)
        var detector = Self.detector(SuspicionRules(), cloners)
        let found = detector.findings(of: sightings, until: 300).map { $0.prefix(7) }
        #expect(found.sorted() == ["speed 1", "speed 2"])
    }

    @Test("A leap is found even if the beacon faded before, and was sometimes heard faintly")
    func fading() {
        var cloners = SimulatedCloners(
            receivers: Self.row(2, every: 700), devices: [Self.still(x: 1, to: 60), Self.still(x: 699, from: 110)],
            random: SplitMix64(seed: 14))
        // It walks away from the first receiver, out of its range.
        cloners.devices[0].path += [(time: 95, x: 60, y: 40)]
        cloners.devices[0].power = -52
        let sightings = cloners.sightings(until: 200)
        var detector = Self.detector(SuspicionRules(), cloners)
        #expect(detector.findings(of: sightings, until: 200).map { $0.prefix(5) } == ["speed"])
    }

    @Test("A distant clone that is present for eight seconds is found in addition to the real beacon")
    func shortly() {
        var cloners = SimulatedCloners(
            receivers: Self.row(2, every: 300), devices: [Self.still(x: 1), Self.still(x: 299, from: 50, to: 58)],
            random: SplitMix64(seed: 15))
        let sightings = cloners.sightings(until: 100)
        var detector = Self.detector(SuspicionRules(), cloners)
        #expect(detector.findings(of: sightings, until: 100) == ["apart 1 0-1"])
    }

    @Test("If a dozen receivers hear it, the strongest evidence counts", arguments: [4, 6, 10])
    func manyReceivers(_ count: Int) {
        var receivers: [SimulatedCloners.Receiver] = []
        for x in [0.0, 90] {
            for number in 0..<count {
                receivers.append(.init(x: x + Double(number % 3) * 4, y: Double(number / 3) * 4))
            }
        }
        var cloners = SimulatedCloners(
            receivers: receivers, devices: [Self.still(x: 2), Self.still(x: 92)], random: SplitMix64(seed: 16))
        let sightings = cloners.sightings(until: 120)
        var detector = Self.detector(SuspicionRules(), cloners)
        #expect(detector.findings(of: sightings, until: 120).map { $0.prefix(5) } == ["apart"])
    }

    @Test("Addresses that are heard once do not displace alternating ones")
    func freshAddresses() {
        var detector = SuspicionDetector(SuspicionRules(), of: Self.all)
        for second in 0..<120 {
            for (part, address) in [0xC1, 0xC2, 0xE0_0000 + UInt64(second)].enumerated() {
                detector.receive(.of(at: Double(second) + Double(part) / 10, address: address))
            }
        }
        #expect(detector.takeFindings().map(\.reason) == [.addresses])
    }

    @Test("Two addresses that alternate at one receiver are found without any position")
    func addresses() throws {
        var cloners = SimulatedCloners(
            receivers: [.init(x: 0, y: 0)],
            devices: [Self.still(x: 1, address: 0xC1), Self.still(x: 2, address: 0xC2)],
            random: SplitMix64(seed: 3))
        var detector = SuspicionDetector(SuspicionRules(), of: Self.all)
        for sighting in cloners.sightings(until: 120) { detector.receive(sighting) }
        let findings = detector.takeFindings()
        try #require(findings.count == 1)
        #expect(findings[0].reason == .addresses)
        #expect(Set([findings[0].first.address.bits, findings[0].second.address.bits]) == [0xC1, 0xC2])
        #expect(findings[0].time.seconds < 40)
        #expect(findings[0].distance == nil)
    }

    // A forged tag is found where adverts are recognized.
    @Test("Only the configured reasons are checked", arguments: SuspicionReason.all.filter { $0 != .forged })
    func reasons(_ reason: SuspicionReason) {
        var cloners = SimulatedCloners(
            receivers: Self.row(2, every: 600),
            devices: [
                Self.still(1, x: 1, address: 0xC1), Self.still(1, x: 599, address: 0xC2),
                Self.still(2, x: 1, to: 100), Self.still(2, x: 599, from: 110),
            ], random: SplitMix64(seed: 4))
        let sightings = cloners.sightings(until: 200)
        var rules = SuspicionRules()
        rules.reasons = [reason]
        var detector = Self.detector(rules, cloners)
        let found = Set(
            detector.findings(of: sightings, until: 200).map { String($0.prefix { $0 != "-" }.dropLast(2)) })
        #expect(found == ["\(reason) \(reason == .speed ? 2 : 1)"])
    }

    @Test("A clone that is heard faintly at the other's place hides neither")
    func leakage() {
        var cloners = SimulatedCloners(
            receivers: Self.row(3, every: 50), devices: [Self.still(x: 1), Self.still(x: 99)],
            random: SplitMix64(seed: 5))
        // Strong devices, heard everywhere.
        for index in cloners.devices.indices { cloners.devices[index].power = -50 }
        let sightings = cloners.sightings(until: 120)
        #expect(sightings.contains { $0.receiver.index == 1 })
        var detector = Self.detector(SuspicionRules(), cloners)
        #expect(detector.findings(of: sightings, until: 120) == ["apart 1 0-2"])
    }

    // MARK: - No findings

    @Test(
        "A single device is never suspicious, despite walks, wrong powers, late messages and new addresses",
        arguments: 0..<60)
    func oneDevice(_ seed: Int) {
        var random = SplitMix64(seed: UInt64(seed) + 1000)
        let side = Double.random(in: 20...300, using: &random)
        let receivers = (0..<Int.random(in: 2...10, using: &random)).map { _ in
            SimulatedCloners.Receiver(
                x: .random(in: 0...side, using: &random), y: .random(in: 0...side, using: &random),
                lateness: Bool.random(using: &random) ? 0 : .random(in: 0...5, using: &random),
                gathering: Int.random(in: 0...3, using: &random) == 0 ? .random(in: 1...10, using: &random) : 0)
        }
        var devices: [SimulatedCloners.Device] = []
        for minor in 1...4 as ClosedRange<UInt16> {
            var (time, x, y) = (
                0.0, Double.random(in: 0...side, using: &random), Double.random(in: 0...side, using: &random)
            )
            var path = [(time: time, x: x, y: y)]
            while time < 900 {
                let pause = Double.random(in: 0...60, using: &random)
                time += pause
                path.append((time, x, y))
                let (nextX, nextY) = (
                    Double.random(in: 0...side, using: &random), Double.random(in: 0...side, using: &random)
                )
                let meters = ((nextX - x) * (nextX - x) + (nextY - y) * (nextY - y)).squareRoot()
                time += meters / .random(in: 0.3...5, using: &random)
                (x, y) = (nextX, nextY)
                path.append((time, x, y))
            }
            let power = Double.random(in: -75 ... -50, using: &random)
            // Its claim may be 10 dB below its real power.
            let lie = Double.random(in: -10...20, using: &random)
            let interval = Double.random(in: 0.1...2, using: &random)
            let changes = Bool.random(using: &random) ? stride(from: 0.0, to: 900, by: 180).map { $0 } : [0]
            devices.append(
                .init(
                    identity: BeaconIdentity(uuid: .test, major: 1, minor: minor), path: path,
                    addresses: changes.enumerated().map { ($1, UInt64(minor) << 8 | UInt64($0) + 1) }, power: power,
                    measuredPower: Int8(clamping: Int((power + lie).rounded())), interval: interval))
        }
        var cloners = SimulatedCloners(receivers: receivers, devices: devices, random: random)
        let sightings = cloners.sightings(until: 900)
        var detector = Self.detector(SuspicionRules(), cloners)
        #expect(detector.findings(of: sightings, until: 900) == [])
    }

    @Test("Occasional wrong readings prove nothing")
    func wrongReadings() {
        var cloners = SimulatedCloners(
            receivers: Self.row(2, every: 100), devices: [Self.still(x: 1)], random: SplitMix64(seed: 7))
        cloners.devices[0].power = -45
        var sightings = cloners.sightings(until: 600)
        // Every hundredth reading at the distant receiver is as if the device was beside it.
        var count = 0
        for index in sightings.indices where sightings[index].receiver.index == 1 {
            count += 1
            if count % 100 == 0 { sightings[index].rssi = SignalStrength(rawValue: -30) }
        }
        #expect(count > 200)
        var detector = Self.detector(SuspicionRules(), cloners)
        #expect(detector.findings(of: sightings, until: 600) == [])
    }

    @Test("A backlog after a gateway's outage does not prove that the beacon is there")
    func backlog() {
        var cloners = SimulatedCloners(
            receivers: Self.row(2, every: 200), devices: [Self.still(x: 1, to: 100), Self.still(x: 199, from: 150)],
            random: SplitMix64(seed: 8))
        var sightings = cloners.sightings(until: 400)
        // The first receiver loses its network at 60 s. Its adverts since then arrive at 200 s, with that time.
        for index in sightings.indices where sightings[index].receiver.index == 0 && sightings[index].time.seconds > 60
        {
            sightings[index].time = .at(200 + (sightings[index].time.seconds - 60) / 40)
        }
        sightings.sort { $0.time < $1.time }
        var detector = Self.detector(SuspicionRules(), cloners)
        #expect(detector.findings(of: sightings, until: 400) == [])
    }

    @Test("Missing readings and unrequested beacons do not count")
    func ignored() {
        var cloners = SimulatedCloners(
            receivers: Self.row(2, every: 100), devices: [Self.still(x: 1), Self.still(x: 99)],
            random: SplitMix64(seed: 9))
        let sightings = cloners.sightings(until: 120)
        var detector = Self.detector(
            SuspicionRules(), cloners,
            of: [BeaconConstraint(uuid: .test, major: 2), BeaconConstraint(uuid: .test, major: 1, minor: 9)])
        #expect(detector.findings(of: sightings, until: 120) == [])
        detector = Self.detector(SuspicionRules(), cloners)
        let unread = sightings.map {
            var sighting = $0
            sighting.rssi = .unavailable
            return sighting
        }
        #expect(detector.findings(of: unread, until: 120) == [])
    }

    @Test(
        "A phone whose address one receiver resolves is one device, unless one receiver hears both addresses"
    )
    func resolvedAddress() {
        let (identityAddress, changing): (UInt64, UInt64) = (0xC000_0000_0001, 0x4000_0000_0002)
        for isOneReceiver in [false, true] {
            var detector = SuspicionDetector(SuspicionRules(), of: Self.all)
            for second in 0..<120 {
                let isFirst = second % 2 == 0
                detector.receive(
                    .of(
                        at: Double(second), address: isFirst ? identityAddress : changing,
                        receiver: isOneReceiver || isFirst ? 0 : 1))
            }
            #expect(detector.hasFindings == isOneReceiver)
        }
    }

    @Test(
        "A backlog after a gateway's outage is not a leap, if no other receiver hears the beacon then"
    )
    func lateLeap() {
        var cloners = SimulatedCloners(
            receivers: Self.row(2, every: 500),
            devices: [Self.still(x: 1, to: 100), Self.still(x: 499, from: 101, to: 140)],
            random: SplitMix64(seed: 17))
        var sightings = cloners.sightings(until: 140)
        // The adverts of the second receiver arrive within three seconds.
        for index in sightings.indices where sightings[index].receiver.index == 1 {
            sightings[index].time = .at(110 + (sightings[index].time.seconds - 101) / 13)
        }
        sightings.sort { $0.time < $1.time }
        var detector = Self.detector(SuspicionRules(), cloners)
        #expect(detector.findings(of: sightings, until: 140) == [])
    }

    @Test(
        "A clone is found whatever power it claims", arguments: [-39, -30, -3, 0, 30, 127, -128] as [Int8])
    func claimedPower(power: Int8) {
        var cloners = SimulatedCloners(
            receivers: Self.row(2, every: 250), devices: [Self.still(x: 1), Self.still(x: 249)],
            random: SplitMix64(seed: 18))
        cloners.devices[1].measuredPower = power
        let sightings = cloners.sightings(until: 120)
        var detector = Self.detector(SuspicionRules(), cloners)
        #expect(detector.findings(of: sightings, until: 120) == ["apart 1 0-1"])
    }

    @Test("Anonymous adverts have no address to compare")
    func anonymous() {
        var detector = SuspicionDetector(SuspicionRules(), of: Self.all)
        for second in 0..<200 {
            var sighting = Sighting.of(at: Double(second))
            if second % 2 == 0 { sighting.address = DeviceAddress(bits: 0, kind: .anonymous) }
            detector.receive(sighting)
        }
        #expect(!detector.hasFindings)
    }

    // MARK: - Bounds

    @Test("Invented identities fill neither the memory nor the log, and hide no named beacon")
    func flood() throws {
        let named = BeaconIdentity(uuid: .test, major: 9, minor: 9)
        var detector = SuspicionDetector(SuspicionRules(), of: Self.all + [BeaconConstraint(named)])
        var random = SplitMix64(seed: 10)
        var findings: [Suspicion] = []
        for tick in 0..<600_000 {
            let time = Double(tick) / 2000
            // Each invented identity has two alternating addresses.
            let minor = UInt16(truncatingIfNeeded: tick / 2 % 30_000)
            detector.receive(.of(minor: minor, at: time, address: 0xD0 + random.next() % 2))
            // Long after the invented identities have used up their reports.
            if tick % 500 == 0, time > 200 {
                detector.receive(.of(minor: 9, major: 9, at: time, address: 0xE0 + UInt64(tick / 500 % 2)))
            }
            findings += detector.takeFindings()
        }
        #expect(findings.count <= SuspicionDetector.maximumFindings + 1)
        #expect(detector.ignoredAdverts > 0)
        #expect(findings.contains { $0.identity == named })
    }

    @Test("Of many suspicions in an hour, the first are reported and the others are counted")
    func maximumFindings() {
        var detector = SuspicionDetector(SuspicionRules(), of: Self.all)
        var count = 0
        for second in 0..<120 {
            for minor in 0..<200 as Range<UInt16> {
                detector.receive(
                    .of(minor: minor, at: Double(second), address: 0xC0 + UInt64(second % 2)))
            }
            count += detector.takeFindings().count
        }
        #expect(count == SuspicionDetector.maximumFindings)
        #expect(detector.omittedFindings > 0)
        // The others do not count as reported: after the hour, they are reported.
        for second in 3_700..<3_800 {
            for minor in 100..<150 as Range<UInt16> {
                detector.receive(.of(minor: minor, at: Double(second), address: 0xC0 + UInt64(second % 2)))
            }
        }
        #expect(detector.takeFindings().count == 50)
    }

    @Test("New constraints preserve the state of beacons that remain")
    func constraints() {
        var cloners = SimulatedCloners(
            receivers: Self.row(2, every: 100), devices: [Self.still(1, x: 1), Self.still(1, x: 99)],
            random: SplitMix64(seed: 11))
        let sightings = cloners.sightings(until: 600)
        var detector = Self.detector(SuspicionRules(), cloners)
        var found: [String] = []
        for (index, sighting) in sightings.enumerated() {
            if index == sightings.count / 2 { detector.setConstraints([BeaconConstraint(uuid: .test, major: 1)]) }
            detector.receive(sighting)
            found += detector.takeFindings().map(\.reason.rawValue)
        }
        // Within the pause it is not reported again.
        #expect(found == ["apart"])
        detector.setConstraints([])
        for sighting in sightings { detector.receive(sighting) }
        #expect(!detector.hasFindings)
    }

    @Test("Moving a receiver on the plan is not a leap")
    func movedReceiver() {
        var cloners = SimulatedCloners(
            receivers: Self.row(2, every: 5), devices: [Self.still(x: 2)], random: SplitMix64(seed: 12))
        let sightings = cloners.sightings(until: 60)
        var detector = Self.detector(SuspicionRules(), cloners)
        for sighting in sightings {
            if sighting.time.seconds > 30 {
                // Both move to the other end of a large building.
                detector.setReceiver(ReceiverID(0), at: ReceiverPosition(x: 900, y: 0))
                detector.setReceiver(ReceiverID(1), at: ReceiverPosition(x: 905, y: 0))
            }
            detector.receive(sighting)
        }
        detector.advance(to: .at(200))
        #expect(!detector.hasFindings)
    }
}
