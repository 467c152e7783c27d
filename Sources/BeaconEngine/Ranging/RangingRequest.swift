import BeaconModel

/// The engine's identifier of a ranging request. It is never reused.
public struct RangingID: Hashable, Sendable {
    let number: Int32
    let generation: UInt32

    init(_ id: SlotTable<RangingSlot>.ID) {
        number = id.number
        generation = id.generation
    }

    var slot: SlotTable<RangingSlot>.ID { .init(number: number, generation: generation) }
}

/// A ranging request.
struct RangingSlot {
    /// The requested beacons; nil for all.
    let constraint: BeaconConstraint?

    /// The purpose of listing its beacons.
    var purpose = Purpose.reports

    enum Purpose {
        /// Reports each second.
        case reports
        /// Locating the beacons.
        case places
        /// The levels of regions with learned signals.
        case signals
    }
}

/// A beacon on its way into a report, with only the data that sorting needs and its track does not have, because
/// sorting moves it often.
struct RankedBeacon: BitwiseCopyable {
    /// The estimated distance in meters; -1 if it is unknown.
    var accuracy: Double = -1

    /// The number of its track.
    var number: UInt32

    var proximity = Proximity.unknown

    /// The signal in dBm; 0 if it was not heard recently or had no readings.
    var rssi: Int8 = 0

    /// True if its power was measured. It is looked up here while the track is in the cache.
    var isCalibrated = false

    /// True if the receiver that decides about its distance does not hear.
    var isUndecided = false

    init(number: UInt32) { self.number = number }

    /// Removes the distance.
    mutating func withhold() { (accuracy, proximity, rssi, isUndecided) = (-1, .unknown, 0, true) }

    /// A number that sorts near beacons before far ones and unknown distances last. Very similar distances may share
    /// one.
    ///
    /// The bits of non-negative floating-point numbers have the order of the numbers.
    var rank: UInt32 { accuracy < 0 ? .max : Float(accuracy).bitPattern }
}

extension [RankedBeacon] {
    /// The bits of a digit. Three digits make a rank.
    private static var digitBits: Int { 11 }
    private static var digitCount: Int { 3 }

    /// The maximum number of beacons that are sorted by comparison, which has no fixed cost.
    private static var few: Int { 256 }

    /// Sorts by ``RankedBeacon/rank``, and keeps the order of beacons with the same rank.
    ///
    /// Processors cannot predict these comparisons, and a large report would cost more than all of its adverts. The
    /// radix sort compares nothing. It moves keys of a rank and a position, which are half as long as the beacons.
    mutating func sortByRank() {
        guard count > Self.few else { return sort { $0.rank < $1.rank } }
        let list = self
        let digits = 1 << Self.digitBits
        self = withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 2 * list.count) { keys in
            withUnsafeTemporaryAllocation(of: UInt32.self, capacity: Self.digitCount * digits) { places in
                list.withUnsafeBufferPointer { list in Self.sort(list, keys: keys, places: places) }
            }
        }
    }

    /// Returns a list in the order of its ranks.
    ///
    /// - Parameters:
    ///   - list: the list.
    ///   - keys: space for two keys for each beacon.
    ///   - places: space for a number for each value of each digit.
    private static func sort(
        _ list: UnsafeBufferPointer<RankedBeacon>, keys: UnsafeMutableBufferPointer<UInt64>,
        places: UnsafeMutableBufferPointer<UInt32>
    ) -> [RankedBeacon] {
        guard var from = keys.baseAddress, let places = places.baseAddress else { return Array(list) }
        var to = from + list.count
        let digits = 1 << digitBits
        let mask = UInt64(digits - 1)
        places.initialize(repeating: 0, count: digitCount * digits)
        for position in 0..<list.count {
            let rank = UInt64(list[position].rank)
            from[position] = rank << 32 | UInt64(truncatingIfNeeded: position)
            for digit in 0..<digitCount {
                places[digit &* digits &+ Int(truncatingIfNeeded: rank &>> UInt64(digit &* digitBits) & mask)] &+= 1
            }
        }
        for digit in 0..<digitCount {
            let places = places + digit * digits
            var sum: UInt32 = 0
            for value in 0..<digits { (places[value], sum) = (sum, sum &+ places[value]) }
            let shift = UInt64(32 + digit * digitBits)
            for position in 0..<list.count {
                let key = from[position]
                let value = Int(truncatingIfNeeded: key &>> shift & mask)
                to[Int(places[value])] = key
                places[value] &+= 1
            }
            swap(&from, &to)
        }
        return Array(unsafeUninitializedCapacity: list.count) { sorted, count in
            for position in 0..<list.count {
                sorted.initializeElement(
                    at: position, to: list[Int(truncatingIfNeeded: from[position] & 0xFFFF_FFFF)])
            }
            count = list.count
        }
    }
}
