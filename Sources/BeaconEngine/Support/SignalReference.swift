import BeaconModel

/// The level by which one recognizes that a beacon of a kind is close: the strongest that such beacons have had.
///
/// No level in dBm says that: transmitters are turned down, and what they say of their power stays. But beacons of one
/// UUID that say the same of their power are usually configured alike, and sooner or later one comes close to a
/// receiver. Levels are therefore relative to the strongest.
///
/// Some beacons are no measure for the others, since they lie on a receiver. Up to a third of the beacons are left out
/// that are louder than the next one by more than 6 dB. No level counts as stronger than that at one metre.
///
/// A beacon takes part once it was stronger than one that was turned down by 20 dB is at a metre. All levels are
/// forgotten by a decibel an hour in which the kind is heard.
///
/// The numbers were chosen on a recording of six beacons in four rooms, with all readings up to 20 dB lower, with each
/// receiver left out in turn, and with one or two more beacons that lie on a receiver; see `docs/quality.md`.
struct SignalReference {
    /// The decibels below the level within which an advert shows that a beacon is in the room of the receiver.
    static let enter: Float = 10

    /// The decibels below the level within which it shows that a beacon is still there.
    static let keep: Float = 20

    /// The decibels by which transmitters are turned down without saying so.
    private static let prior = 20.0

    /// The decibels that are forgotten in a second in which a beacon is heard, and the most seconds that count at once.
    private static let decay = 1.0 / 3600
    private static let longestGap = 10.0

    /// The decibels by which a beacon that lies on a receiver is louder than others.
    private static let outlier = 6.0

    /// The beacons that take part at most: a sample of any number.
    private static let capacity = 64

    /// The strongest level of a beacon that takes part.
    private struct Peak {
        /// The level in dBm, which tells outliers. It does not age: the last beacon that comes close is no outlier.
        var level: Double
        /// The level plus the decibels that were forgotten before.
        var remembered: Double
        var beacon: BeaconIdentity
    }

    private let power: Double

    /// The beacons that take part, the strongest first.
    private var peaks: [Peak] = []
    private var forgotten = 0.0
    private var second: Int64

    /// The strongest level that is no outlier.
    private var strongest = -Double.infinity

    /// A reference for beacons of this measured power of which none has been heard.
    init(measuredPower: Int8, at tick: Int64 = 0) {
        power = Double(measuredPower)
        second = tick / Timestamp.nanosecondsPerSecond
    }

    /// The level in dBm.
    var level: Float { Float(max(power - Self.prior, strongest - forgotten)) }

    /// True once a beacon takes part.
    var isLearned: Bool { !peaks.isEmpty }

    /// Takes in the strongest reading of a beacon in a second.
    ///
    /// - Parameters:
    ///   - reading: the reading in dBm.
    ///   - beacon: the beacon.
    ///   - peak: its strongest level so far, which the caller keeps; minus infinity at first. It saves a search.
    ///   - tick: the second.
    @inline(__always)
    mutating func hear(_ reading: Float, of beacon: BeaconIdentity, peak: inout Double, at tick: Int64) {
        let now = tick / Timestamp.nanosecondsPerSecond
        forgotten += Self.decay * min(max(Double(now - second), 0), Self.longestGap)
        second = max(second, now)
        let reading = min(Double(reading), power)
        guard reading + forgotten > peak, reading > power - Self.prior else { return }
        peak = reading + forgotten
        raise(beacon, to: reading)
    }

    /// Sets the strongest level of a beacon, which is above the one that is left of its old one.
    @inline(never)
    private mutating func raise(_ beacon: BeaconIdentity, to level: Double) {
        if peaks.count == Self.capacity, let last = peaks.last, level <= last.level { removeForgotten() }
        if let position = peaks.firstIndex(where: { $0.beacon == beacon }) {
            guard level + forgotten > peaks[position].remembered else { return }
            peaks.remove(at: position)
        } else if peaks.count == Self.capacity {
            // The loudest are the ones that matter.
            guard let last = peaks.last, level > last.level else { return }
            peaks.removeLast()
        }
        let position = peaks.firstIndex { $0.level < level } ?? peaks.count
        peaks.insert(Peak(level: level, remembered: level + forgotten, beacon: beacon), at: position)
        let outliers = (0..<peaks.count / 3).last { peaks[$0].level - peaks[$0 + 1].level > Self.outlier }
        strongest = peaks[(outliers.map { $0 + 1 } ?? 0)...].reduce(-.infinity) { max($0, $1.remembered) }
    }

    /// Removes the beacons of whose strongest level too much was forgotten.
    private mutating func removeForgotten() { peaks.removeAll { $0.remembered - forgotten <= power - Self.prior } }
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
        _read { yield references[place] }
        _modify { yield &references[place] }
    }
}
