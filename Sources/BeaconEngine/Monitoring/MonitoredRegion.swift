public import BeaconModel

/// A region to monitor, and the rules by which it is entered and left.
public struct MonitoredRegion: Hashable, Sendable {
    /// The default of ``exitTimeout``: 30 s, on which the field agrees (peers that used 10 s gave it up, since beacons
    /// lose adverts for longer).
    public static let defaultExitTimeout = Duration.seconds(30)

    /// The number of a beacon's longest regular gaps that pass before an adaptive region counts as left.
    public static let adaptiveFactor = 3

    /// The beacons that belong to the region.
    public var constraint: BeaconConstraint

    /// The one receiver that counts, or nil where all do.
    public var receiver: ReceiverID?

    /// The signal in dBm, at or above which an advert makes a region entered; nil where any does. An advert without a
    /// reading cannot show that it is strong enough, so it enters no region that has a minimum.
    public var minimumRSSI: Int8?

    /// The signal in dBm, at or above which an advert keeps a region from being left; nil where any does. An advert
    /// without a reading does too.
    public var exitRSSI: Int8?

    /// True where the levels that enter and keep the region are learnt at each receiver, from all beacons of its UUID,
    /// in place of ``minimumRSSI`` and ``exitRSSI``: 10 and 20 dB below the strongest that they have had there,
    /// without those that lie on the receiver. Until something is heard, that is taken for 20 dB below what they say
    /// that they have at one metre.
    public var isSignalLearned = false

    /// True where a level that would keep the region enters it: it was inside before an outage.
    package var entersAsKept = false

    /// True where an unknown state waits for an advert, however long it takes: the receiver is deaf whose silence would
    /// say that the region is outside.
    package var ignoresSilence = false

    /// The time for which none of the beacons is heard before the region counts as left, or, if its state is unknown,
    /// as outside. Only time counts in which the receiver hears that heard one last, or, before any has, a receiver
    /// that could hear the region.
    public var exitTimeout: Duration

    /// True where a beacon that is heard rarely gets more time: three times its longest regular gap, if that is more
    /// than ``exitTimeout``. A gap is regular if it is the median of three in a row, and counts for 10.24 s at most,
    /// the longest legal advertising interval.
    public var isExitAdaptive: Bool

    /// A region that any advert enters and keeps.
    public init(
        _ constraint: BeaconConstraint,
        receiver: ReceiverID? = nil,
        minimumRSSI: Int8? = nil,
        exitRSSI: Int8? = nil,
        exitTimeout: Duration = MonitoredRegion.defaultExitTimeout,
        isExitAdaptive: Bool = false
    ) {
        self.constraint = constraint
        self.receiver = receiver
        self.minimumRSSI = minimumRSSI
        self.exitRSSI = exitRSSI
        self.exitTimeout = exitTimeout
        self.isExitAdaptive = isExitAdaptive
    }
}

extension Duration {
    /// The whole nanoseconds, between zero and a century.
    var boundedNanoseconds: Int64 {
        let century: Int64 = 3_155_760_000
        let (seconds, attoseconds) = components
        if seconds < 0 { return 0 }
        if seconds >= century { return century * 1_000_000_000 }
        return max(0, seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
