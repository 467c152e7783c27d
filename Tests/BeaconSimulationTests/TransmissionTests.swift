import BeaconModel
import Testing

@Suite("Simulated air: times, places and addresses of transmissions")
struct TransmissionTests {
    private func play(_ beacon: String, duration: Double = 100) throws -> Recording {
        try Recording(
            #"""
            {"duration": \#(duration), \#(uuidLine), \#(calm), "receivers": [{"position": [0, 0]}],
             "beacons": [{"position": [1, 0], \#(beacon)}]}
            """#)
    }

    private func gaps(_ recording: Recording) -> [Double] {
        zip(recording.entries, recording.entries.dropFirst()).map { $1.time - $0.time }
    }

    @Test("Adverts have their interval", arguments: [0.02, 0.1, 0.35, 1.285, 10.24])
    func interval(seconds: Double) throws {
        let recording = try play(#""interval": \#(seconds), "jitter": 0"#)
        let gaps = gaps(recording)
        #expect(gaps.count > 5)
        #expect(gaps.allSatisfy { abs($0 - seconds) < 1e-6 })
        #expect((recording.entries.first?.time ?? 100) < seconds)
    }

    @Test("Jitter is added evenly up to its bound")
    func jitter() throws {
        let gaps = gaps(try play(#""interval": 0.1, "jitter": 0.05"#, duration: 1000))
        #expect(gaps.allSatisfy { $0 > 0.1 - 1e-6 && $0 < 0.15 + 1e-6 })
        #expect((gaps.min() ?? 1) < 0.101 && (gaps.max() ?? 0) > 0.149)
        let mean = gaps.reduce(0, +) / Double(gaps.count)
        #expect(abs(mean - 0.125) < 0.001)
    }

    @Test("By default, a beacon sends each 100 ms, plus up to 10 ms as Bluetooth requires")
    func defaults() throws {
        let gaps = gaps(try play(#""minor": 1"#))
        #expect(gaps.allSatisfy { $0 > 0.1 - 1e-6 && $0 < 0.11 + 1e-6 })
        #expect((gaps.max() ?? 0) > 0.109)
    }

    @Test("Beacons start at different times")
    func phases() throws {
        let beacons = (0..<20).map { #"{"minor": \#($0), "position": [1, 0], "interval": 1}"# }.joined(separator: ",")
        let recording = try Recording(
            #"{"duration": 1, \#(uuidLine), \#(calm), "receivers": [{"position": [0, 0]}], "beacons": [\#(beacons)]}"#)
        #expect(Set(recording.entries.map(\.time)).count == 20)
        #expect((recording.entries.first?.time ?? 1) < 0.3 && (recording.entries.last?.time ?? 0) > 0.7)
    }

    @Test("Rotation changes the address at its period and keeps the identity")
    func rotation() throws {
        let recording = try play(#""rotation": 7.5, "minor": 3"#)
        var firsts: [DeviceAddress: Double] = [:]
        var lasts: [DeviceAddress: Double] = [:]
        for entry in recording.entries {
            firsts[entry.address] = firsts[entry.address] ?? entry.time
            lasts[entry.address] = entry.time
        }
        #expect(firsts.count == 14)
        for (turn, first) in firsts.values.sorted().enumerated() {
            #expect(first >= Double(turn) * 7.5 && first < Double(turn) * 7.5 + 0.11)
        }
        // No address is reused.
        #expect(zip(firsts.values.sorted().dropFirst(), lasts.values.sorted()).allSatisfy { $0 > $1 })
        #expect(firsts.keys.allSatisfy { $0.bits >> 46 == 0b01 && $0.kind == .random })
        #expect(Set(recording.entries.map(\.advert)).count == 1)
    }

    @Test("Rotation counts from the first time the beacon is on")
    func rotationStart() throws {
        let recording = try play(#""rotation": 10, "on": [[5, 40]]"#)
        let first = try #require(recording.entries.first)
        #expect(recording.entries.last { $0.address == first.address }.map { $0.time > 14.8 && $0.time < 15 } == true)
    }

    @Test("A beacon without rotation keeps one random static address")
    func staticAddress() throws {
        let addresses = Set(try play(#""minor": 3"#).entries.map(\.address))
        #expect(addresses.count == 1)
        #expect(addresses.allSatisfy { $0.bits >> 46 == 0b11 && $0.kind == .random })
    }

    @Test("Two beacons with one identity have two addresses")
    func twins() throws {
        let recording = try Recording(
            #"""
            {"duration": 5, \#(uuidLine), \#(calm), "receivers": [{"position": [0, 0]}],
             "beacons": [{"position": [1, 0]}, {"position": [1, 0]}]}
            """#)
        #expect(Set(recording.entries.map(\.address)).count == 2)
        #expect(Set(recording.entries.map(\.frame)).count == 1)
    }

    @Test("A given address is used")
    func givenAddress() throws {
        let random = try play(#""address": "c0:00:5E:12:34:56""#).entries.first?.address
        #expect(random == DeviceAddress("c0:00:5e:12:34:56", kind: .random))
        let fixed = try play(#""address": "00:00:5e:12:34:56", "addressKind": "public""#).entries.first?.address
        #expect(fixed == DeviceAddress("00:00:5e:12:34:56", kind: .public))
    }

    @Test("A beacon sends only while it is on")
    func onTimes() throws {
        let recording = try play(#""on": [[10, 20], [30, 30.5], [60, null]]"#)
        let spans = [10.0..<20, 30..<30.5, 60..<100]
        #expect(recording.entries.allSatisfy { entry in spans.contains { $0.contains(entry.time) } })
        for span in spans {
            let times = recording.entries(span).map(\.time)
            #expect((times.first ?? 1000) < span.lowerBound + 0.1)
            #expect((times.last ?? 0) > span.upperBound - 0.11)
        }
        #expect(recording.records.last == 100_000_000_000)
    }

    @Test("A span shorter than the interval may pass without an advert, and the next one is used")
    func shortSpans() throws {
        let recording = try play(#""interval": 10, "on": [[1, 1.001], [50, 100]]"#)
        #expect(recording.entries.contains { $0.time >= 50 })
    }
}
