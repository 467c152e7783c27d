import BeaconModel

/// The engine's name for a ranging request. It is never given out twice.
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
    /// The beacons that it is for; nil for all.
    let constraint: BeaconConstraint?

    /// What its beacons are listed for.
    var purpose = Purpose.reports

    enum Purpose {
        /// For reports each second.
        case reports
        /// To be located.
        case places
        /// For the levels of regions whose signal is learnt.
        case signals
    }
}

/// A beacon on its way into a report, with no more than sorting needs and its track does not have, since sorting moves
/// it often.
struct RankedBeacon: BitwiseCopyable {
    /// The estimated distance in metres; -1 where it is unknown.
    var accuracy: Double = -1

    /// The number of its track.
    var number: UInt32

    var proximity = Proximity.unknown

    /// The signal in dBm; 0 where it was not heard of late or without readings.
    var rssi: Int8 = 0

    /// True where its power was measured; it is looked up while the track is at hand.
    var isCalibrated = false

    init(number: UInt32) { self.number = number }

    /// A number by which near beacons come before far ones and unknown distances last, but which very similar distances
    /// may have in common: the bits of floating-point numbers that are not negative are in the order of the numbers.
    var rank: UInt32 { accuracy < 0 ? .max : Float(accuracy).bitPattern }
}

extension [RankedBeacon] {
    /// The bits of a digit, of which three make a rank.
    private static var digitBits: Int { 11 }
    private static var digitCount: Int { 3 }

    /// The most that are sorted by comparing, which has no fixed costs.
    private static var few: Int { 256 }

    /// Sorts by ``RankedBeacon/rank``, and keeps the order of those that have it in common.
    ///
    /// Processors cannot foresee how comparisons come out, and a large report would cost more than all of its adverts.
    /// So it is sorted digit by digit, which compares nothing. Keys of a rank and a position move, half as long as what
    /// they stand for.
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
    ///   - keys: room for two keys for each of its beacons.
    ///   - places: room for a number for each value of each digit.
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
