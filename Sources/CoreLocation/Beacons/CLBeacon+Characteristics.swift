internal import BeaconModel

/// Characteristics of a beacon that Apple's documentation mentions but that Apple's `CLBeacon` does not have. Code that
/// must also compile for iOS should use them in a separate file.
extension CLBeacon {
    /// The measured power at one meter in the beacon's adverts, in dBm; nil if it is missing, impossible or changing.
    public var measuredPower: Int? { ranged?.measuredPower }

    /// The usual time between two received adverts of the beacon; nil until two were received. If adverts are lost, it
    /// is longer than the beacon's own interval.
    public var advertisingInterval: Duration? { ranged?.advertisingInterval }

    /// The range around ``accuracy`` that contains the real distance in about 68 % of all cases, in meters; nil if
    /// unknown.
    ///
    /// For example, the range is 0.2 to 0.8 m for 0.3 m, 0.7 to 2.3 m for 1 m, 1.7 to 5.8 m for 3 m, and 3 to 15 m for
    /// 10 m. It is wider if the beacon's power at one meter is unknown. From 20 m on, the upper end is infinite: the
    /// signal only shows that the beacon is farther away than the lower end.
    public var accuracyRange: ClosedRange<CLLocationAccuracy>? { ranged?.accuracyRange }
}
