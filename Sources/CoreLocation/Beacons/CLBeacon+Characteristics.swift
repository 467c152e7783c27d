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
    /// Up to a metre they are 0.45 and 1.8 times the distance, and from five metres on 0.74 and 2.4 times.
    public var accuracyRange: ClosedRange<CLLocationAccuracy>? { ranged?.accuracyRange }
}
