import BeaconModel

/// The level that shows that a beacon of a kind is close: the strongest level of such beacons.
///
/// No fixed level in dBm can show that, because transmitters are turned down without changing the power that they
/// claim. But beacons with the same UUID and claimed power usually have the same configuration, and sooner or later one
/// of them comes close to a receiver. Levels are therefore relative to the strongest.
///
/// Beacons that lie on a receiver are outliers. Up to a third of the beacons are left out if they are louder than the
/// next one by more than 6 dB. For regions, no level counts as stronger than the one at one meter. For places, the
/// loudest level counts, because beacons are often louder than they claim.
///
/// A beacon takes part once it was stronger than a beacon that was turned down by 20 dB is at a meter. All levels decay
/// by a decibel per hour in which the kind is heard.
///
/// The numbers were chosen on a recording of six beacons in four rooms, with all readings up to 20 dB lower, with each
/// receiver left out in turn, and with one or two more beacons that lie on a receiver; see `docs/quality.md`.
struct SignalReference {
    /// The decibels below the level within which an advert shows that a beacon is in the receiver's room.
    static let enter: Float = 10

    /// The decibels below the level within which an advert shows that a beacon is still there.
    static let keep: Float = 20

    /// The decibels by which transmitters are turned down without a change of the claimed power.
    private static let prior = 20.0

    /// The decay in decibels per second in which a beacon is heard, and the maximum seconds that count at once.
    private static let decay = 1.0 / 3600
    private static let longestGap = 10.0

    /// The decibels by which a beacon that lies on a receiver is louder than others.
    private static let outlier = 6.0

    /// The maximum number of beacons that take part: a sample of any number.
    private static let capacity = 64

    /// The strongest level of a beacon.
    private struct Peak {
        /// The level in dBm, for finding outliers. It does not decay, so that the last beacon that came close is not an
        /// outlier.
        var level: Double
        /// The level plus the total decay before it.
        var remembered: Double
        var beacon: BeaconIdentity
    }

    private let power: Double

    /// The strongest level that counts.
    private let limit: Double

    /// The beacons that take part, strongest first.
    private var peaks: [Peak] = []
    private var forgotten = 0.0
    private var second: Int64

    /// The strongest level that is not an outlier.
    private var strongest = -Double.infinity

    /// Creates a reference for unheard beacons of this measured power.
    ///
    /// - Parameters:
    ///   - measuredPower: the power in dBm.
    ///   - isLimited: true if no level counts as stronger than the one at one meter.
    ///   - tick: the second.
    init(measuredPower: Int8, isLimited: Bool = true, at tick: Int64 = 0) {
        power = Double(measuredPower)
        limit = isLimited ? power : .infinity
        second = tick / Timestamp.nanosecondsPerSecond
    }

    /// The level in dBm.
    var level: Float { Float(max(power - Self.prior, strongest - forgotten)) }

    /// True once a beacon takes part.
    var isLearned: Bool { !peaks.isEmpty }

    /// Adds the strongest reading of a beacon in a second.
    ///
    /// - Parameters:
    ///   - reading: the reading in dBm.
    ///   - beacon: the beacon.
    ///   - peak: its strongest level until now, which the caller stores; minus infinity at first. It saves a search.
    ///   - tick: the second.
    @inline(__always)
    mutating func hear(_ reading: Float, of beacon: BeaconIdentity, peak: inout Double, at tick: Int64) {
        let now = tick / Timestamp.nanosecondsPerSecond
        forgotten += Self.decay * min(max(Double(now - second), 0), Self.longestGap)
        second = max(second, now)
        let reading = min(Double(reading), limit)
        guard reading + forgotten > peak, reading > power - Self.prior else { return }
        peak = reading + forgotten
        raise(beacon, to: reading)
    }

    /// Sets the strongest level of a beacon, which is above the decayed old one.
    @inline(never)
    private mutating func raise(_ beacon: BeaconIdentity, to level: Double) {
        if peaks.count == Self.capacity, let last = peaks.last, level <= last.level { removeForgotten() }
        if let position = peaks.firstIndex(where: { $0.beacon == beacon }) {
            guard level + forgotten > peaks[position].remembered else { return }
            peaks.remove(at: position)
        } else if peaks.count == Self.capacity {
            // Only the loudest beacons matter.
            guard let last = peaks.last, level > last.level else { return }
            peaks.removeLast()
        }
        let position = peaks.firstIndex { $0.level < level } ?? peaks.count
        peaks.insert(Peak(level: level, remembered: level + forgotten, beacon: beacon), at: position)
        let outliers = (0..<peaks.count / 3).last { peaks[$0].level - peaks[$0 + 1].level > Self.outlier }
        strongest = peaks[(outliers.map { $0 + 1 } ?? 0)...].reduce(-.infinity) { max($0, $1.remembered) }
    }

    /// Removes the beacons whose strongest level has decayed too far.
    private mutating func removeForgotten() { peaks.removeAll { $0.remembered - forgotten <= power - Self.prior } }
}

/// The references of all kinds of beacons.
struct ReferenceTable {
    private struct Key: Hashable {
        var uuid: ProximityUUID
        var measuredPower: Int8
        /// The receiver; nil if one reference serves all receivers.
        var receiver: ReceiverID?
    }

    /// The maximum number of kinds, more than any real fleet has. Further kinds, which can only be invented, count as
    /// heard for the first time.
    private static let capacity = 4096

    private var places: [Key: Int] = [:]
    private var references: [SignalReference] = []

    /// Returns the index of a kind of beacons in the table; nil if there are too many.
    ///
    /// - Parameters:
    ///   - uuid: the UUID of the kind.
    ///   - measuredPower: the power of the kind.
    ///   - receiver: the receiver that hears the beacons; nil if one reference serves all receivers.
    ///   - tick: the second.
    mutating func place(
        of uuid: ProximityUUID, measuredPower: Int8, by receiver: ReceiverID?, at tick: Int64
    ) -> Int? {
        let key = Key(uuid: uuid, measuredPower: measuredPower, receiver: receiver)
        if let place = places[key] { return place }
        guard references.count < Self.capacity else { return nil }
        places[key] = references.count
        references.append(SignalReference(measuredPower: measuredPower, isLimited: receiver != nil, at: tick))
        return references.count - 1
    }

    /// Forgets the signals at a receiver. Its references stay at their indices and start again.
    mutating func forget(_ receiver: ReceiverID, at tick: Int64) {
        for (key, place) in places where key.receiver == receiver {
            references[place] = SignalReference(measuredPower: key.measuredPower, at: tick)
        }
    }

    /// The reference at an index.
    subscript(place: Int) -> SignalReference {
        _read { yield references[place] }
        _modify { yield &references[place] }
    }
}
