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
}
