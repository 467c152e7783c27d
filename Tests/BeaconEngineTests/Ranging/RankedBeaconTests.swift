import Testing

@testable import BeaconEngine

struct RankedBeaconTests {
    @Test("Few and many beacons are sorted nearest first and unknown last", arguments: [0, 1, 2, 256, 257, 5000])
    func sorting(count: Int) {
        var list = (0..<count).map { number in
            var beacon = RankedBeacon(number: UInt32(number))
            if !number.isMultiple(of: 7) { beacon.accuracy = .random(in: 0...1000) }
            return beacon
        }
        let wanted = list.map { $0.accuracy < 0 ? Double.infinity : $0.accuracy }.sorted()
        list.sortByRank()
        let found = list.map { $0.accuracy < 0 ? Double.infinity : $0.accuracy }
        // Ranks have the precision of a Float.
        #expect(found.count == wanted.count && zip(found, wanted).allSatisfy { Float($0) == Float($1) })
        #expect(Set(list.map(\.number)).count == count)
    }
}
