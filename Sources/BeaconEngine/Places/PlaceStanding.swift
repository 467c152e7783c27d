/// The ranking of places for one beacon in one second.
struct PlaceStanding {
    /// The level in each place, in dBm; ``silent`` if the beacon is not heard there.
    var levels: [Float]
    /// The number of the receiver with that level; -1 for none.
    var receivers: [Int]
    /// The number of receivers in each place that hear the beacon.
    var hearingCounts: [Int]
    /// The leading place and the next one; nil if no place hears the beacon, or no other one does.
    var best: Int?
    var second: Int?

    /// The level in dBm for a place that does not hear the beacon: weaker than any real level.
    static let silent: Float = -256

    init(placeCount: Int) {
        levels = Array(repeating: Self.silent, count: placeCount)
        receivers = Array(repeating: -1, count: placeCount)
        hearingCounts = Array(repeating: 0, count: placeCount)
    }

    /// Clears all levels.
    mutating func clear() {
        for place in levels.indices { (levels[place], receivers[place], hearingCounts[place]) = (Self.silent, -1, 0) }
        (best, second) = (nil, nil)
    }

    /// Adds the level at a receiver of a place.
    mutating func add(_ level: Float, at receiver: Int, in place: Int) {
        hearingCounts[place] += 1
        guard level > levels[place] else { return }
        (levels[place], receivers[place]) = (level, receiver)
    }

    /// Finds the leading place and the next one. Among equals, the first counts.
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
