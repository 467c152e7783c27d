import BeaconModel

/// The smoothed level of a beacon at a receiver, for lists that are sorted by strength.
struct HeardLevel: Comparable {
    /// The share of a new reading: enough that a beacon that is moved close rises within a second or two.
    private static let weight = 0.3

    /// In dBm; nil before the first reading.
    private var smoothed: Double?

    /// The level in whole dBm; nil before the first reading.
    var dBm: Int? { smoothed.map { Int($0.rounded()) } }

    /// Adds a reading. One without a strength changes nothing.
    mutating func hear(_ rssi: SignalStrength) {
        guard let reading = rssi.dBm.map(Double.init) else { return }
        let before = smoothed ?? reading
        smoothed = before + (reading - before) * Self.weight
    }

    /// A level before the first reading is the weakest.
    static func < (one: HeardLevel, other: HeardLevel) -> Bool {
        (one.smoothed ?? -.infinity) < (other.smoothed ?? -.infinity)
    }
}
