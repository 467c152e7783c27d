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

    /// A number by which near beacons come before far ones and unknown distances last: the bits of a floating-point number
    /// that is not negative are in the order of their numbers, and whole numbers compare faster.
    var order: UInt64 { accuracy < 0 ? .max : accuracy.bitPattern }

    init(number: UInt32) { self.number = number }
}
