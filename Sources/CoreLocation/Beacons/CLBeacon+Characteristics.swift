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
    /// Up to a meter, the range is 0.45 to 1.8 times the distance; from five meters, it is 0.74 to 2.4 times.
    public var accuracyRange: ClosedRange<CLLocationAccuracy>? { ranged?.accuracyRange }
}
