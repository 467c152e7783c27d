/// The places as a beacon stands to them in one second.
struct PlaceStanding {
    /// The level in each place, in dBm; ``silent`` where the beacon is not heard there.
    var levels: [Float]
    /// The number of the receiver that has it; -1 for none.
    var receivers: [Int]
    /// How many receivers of each place hear the beacon.
    var ears: [Int]
    /// The place that leads and the next one; nil where the beacon is heard in none, or in no other.
    var best: Int?
    var second: Int?

    /// The level of a place in which a beacon is not heard, in dBm: weaker than any.
    static let silent: Float = -256

    init(placeCount: Int) {
        levels = Array(repeating: Self.silent, count: placeCount)
        receivers = Array(repeating: -1, count: placeCount)
        ears = Array(repeating: 0, count: placeCount)
    }

    /// Forgets everything.
    mutating func clear() {
        for place in levels.indices { (levels[place], receivers[place], ears[place]) = (Self.silent, -1, 0) }
        (best, second) = (nil, nil)
    }

    /// Takes in the level at a receiver of a place.
    mutating func add(_ level: Float, at receiver: Int, in place: Int) {
        ears[place] += 1
        guard level > levels[place] else { return }
        (levels[place], receivers[place]) = (level, receiver)
    }

    /// Finds the place that leads and the next one. Of equals, the first counts.
    mutating func rank() {
        for place in levels.indices where receivers[place] >= 0 {
            if levels[place] > best.map({ levels[$0] }) ?? -.infinity {
                (best, second) = (place, best)
            } else if levels[place] > second.map({ levels[$0] }) ?? -.infinity {
                second = place
            }
        }
    }
}
