import BeaconModel
import BeaconRadio
import BeaconSimulation
import Testing

@Suite("Simulated air: determinism, time and counting")
struct SimulatedAirTests {
    @Test("The same seed gives the same adverts", arguments: Scenario.names)
    func sameSeed(name: String) throws {
        let scenario = try Scenario(named: name)
        let first = try Recording(scenario)
        let second = try Recording(scenario)
        #expect(first.entries == second.entries)
        #expect(first.records == second.records)
    }

    @Test("Another seed gives other adverts", arguments: Scenario.names)
    func anotherSeed(name: String) throws {
        var scenario = try Scenario(named: name)
        let first = try Recording(scenario)
        scenario.seed += 1
        let second = try Recording(scenario)
        #expect(first.entries.map(\.rssi) != second.entries.map(\.rssi))
        #expect(first.records != second.records)
        #expect(Set(first.entries.map(\.address)).isDisjoint(with: second.entries.map(\.address)))
    }

    /// The values of an old run, which each process and each machine must reproduce.
    @Test("A seed means the same in every process")
    func sameInEveryProcess() throws {
        let recording = try Recording(
            #"""
            {"duration": 2, "seed": 42, \#(uuidLine), "receivers": [{"position": [0, 0]}],
             "beacons": [{"position": [3, 0], "interval": 0.2}]}
            """#)
        #expect(recording.entries.map(\.address.description) == Array(repeating: "c3:78:b2:02:ed:2c", count: 3))
        #expect(recording.entries.map(\.rssi) == [-65, -66, -69])
        let times = recording.entries.map { Int64(($0.time * 1e9).rounded()) }
        #expect(times == [1_215_487_834, 1_421_167_907, 1_831_078_698])
    }

    @Test("An additional beacon does not change the others' adverts")
    func independence() throws {
        func play(_ more: String) throws -> [Recording.Entry] {
            try Recording(
                #"""
                {"duration": 20, \#(uuidLine), "receivers": [{"position": [0, 0]}],
                 "beacons": [\#(more) {"minor": 7, "position": [3, 0]}]}
                """#
            ).entries.filter { $0.minor == 7 }
        }
        let alone = try play("")
        #expect(alone.count > 50)
        #expect(try play(#"{"minor": 1, "position": [1, 0]}, {"minor": 2, "position": [2, 2]},"#) == alone)
    }

    @Test("Time starts at 1 700 000 000, never runs backward and ends with the scenario", arguments: Scenario.names)
    func time(name: String) throws {
        let scenario = try Scenario(named: name)
        #expect(ScenarioSource.start.seconds == 1_700_000_000)
        let recording = try Recording(scenario)
        #expect(zip(recording.records, recording.records.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(zip(recording.entries, recording.entries.dropFirst()).allSatisfy { $0.time <= $1.time })
        #expect((recording.records.first ?? -1) >= 0)
        #expect(recording.records.last == Int64(scenario.duration * 1e9))
    }

    @Test("In silence, time passes in steps of a second, without packets")
    func silence() throws {
        let recording = try Recording(#"{"duration": 3.5, "receivers": [{"position": [0, 0]}]}"#)
        #expect(recording.records == [1_000_000_000, 2_000_000_000, 3_000_000_000, 3_500_000_000])
        #expect(recording.counts == SourceCounts())
    }

    @Test("Packets count transmissions, and reports count received adverts")
    func counts() throws {
        let recording = try Recording(
            #"""
            {"duration": 10, \#(uuidLine), \#(calm),
             "receivers": [{"position": [0, 0]}, {"name": "far", "position": [5000, 0]}, {"position": [0, 1]}],
             "beacons": [{"position": [1, 0], "interval": 0.5, "jitter": 0}]}
            """#)
        #expect(recording.receiverNames == ["hci0", "far", "hci2"])
        #expect(recording.counts.packets == 20)
        #expect(recording.counts.reports == 40)
        #expect(recording.entries.map(\.receiver) == Array(repeating: [0, 2], count: 20).flatMap { $0 })
    }

    @Test("An error of deliver is passed on, and ends the source")
    func deliverThrows() throws {
        struct Stop: Error {}
        var air = ScenarioSource(try Scenario(named: "museum"))
        #expect(throws: Stop.self) {
            while try air.next({ _, _ in throw Stop() }) != nil {}
        }
        #expect(try air.next({ _, _ in }) == nil)
    }

    @Test("An advert is an iBeacon frame as real beacons send it")
    func advert() throws {
        let recording = try Recording(
            #"""
            {"duration": 1, \#(uuidLine), \#(calm), "receivers": [{"position": [0, 0]}],
             "beacons": [{"major": 258, "minor": 772, "measuredPower": -65, "powerOffset": 5, "position": [1, 0]}]}
            """#)
        let entry = try #require(recording.entries.first)
        let identity = BeaconIdentity(
            uuid: try #require(ProximityUUID("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0")), major: 258, minor: 772)
        #expect(entry.advert == IBeaconFrame(identity: identity, measuredPower: -65).advert)
        #expect(entry.kind == .nonConnectable)
        #expect(entry.rssi == -60)
    }

    @Test("Crowds send adverts of several kinds, and no iBeacons")
    func crowds() throws {
        let recording = try Recording(
            #"""
            {"duration": 60, \#(calm), "receivers": [{"position": [0, 0]}],
             "crowds": [{"count": 60, "area": [[-5, -5], [5, 5]], "rotation": 20}]}
            """#)
        #expect(recording.entries.allSatisfy { $0.frame == nil && $0.advert.count <= 31 && $0.kind == .connectable })
        // The types and companies that a decoder sees.
        #expect(Set(recording.entries.map { Array($0.advert.dropFirst(3).dropFirst().prefix(5)) }).count >= 6)
        // In 60 s, each phone has three or four addresses, and a separate advert for each.
        let addresses = Set(recording.entries.map(\.address))
        #expect((180...240).contains(addresses.count))
        #expect(addresses.allSatisfy { $0.bits >> 46 == 0b01 && $0.kind == .random })
        for entry in recording.entries {
            var cursor = AdvertisingStructureCursor()
            var end = 0
            while let structure = cursor.next(in: entry.advert.span.bytes) { end = structure.offset + structure.count }
            #expect(end == entry.advert.count)
        }
    }
}
