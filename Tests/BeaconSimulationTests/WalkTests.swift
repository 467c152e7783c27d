import BeaconModel
import Testing

@Suite("Simulated air: walking people")
struct WalkTests {
    /// Plays a walk past beacons at the given x on the line y = 0, and returns the times when each is strongest.
    private func nearestTimes(_ person: String, beaconsAt places: [Double], duration: Double = 100) throws -> [Double] {
        let beacons = places.indices.map { #"{"minor": \#($0), "position": [\#(places[$0]), 0]}"# }
        let recording = try Recording(
            #"""
            {"duration": \#(duration), \#(uuidLine), \#(calm), "people": [{"name": "walker", \#(person)}],
             "receivers": [{"carriedBy": "walker"}], "beacons": [\#(beacons.joined(separator: ","))]}
            """#)
        return places.indices.map { index in
            let heard = recording.entries.filter { $0.minor == UInt16(index) }
            let strongest = heard.map(\.rssi).max()
            let times = heard.filter { $0.rssi == strongest }.map(\.time)
            return times.reduce(0, +) / Double(times.count)
        }
    }

    private func expect(_ times: [Double], near expected: [Double], within tolerance: Double = 0.2) {
        #expect(times.count == expected.count)
        for (time, wanted) in zip(times, expected) { #expect(abs(time - wanted) < tolerance) }
    }

    @Test("A person passes beacons at the configured speed")
    func speed() throws {
        let times = try nearestTimes(#""speed": 2, "walk": [[0, 0], [100, 0]]"#, beaconsAt: [10, 40, 90])
        expect(times, near: [5, 20, 45])
    }

    @Test("By default, people walk 1.4 meters per second")
    func defaultSpeed() throws {
        expect(try nearestTimes(#""walk": [[0, 0], [100, 0]]"#, beaconsAt: [14, 70]), near: [10, 50])
    }

    @Test("A leg may have a separate speed, and pauses delay the walk")
    func pauses() throws {
        let walk =
            #""speed": 1, "walk": [{"to": [0, 0], "pause": 5}, {"to": [10, 0], "pause": 20}, {"to": [50, 0], "speed": 4}, [60, 0]]"#
        // At 10 from 15 to 35 s; at 50 at 45 s; at 55 at 50 s.
        expect(try nearestTimes(walk, beaconsAt: [5, 10, 30, 55]), near: [10, 25, 40, 50])
    }

    @Test("A leg may have an arrival time")
    func arrivals() throws {
        let walk = #""walk": [[0, 0], {"to": [20, 0], "arrive": 40}, {"to": [30, 0], "arrive": 60}]"#
        expect(try nearestTimes(walk, beaconsAt: [10, 25]), near: [20, 50])
    }

    @Test("A repeated walk returns to its start and begins again")
    func repetition() throws {
        let recording = try Recording(
            #"""
            {"duration": 100, \#(uuidLine), \#(calm),
             "people": [{"name": "walker", "speed": 1, "repeat": true, "walk": [[0, 0], [10, 0]]}],
             "receivers": [{"position": [10, 0]}], "beacons": [{"carriedBy": "walker"}]}
            """#)
        let strongest = try #require(recording.entries.map(\.rssi).max())
        let visits = recording.entries.filter { $0.rssi == strongest }.map { Int($0.time / 20) }
        #expect(Set(visits) == [0, 1, 2, 3, 4])
        #expect(recording.entries(19.9..<20.1).allSatisfy { abs($0.rssi + 79) <= 1 })
    }

    @Test("A repeated walk with a single place stands still")
    func standing() throws {
        let recording = try Recording(
            #"""
            {"duration": 10, \#(uuidLine), \#(calm),
             "people": [{"name": "walker", "repeat": true, "walk": [[1, 0]]}],
             "receivers": [{"position": [0, 0]}], "beacons": [{"carriedBy": "walker"}]}
            """#)
        #expect(Set(recording.entries.map(\.rssi)) == [-59])
    }

    @Test("Things that one person carries stay together")
    func carriedTogether() throws {
        let recording = try Recording(
            #"""
            {"duration": 30, \#(uuidLine), \#(calm),
             "people": [{"name": "walker", "bodyLoss": 9, "walk": [[0, 0], [50, 0]]}],
             "receivers": [{"carriedBy": "walker"}], "beacons": [{"carriedBy": "walker", "measuredPower": -80}]}
            """#)
        // The minimum distance is ten centimeters.
        #expect(Set(recording.entries.map(\.rssi)) == [-60])
    }
}
