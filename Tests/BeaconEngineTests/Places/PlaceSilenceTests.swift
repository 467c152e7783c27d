import BeaconEngine
import BeaconModel
import Testing

@Suite("Places while receivers are deaf or beacons are silent")
struct PlaceSilenceTests {
    @Test(
        "A short deafness changes nothing; a long one makes the place unknown; afterwards it is known again"
    )
    func deafness() {
        var bench = PlaceBench()
        bench.pass(20, [-60, -75, -85])
        _ = bench.changes()
        bench.set(0, isHearing: false)
        bench.pass(4, [nil, -75, -85])
        bench.set(0, isHearing: true)
        bench.pass(10, [-60, -75, -85])
        #expect(bench.changes() == [])
        bench.set(0, isHearing: false)
        bench.pass(100, [nil, -75, -85])
        #expect(bench.changes() == ["39.0 unknown"])
        bench.set(0, isHearing: true)
        bench.pass(10, [-60, -75, -85])
        #expect(bench.changes() == ["135.0 0"])
    }

    @Test("While a room is dark, a beacon close to another room's receiver is still placed there")
    func closeness() {
        var bench = PlaceBench()
        // First, the level of beacons of this kind is learned.
        bench.pass(40, [-60, -75, -85])
        bench.set(2, isHearing: false)
        bench.pass(20, [-60, -75, nil])
        #expect(bench.changes() == ["1.0 0"])
        // Carried to the next room, it is close there.
        bench.pass(20, [-78, -60, nil])
        #expect(bench.changes().map { $0.suffix(2) } == [" 1"])
        // Carried to the dark room, it is close to no receiver.
        bench.pass(60, [-88, -84, nil])
        #expect(bench.changes().map { $0.suffix(8) } == [" unknown"])
    }

    @Test("A beacon far from its receiver stays in its room while another is dark, until it is heard worse")
    func stay() {
        var bench = PlaceBench()
        bench.pass(40, [-60, -75, -85])
        bench.pass(20, [-95, -82, -86], minor: 2)
        _ = bench.changes()
        bench.set(2, isHearing: false)
        bench.pass(300, [-95, -82, nil], minor: 2)
        let changes = bench.changes()
        #expect(!changes.contains { $0.hasSuffix(" unknown") && !$0.hasPrefix("1") }, "\(changes)")
        bench.pass(30, [-95, -92, nil], minor: 2)
        #expect(bench.changes().last?.hasSuffix(" unknown") == true)
    }

    @Test("If one of a room's two receivers is deaf, the beacons of the other rooms are placed as before")
    func halfDarkRoom() {
        var bench = PlaceBench(PlaceMap(placeCount: 2, receivers: [0, 0, 1]), attaching: 3)
        bench.set(0, isHearing: false)
        bench.pass(30, [nil, -92, -88])
        #expect(bench.changes().map { $0.suffix(2) } == [" 1"])
        bench.pass(60, [nil, -80, -92])
        #expect(bench.changes().map { $0.suffix(2) } == [" 0"])
    }

    @Test("In a house that was dark from the start, a loud beacon is not close before a much louder one is heard")
    func darkFromStart() {
        var bench = PlaceBench(attaching: 2)
        bench.pass(60, [-55, -58, nil])
        #expect(bench.changes() == [])
        bench.pass(10, [-40, -58, nil])
        #expect(bench.changes().map { $0.suffix(2) } == [" 0"])
        bench.pass(40, [-65, -68, nil])
        #expect(bench.changes().map { $0.suffix(8) } == [" unknown"])
    }

    @Test("A beacon that is away while a room is dark is reported when the room hears again", arguments: [true, false])
    func awayWhileDark(isHeardBefore: Bool) {
        let beacon = BeaconIdentity(uuid: .test, major: 1, minor: 1)
        var bench = PlaceBench()
        if isHeardBefore {
            bench.pass(20, [-60, -75, -85])
        } else {
            bench.engine.setKnownPlace(.nowhere, of: beacon)
        }
        bench.set(2, isHearing: false)
        bench.pass(10, [isHeardBefore ? -60 : nil, nil, nil])
        // Its silence passes the time for which a beacon in no place is remembered.
        bench.pass(900, [nil, nil, nil])
        #expect(!bench.changes().contains { $0.hasSuffix("nowhere") })
        bench.set(2, isHearing: true)
        bench.pass(120, [nil, nil, nil])
        #expect(bench.changes().last?.hasSuffix(" nowhere") == true)
    }

    @Test("A beacon that is away stays away while a room is dark")
    func awayBeforeDark() {
        var bench = PlaceBench()
        bench.pass(10, [-60, -75, -85])
        bench.pass(100, [nil, nil, nil])
        _ = bench.changes()
        bench.set(2, isHearing: false)
        bench.pass(1000, [nil, nil, nil])
        #expect(bench.changes() == [])
        bench.set(2, isHearing: true)
        bench.pass(100, [nil, nil, nil])
        #expect(bench.changes() == [])
    }

    @Test("The order of the adverts within a second does not matter", arguments: 0..<10)
    func order(seed: UInt64) {
        func changes(isReversed: Bool) -> [String] {
            var random = SplitMix(seed: seed)
            var bench = PlaceBench()
            for _ in 0..<120 {
                let room = Int(random.next() % 3)
                var sightings: [Sighting] = []
                for receiver in 0..<3 {
                    for _ in 0..<random.next() % 4 {
                        let level = (receiver == room ? -60 : -80) - Int8(random.next() % 12)
                        sightings.append(
                            .of(at: bench.time + 0.5, rssi: level, receiver: UInt16(receiver)))
                    }
                }
                for sighting in isReversed ? sightings.reversed() : sightings { bench.engine.receive(sighting) }
                bench.pass(1, [nil, nil, nil])
            }
            return bench.changes()
        }
        #expect(changes(isReversed: false) == changes(isReversed: true))
    }

    @Test("A beacon that lies on a receiver does not prevent others from being close", arguments: [1, 2])
    func lyingOnReceiver(loud: UInt16) {
        var bench = PlaceBench()
        for minor in 2...5 { bench.pass(10, [-72, -85, -95], minor: UInt16(minor)) }
        for minor in 0..<loud { bench.pass(10, [-20, -70, -85], minor: 90 + minor) }
        _ = bench.changes()
        bench.set(2, isHearing: false)
        bench.pass(20, [-74, -88, nil])
        #expect(bench.changes().contains { $0.hasSuffix(" 0") })
    }

    @Test("After a restart, a beacon does not move because another receiver started first")
    func restart() {
        var bench = PlaceBench(PlaceMap(placeCount: 2, receivers: [0, 1]), attaching: 2)
        bench.engine.setKnownPlace(.place(0), of: BeaconIdentity(uuid: .test, major: 1, minor: 1))
        bench.pass(2, [nil, -70])
        bench.pass(10, [-60, -70])
        #expect(bench.changes().map { $0.suffix(2) } == [" 0"])
    }

    @Test("A receiver that never started is deaf")
    func missing() {
        var bench = PlaceBench(attaching: 2)
        bench.pass(60, [-92, -94, nil])
        #expect(bench.changes() == [])
    }

    @Test("No beacon leaves while all receivers are deaf, for any time and by any jump")
    func allDeaf() {
        var bench = PlaceBench()
        bench.pass(20, [-60, -75, -85])
        _ = bench.changes()
        for receiver in 0..<3 { bench.set(UInt16(receiver), isHearing: false) }
        bench.pass(3600, [nil, nil, nil])
        #expect(bench.changes() == ["25.0 unknown"])
        for receiver in 0..<3 { bench.set(UInt16(receiver), isHearing: true) }
        bench.pass(20, [nil, nil, nil])
        #expect(bench.changes() == [])
        bench.pass(60, [nil, nil, nil])
        #expect(bench.changes().map { $0.suffix(8) } == [" nowhere"])
    }

    @Test("A deafness that is reported afterwards does not count")
    func skipped() {
        var bench = PlaceBench()
        bench.pass(20, [-60, -75, -85])
        _ = bench.changes()
        for receiver in 0..<3 { bench.engine.skip(from: .at(20), to: .at(500), of: ReceiverID(UInt16(receiver))) }
        bench.engine.advance(to: .at(500))
        let changes = bench.changes()
        #expect(!changes.contains { $0.hasSuffix("nowhere") })
    }

    @Test("A beacon that advertises every ten seconds does not leave between two adverts")
    func slowBeacon() {
        var engine = Engine()
        engine.startLocating(PlaceMap(placeCount: 1, receivers: [0]), [nil])
        engine.setReceiver(ReceiverID(0), of: 0)
        for second in stride(from: 0.5, through: 300, by: 10.2) { engine.receive(.of(at: second)) }
        engine.advance(to: .at(320))
        var changes: [PlaceChange] = []
        for event in engine.drainEvents() { if case .placed(let change) = event { changes.append(change) } }
        #expect(changes.map(\.whereabouts) == [.place(0)])
    }

    @Test(
        "A receiver that sends once a second places beacons although it is in doubt in between"
    )
    func doubt() {
        var engine = Engine()
        engine.startLocating(PlaceMap(placeCount: 2, receivers: [0, 1]), [nil])
        for number in 0..<2 { engine.setReceiver(ReceiverID(UInt16(number)), of: number) }
        func changes() -> [PlaceState] {
            engine.drainEvents().compactMap { if case .placed(let change) = $0 { change.whereabouts } else { nil } }
        }
        func set(_ isHearing: Bool, at time: Double) {
            for receiver in 0..<2 {
                engine.setHearing(
                    isHearing, of: ReceiverID(UInt16(receiver)), at: .at(time), isDoubt: !isHearing,
                    wasHearing: isHearing)
            }
        }
        for second in 0..<20 {
            engine.receive(.of(at: Double(second) + 0.1, rssi: -60, receiver: 0))
            engine.receive(.of(at: Double(second) + 0.1, rssi: -80, receiver: 1))
            set(true, at: Double(second) + 0.2)
            set(false, at: Double(second) + 0.7)
            engine.advance(to: .at(Double(second) + 1))
        }
        #expect(changes() == [.place(0)])
        engine.advance(to: .at(200))
        #expect(changes() == [])
        set(true, at: 200)
        engine.advance(to: .at(300))
        #expect(changes() == [.nowhere])
    }

    @Test("Locating does not change ranging reports, and only requested beacons are located")
    func besideRanging() {
        func reports(isLocating: Bool) -> ([RangingReport], [BeaconIdentity]) {
            var engine = Engine()
            let other = ProximityUUID(high: 1, low: 2)
            engine.addReceiver(ReceiverID(0))
            if isLocating {
                engine.startLocating(
                    PlaceMap(placeCount: 1, receivers: [0]), [BeaconConstraint(uuid: .test)])
                engine.setReceiver(ReceiverID(0), of: 0)
            }
            _ = engine.startRanging(BeaconConstraint(uuid: other))
            for tenth in 0..<200 {
                engine.receive(.of(at: Double(tenth) / 10, rssi: -60))
                engine.receive(.of(uuid: other, at: Double(tenth) / 10 + 0.01, rssi: -70))
            }
            var (ranged, placed): ([RangingReport], [BeaconIdentity]) = ([], [])
            for event in engine.drainEvents() {
                if case .ranged(let report) = event { ranged.append(report) }
                if case .placed(let change) = event { placed.append(change.identity) }
            }
            return (ranged, placed)
        }
        let (alone, none) = reports(isLocating: false)
        let (beside, placed) = reports(isLocating: true)
        #expect(alone.map(\.beacons) == beside.map(\.beacons))
        #expect(none.isEmpty && placed.map(\.uuid) == [.test])
    }

    @Test("Surplus beacons are forgotten and counted, those in no place first")
    func bounds() {
        var configuration = EngineConfiguration()
        configuration.maximumTrackedBeacons = 8
        var engine = Engine(configuration: configuration)
        engine.startLocating(PlaceMap(placeCount: 1, receivers: [0]), [nil])
        engine.setReceiver(ReceiverID(0), of: 0)
        for minor in 0..<200 {
            let time = Double(minor) / 50
            engine.receive(.of(minor: UInt16(minor), at: time, address: 0xC000_0000_0000 + UInt64(minor)))
        }
        engine.advance(to: .at(400))
        #expect(engine.statistics.evicted >= 192)
        #expect(engine.trackedBeacons <= 8)
    }

    @Test("After a receiver starts or hears again, a beacon has its full time before it is in no place")
    func receiverComes() {
        var bench = PlaceBench(PlaceMap(placeCount: 2, receivers: [0, 1]), attaching: 1)
        bench.pass(10, [-60])
        bench.pass(60, [nil])
        bench.engine.setReceiver(ReceiverID(1), of: 1)
        bench.pass(10, [nil, nil])
        bench.pass(10, [nil, -60])
        let changes = bench.changes()
        #expect(!changes.contains { $0.hasSuffix("nowhere") } && changes.last?.hasSuffix(" 1") == true, "\(changes)")
    }

    @Test("A named beacon that is never heard is in no place after a minute, once no place is dark")
    func neverHeard() {
        let beacon = BeaconIdentity(uuid: .test, major: 1, minor: 1)
        var map = PlaceMap(placeCount: 3, receivers: [0, 1, 2])
        map.reportsEachSecond = true
        var bench = PlaceBench(map)
        bench.engine.awaitBeacons([beacon, beacon])
        bench.pass(59, [nil, nil, nil])
        let before = bench.engine.drainEvents().compactMap { event -> Int? in
            if case .located(_, let beacons) = event { beacons.count } else { nil }
        }
        #expect(before == Array(repeating: 0, count: 59), "nothing is known of it yet")
        bench.pass(400, [nil, nil, nil])
        #expect(bench.changes() == ["60.0 nowhere"])
        bench.pass(10, [-60, nil, nil])
        #expect(bench.changes().map { $0.suffix(2) } == [" 0"])

        var dark = PlaceBench()
        dark.engine.awaitBeacons([beacon])
        dark.set(2, isHearing: false)
        dark.pass(400, [nil, nil, nil])
        #expect(dark.changes() == [])
        dark.set(2, isHearing: true)
        dark.pass(70, [nil, nil, nil])
        #expect(dark.changes() == ["460.0 nowhere"])
    }

    @Test("A named beacon is awaited, and leaves its known place if it stays silent")
    func awaited() {
        let beacon = BeaconIdentity(uuid: .test, major: 1, minor: 1)
        var engine = Engine()
        engine.addReceiver(ReceiverID(0))
        engine.startLocating(PlaceMap(placeCount: 1, receivers: [0]), [BeaconConstraint(beacon)])
        engine.setReceiver(ReceiverID(0), of: 0)
        engine.setKnownPlace(.place(0), of: beacon)
        engine.advance(to: .at(0))
        engine.advance(to: .at(60))
        let changes = engine.drainEvents().compactMap { event -> PlaceChange? in
            if case .placed(let change) = event { change } else { nil }
        }
        #expect(changes.map(\.whereabouts) == [.nowhere] && changes.first?.before == .place(0))
    }

    @Test("Silence counts only after a receiver has had time to hear")
    func freshReceiver() {
        var bench = PlaceBench(PlaceMap(placeCount: 2, receivers: [0, 1]), attaching: 1)
        // Once in five seconds, and not close.
        for round in 0..<12 {
            bench.engine.receive(.of(at: Double(round) * 5 + 0.5, rssi: -88))
            bench.engine.advance(to: .at(Double(round + 1) * 5))
        }
        bench.engine.setReceiver(ReceiverID(1), of: 1)
        bench.engine.receive(.of(at: 60.5, rssi: -88))
        bench.engine.advance(to: .at(65))
        #expect(!bench.changes().contains { $0.hasSuffix(" 0") })
    }

    @Test("If one of a place's two receivers is deaf, its beacon is unknown, and not next door")
    func halfDeafPlace() {
        var bench = PlaceBench(PlaceMap(placeCount: 2, receivers: [0, 0, 1]))
        bench.pass(20, [-60, nil, -88])
        bench.set(0, isHearing: false)
        bench.pass(60, [nil, nil, -88])
        let changes = bench.changes()
        #expect(changes.count == 2 && changes.first == "1.0 0" && changes.last?.hasSuffix(" unknown") == true)
    }

    @Test("No beacon is close before a strong one was heard")
    func coldStart() {
        var bench = PlaceBench(attaching: 2)
        bench.pass(60, [-84, -86, nil])
        #expect(bench.changes() == [])
        bench.pass(10, [-60, -86, nil])
        #expect(bench.changes().map { $0.suffix(2) } == [" 0"])
    }

    @Test("An advert without a reading is not silence")
    func withoutReading() {
        var bench = PlaceBench()
        bench.pass(10, [-60, -75, -85])
        bench.pass(60, [127, nil, nil])
        #expect(bench.changes() == ["1.0 0"])
    }

    @Test("A jump of a century is skipped, even if a place stays dark")
    func jump() {
        var bench = PlaceBench()
        bench.pass(10, [-60, -75, -85])
        bench.set(2, isHearing: false)
        bench.engine.advance(to: .at(3_000_000_000))
        #expect(bench.changes().last?.hasSuffix(" unknown") == true)
    }

    @Test("After days of silence of a close beacon, nothing overflows")
    func days() {
        var map = PlaceMap(placeCount: 2, receivers: [0, 1])
        map.rules.exitTimeout = .seconds(86_400)
        var bench = PlaceBench(map, attaching: 2)
        bench.pass(10, [-60, -75])
        bench.engine.advance(to: .at(70_000))
        #expect(bench.changes() == ["1.0 0"])
        bench.engine.advance(to: .at(90_000))
        #expect(bench.changes().last?.hasSuffix(" nowhere") == true)
    }

    @Test("Receivers with one name are one, which hears while any of them does, and all readings count")
    func severalOfOne() {
        var bench = PlaceBench(PlaceMap(placeCount: 2, receivers: [0, 1]), attaching: 2)
        bench.engine.setReceiver(ReceiverID(2), of: 0)
        bench.pass(10, [nil, -80, -60])
        bench.set(0, isHearing: false)
        bench.pass(20, [nil, -80, -60])
        #expect(bench.changes() == ["1.0 0"])
    }

    @Test("A reassigned receiver leaves its old place dark")
    func renamed() {
        var bench = PlaceBench(PlaceMap(placeCount: 2, receivers: [0, 1]), attaching: 2)
        bench.pass(10, [-60, -80])
        bench.engine.setReceiver(ReceiverID(0), of: 1)
        bench.pass(10, [nil, -80])
        #expect(bench.changes().last?.hasSuffix(" unknown") == true)
    }

    /// Random rooms, walks and faults, checked against the invariants.
    @Test(
        "At any time, no deaf receiver places a beacon, and none leaves unheard", arguments: 0..<40)
    func chance(seed: UInt64) {
        var random = SplitMix(seed: seed &+ 7)
        var bench = PlaceBench()
        var isDeaf = [false, false, false]
        var deafFor = [0, 0, 0]
        var unheard = 0
        var isPlaced = false
        for _ in 0..<600 {
            if random.chance(1, in: 25) {
                let receiver = Int(random.next() % 3)
                isDeaf[receiver].toggle()
                bench.set(UInt16(receiver), isHearing: !isDeaf[receiver])
            }
            let isAway = random.chance(1, in: 8)
            let levels = isDeaf.map { deaf -> Int8? in
                if deaf || isAway { return nil }
                // Some adverts have no reading, or an impossible one.
                if random.chance(1, in: 40) { return [127, -127, -1][Int(random.next() % 3)] }
                return -55 - Int8(random.next() % 40)
            }
            bench.pass(1, levels)
            for receiver in 0..<3 { deafFor[receiver] = isDeaf[receiver] ? deafFor[receiver] + 1 : 0 }
            unheard = levels.contains { $0 != nil } ? 0 : unheard + (isDeaf.contains(false) ? 1 : 0)
            for change in bench.changes() {
                let place = change.split(separator: " ")[1]
                if let number = Int(place) {
                    #expect(deafFor[number] < 5, "\(change) although that receiver is deaf")
                    isPlaced = true
                } else if place == "nowhere" {
                    #expect(unheard >= 30, "\(change) after \(unheard) s unheard")
                    #expect(!isDeaf.contains(true) || deafFor.max() ?? 0 < 6)
                }
            }
        }
        #expect(isPlaced)
    }
}

/// A small generator, so that a failing seed can be repeated (Steele and others, 2014).
private struct SplitMix {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    mutating func chance(_ part: UInt64, in whole: UInt64) -> Bool { next() % whole < part }
}
