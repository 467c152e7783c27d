/// The numbers of adverts that a flood has sent.
struct FloodCounts: Hashable, Sendable {
    var foreign = 0
    var beacons = 0
}
