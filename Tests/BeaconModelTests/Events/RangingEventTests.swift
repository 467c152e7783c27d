import BeaconModel
import Testing

/// Tests of the order of beacons by proximity and distance.
struct RangingEventTests {
    @Test("Proximities are ordered from unknown and far to immediate")
    func proximities() {
        let order = Proximity.allCases.sorted { $0.rank < $1.rank }
        #expect(order == [.unknown, .far, .near, .immediate])
        #expect(Proximity.unknown.rank == 0)
    }

    @Test("The nearer of two beacons has the smaller distance, and an unknown distance is never nearer")
    func distances() {
        let accuracies = [0, 0.25, 1, 40, -1]
        for (place, accuracy) in accuracies.enumerated() {
            for (otherPlace, other) in accuracies.enumerated() {
                #expect(
                    RangedBeacon.isNearer(accuracy, than: other) == (place < otherPlace), "\(accuracy) than \(other)")
            }
        }
        #expect(!RangedBeacon.isNearer(-1, than: -2), "two unknown distances are equal")
    }
}
