import BeaconModel

/// The strongest signals that the beacons of a kind have had, by which one recognizes that a beacon is close.
///
/// No level in dBm says that: transmitters are turned down, and what they say of their power stays. But beacons of one
/// UUID that say the same of their power are usually configured alike, and sooner or later one comes close to a
/// receiver. All levels are therefore relative to the strongest, which begins at what a beacon would have that was
/// turned down by 20 dB, and is forgotten by a decibel an hour.
///
/// The numbers were chosen on a recording of six beacons in four rooms, also with all readings 6 to 20 dB lower, each
/// beacon and each receiver left out in turn: nearly every time the same were chosen.
struct SignalReference {
    /// The decibels below the strongest within which an advert shows that a beacon is in the room of the receiver.
    static let enter: Float = 10

    /// The decibels below the strongest within which it shows that a beacon is still there.
    static let keep: Float = 20

    /// The decibels by which transmitters are turned down without saying so.
    private static let prior: Float = 20

    /// The decibels that are forgotten in a second in which a beacon is heard, and the most seconds that count at once.
    private static let decay: Float = 1 / 3600
    private static let longestGap: Float = 10

    /// The strongest level in dBm.
    private(set) var level: Float

    /// True once something was heard that was stronger than it could be taken for before.
    private(set) var isLearned = false
    private var second: Int64

    /// A reference for beacons of this measured power of which none has been heard.
    init(measuredPower: Int8, at tick: Int64 = 0) {
        level = Float(measuredPower) - Self.prior
        second = tick / Timestamp.nanosecondsPerSecond
    }

    /// Takes in the strongest reading of a second.
    ///
    /// - Parameters:
    ///   - reading: the reading in dBm. What is stronger than at one metre counts as that: a beacon that is held
    ///     against
    ///     a receiver does not put all others outside.
    ///   - measuredPower: the power of the beacon's kind.
    ///   - tick: the second.
    mutating func hear(_ reading: Float, measuredPower: Int8, at tick: Int64) {
        let now = tick / Timestamp.nanosecondsPerSecond
        let passed = min(max(Float(now - second), 0), Self.longestGap)
        second = max(second, now)
        let power = Float(measuredPower)
        if min(reading, power) > power - Self.prior { isLearned = true }
        level = max(power - Self.prior, level - Self.decay * passed, min(reading, power))
    }
}

/// The references of all kinds of beacons.
struct ReferenceTable {
    private struct Key: Hashable {
        var uuid: ProximityUUID
        var measuredPower: Int8
        /// The receiver; nil where those of all count together.
        var receiver: ReceiverID?
    }

    /// More kinds than anybody has; what invents others is judged as if it were heard for the first time.
    private static let capacity = 4096

    private var places: [Key: Int] = [:]
    private var references: [SignalReference] = []

    /// Returns the place of a kind of beacons in the table; nil where there are too many.
    ///
    /// - Parameters:
    ///   - uuid: their UUID.
    ///   - measuredPower: the power of their kind.
    ///   - receiver: the receiver that hears them; nil where those of all count together.
    ///   - tick: the second.
    mutating func place(
        of uuid: ProximityUUID, measuredPower: Int8, by receiver: ReceiverID?, at tick: Int64
    ) -> Int? {
        let key = Key(uuid: uuid, measuredPower: measuredPower, receiver: receiver)
        if let place = places[key] { return place }
        guard references.count < Self.capacity else { return nil }
        places[key] = references.count
        references.append(SignalReference(measuredPower: measuredPower, at: tick))
        return references.count - 1
    }

    /// Forgets the signals at a receiver. Its references stay in their places and begin again.
    mutating func forget(_ receiver: ReceiverID, at tick: Int64) {
        for (key, place) in places where key.receiver == receiver {
            references[place] = SignalReference(measuredPower: key.measuredPower, at: tick)
        }
    }

    /// The reference at a place.
    subscript(place: Int) -> SignalReference {
        get { references[place] }
        set { references[place] = newValue }
    }
}
