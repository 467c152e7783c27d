import BeaconModel
import Testing

@testable import BeaconEngine

struct TrackTableTests {
    private func key(_ number: Int) -> TrackKey {
        TrackKey(
            Sighting(
                time: .zero, receiver: ReceiverID(UInt16(number % 3)),
                address: DeviceAddress(bits: UInt64(number), kind: .random),
                identity: BeaconIdentity(
                    uuid: ProximityUUID(high: 1, low: 2), major: UInt16(number / 100), minor: UInt16(number % 100)),
                measuredPower: -59, rssi: SignalStrength(rawValue: -60)))
    }

    private func track(_ number: Int) -> Track {
        Track(
            key: key(number), lastHeard: Int64(number), matches: .nothing, matchVersion: 0,
            power: PowerClaim(first: -59))
    }

    @Test("The table behaves like a dictionary, for any order of insertions and removals")
    func dictionary() {
        var random = SystemRandomNumberGenerator()
        var table = TrackTable(capacity: 5000, seed: random.next())
        var model: [Int: Int] = [:]
        for _ in 0..<40_000 {
            let number = Int.random(in: 0..<6000, using: &random)
            if let index = model[number] {
                table.remove(index)
                model[number] = nil
            } else if table.count < table.capacity {
                model[number] = table.insert(track(number))
            }
        }
        #expect(table.count == model.count)
        for number in 0..<6000 {
            let found = table.find(key(number))
            #expect(found == model[number])
            if let found {
                #expect(table[found].pointee.lastHeard == Int64(number))
                #expect(!table[found].pointee.isListed)
            }
        }
    }

    @Test("A track has one cache line, its readings eight bytes, and its state between reports half a line")
    func sizes() {
        #expect(MemoryLayout<Track>.stride == 64)
        #expect(MemoryLayout<SampleDigest>.stride == 8)
        #expect(MemoryLayout<TrackLevel>.stride == 24)
        #expect(MemoryLayout<RegionWatch>.stride == 24)
    }
}
