/// A beacon on its way into a report, with no more than what sorting it needs and what its track does not tell, since
/// sorting moves it often.
struct RankedBeacon: BitwiseCopyable {
    /// The estimated distance in metres; -1 where it cannot be told.
    var accuracy: Double = -1

    /// The number of its track.
    var number: UInt32

    var proximity = Proximity.unknown

    /// In dBm; 0 where it was not heard of late or without readings.
    var rssi: Int8 = 0

    init(number: UInt32) { self.number = number }

    /// A number by which near beacons come before far ones and unknown distances last, but which very similar distances
    /// may have in common: the bits of floating-point numbers that are not negative are in the order of the numbers.
    var rank: UInt32 { accuracy < 0 ? .max : Float(accuracy).bitPattern }
}

extension [RankedBeacon] {
    /// Digits of 11 bits, of which three make a rank.
    private static var digitBits: UInt32 { 11 }

    /// Up to so many are sorted by comparing, which has no fixed costs.
    private static var few: Int { 256 }

    /// Sorts by ``RankedBeacon/rank``.
    ///
    /// Processors cannot foresee how comparisons come out, and a large report would cost more than all of its adverts.
    /// So it is sorted digit by digit, which compares nothing.
    mutating func sortByRank() {
        guard count > Self.few else { return sort { $0.rank < $1.rank } }
        var other = self
        for shift in [0, Self.digitBits, 2 * Self.digitBits] {
            var places = [Int](repeating: 0, count: 1 << Int(Self.digitBits))
            let mask = UInt32(places.count - 1)
            for beacon in self { places[Int(beacon.rank >> shift & mask)] += 1 }
            var sum = 0
            for digit in places.indices {
                (places[digit], sum) = (sum, sum + places[digit])
            }
            for beacon in self {
                let digit = Int(beacon.rank >> shift & mask)
                other[places[digit]] = beacon
                places[digit] += 1
            }
            swap(&self, &other)
        }
    }
}
