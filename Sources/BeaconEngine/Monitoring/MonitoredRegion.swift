public import BeaconModel

/// A region to monitor, and the rules for entering and leaving it.
public struct MonitoredRegion: Hashable, Sendable, Codable {
    /// The default of ``exitTimeout``: 30 s, on which the field agrees. Peers that used 10 s gave it up, since beacons
    /// lose adverts for longer.
    public static let defaultExitTimeout = Duration.seconds(30)

    /// The number of a beacon's longest regular gaps after which an adaptive region counts as left.
    public static let adaptiveFactor = 3

    /// The beacons that belong to the region.
    public var constraint: BeaconConstraint

    /// The only receiver that counts; nil for all receivers.
    public var receiver: ReceiverID?

    /// The weakest signal in dBm that enters the region; nil for any. An advert without a reading enters no region that
    /// has a minimum.
    public var minimumRSSI: Int8?

    /// The weakest signal in dBm that keeps the region from being left; nil for any. An advert without a reading keeps
    /// it too.
    public var exitRSSI: Int8?

    /// True if the engine learns the levels that enter and keep the region at each receiver, from all beacons of its
    /// UUID. They replace ``minimumRSSI`` and ``exitRSSI``.
    ///
    /// The levels are 10 and 20 dB below the strongest level at that receiver, without beacons that lie on the
    /// receiver. Until a beacon is heard, the strongest level is assumed to be 20 dB below the claimed power at one
    /// meter.
    public var isSignalLearned = false

    /// True if a level that would keep the region also enters it: it was inside before an outage.
    package var entersAsKept = false

    /// True if an unknown state waits for an advert, however long that takes, because the receiver whose silence would
    /// decide is deaf.
    package var ignoresSilence = false

    /// The time without an advert after which the region counts as left or, if its state is unknown, as outside.
    ///
    /// Only the time counts during which the receiver of the last advert hears. Before any advert, it is the time
    /// during which any receiver hears that could hear the region.
    public var exitTimeout: Duration

    /// True if a beacon that is rarely heard gets more time: three times its longest regular gap, if that is more than
    /// ``exitTimeout``.
    ///
    /// A gap is regular if it is the median of three in a row. It counts for at most 10.24 s, the longest legal
    /// advertising interval.
    public var isExitAdaptive: Bool

    /// Creates a region that any advert enters and keeps.
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
