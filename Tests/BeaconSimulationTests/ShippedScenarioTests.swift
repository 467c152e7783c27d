import BeaconModel
import BeaconSimulation
import Testing

@Suite("Shipped scenarios play their stories, with several seeds")
struct ShippedScenarioTests {
    private static let seeds: [UInt64] = Array(1...20)

    private func play(_ name: String, seed: UInt64) throws -> Recording {
        var scenario = try Scenario(named: name)
        scenario.seed = seed
        return try Recording(scenario)
    }

    private func mean(_ entries: [Recording.Entry]) -> Double {
        Double(entries.reduce(0) { $0 + $1.rssi }) / Double(entries.count)
    }

    @Test("There are four, each with its own name and a description")
    func names() throws {
        #expect(Scenario.names == ["department-store", "museum", "point-of-sale", "still"])
        for name in Scenario.names {
            let scenario = try Scenario(named: name)
            #expect(scenario.name == name)
            #expect(!scenario.summary.isEmpty)
            #expect((100...340).contains(scenario.duration))
        }
    }

    @Test("Each has one UUID and the receiver hci0, and stories have other adverts", arguments: Scenario.names)
    func oneUUID(name: String) throws {
        let recording = try play(name, seed: 1)
        #expect(Set(recording.entries.compactMap(\.frame?.identity.uuid)).count == 1)
        #expect(recording.receiverNames == ["hci0"])
        #expect(name == "still" || recording.entries.contains { $0.frame == nil })
    }

    @Test(
        "Museum: each exhibit in turn is the strongest for ten seconds, at a level of half a meter or less",
        arguments: seeds)
    func museum(seed: UInt64) throws {
        let recording = try play("museum", seed: seed)
        var visits: [UInt16] = []
        for second in stride(from: 0.0, to: 240, by: 2) {
            let heard = Dictionary(grouping: recording.entries(second..<second + 2).filter { $0.frame != nil }) {
                ($0.major ?? 0) * 10 + ($0.minor ?? 0)
            }
            guard let strongest = heard.max(by: { mean($0.value) < mean($1.value) }) else { continue }
            if mean(strongest.value) > -59 + 5 { visits.append(strongest.key) }
        }
        let inTurn = visits.indices.filter { $0 == 0 || visits[$0] != visits[$0 - 1] }.map { visits[$0] }
        #expect(inTurn == [11, 12, 21, 22, 31, 32])
        for exhibit in inTurn { #expect(visits.count { $0 == exhibit } >= 5) }
    }

    @Test("Department store: two stores are entered and finally left, and each department is visited", arguments: seeds)
    func departmentStore(seed: UInt64) throws {
        let recording = try play("department-store", seed: seed)
        let beacons = recording.entries.filter { $0.frame != nil }
        let first = beacons.filter { $0.major == 1 }.map(\.time)
        let second = beacons.filter { $0.major == 2 }.map(\.time)
        // Outside at first, and outside again for longer than an exit takes, 30 s.
        #expect((first.first ?? 0) > 5)
        #expect((second.first ?? 0) - (first.last ?? 340) > 31)
        #expect(340 - (second.last ?? 340) > 31)
        for times in [first, second] {
            #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 < 30 })
        }
        for (major, minor) in [(1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (2, 2)] as [(UInt16, UInt16)] {
            let heard = beacons.filter { $0.major == major && $0.minor == minor }
            #expect(heard.contains { $0.rssi > Int($0.frame?.measuredPower ?? 0) + 3 })
        }
    }

    @Test(
        "Point of sale: each customer's phone approaches the counter and leaves, with several addresses",
        arguments: seeds)
    func pointOfSale(seed: UInt64) throws {
        let recording = try play("point-of-sale", seed: seed)
        let stays: [(minor: UInt16, seconds: Range<Double>)] = [(1, 20..<29), (2, 52..<64), (3, 86..<96)]
        for stay in stays {
            let phone = recording.entries.filter { $0.major == 2 && $0.minor == stay.minor }
            #expect(mean(phone.filter { stay.seconds.contains($0.time) }) > -59 + 6)
            #expect(mean(phone.suffix(10)) < -59 - 6)
            #expect(Set(phone.map(\.address)).count >= 2)
            #expect((phone.last?.time ?? 160) < 160 - 31)
        }
        for minor in [1, 2] as [UInt16] {
            let till = recording.entries.filter { $0.major == 1 && $0.minor == minor }
            #expect(Set(till.map(\.address)).count == 3)
            #expect((till.last?.time ?? 0) > 150)
        }
    }
}
