internal import BeaconModel

/// The characteristics of a beacon that Apple's documents name and `CLBeacon` does not have there. Code that is to
/// compile for iOS too asks for them in a file of its own.
extension CLBeacon {
    /// The signal at one metre that the beacon's adverts give, in dBm; nil if it is missing, impossible or changing.
    public var measuredPower: Int? { ranged?.measuredPower }

    /// The usual time between two of the beacon's adverts that were heard; nil until there were two. Where adverts are
    /// lost, it is longer than the beacon's own interval.
    public var advertisingInterval: Duration? { ranged?.advertisingInterval }

    /// The distances in metres between which the beacon is in about 68 % of all cases, around ``accuracy``; nil where
    /// that is not known.
    ///
    /// They are those of a signal 7 dB stronger and weaker: from about half to twice the distance.
    public var accuracyRange: ClosedRange<CLLocationAccuracy>? { ranged?.accuracyRange }
}
