public import BeaconModel

/// What to watch for, and when to say that it came or went.
public struct MonitoredRegion: Hashable, Sendable {
    /// How long none of a region's beacons is heard before it counts as left: 30 s, on which the field agrees (peers
    /// that used 10 s gave it up, since beacons lose adverts for longer).
    public static let defaultExitTimeout = Duration.seconds(30)

    /// How many of a beacon's longest gaps pass before an adaptive region counts as left.
    public static let adaptiveFactor = 3

    /// Which beacons belong to the region.
    public var constraint: BeaconConstraint

    /// The one receiver that counts, or nil where all do.
    public var receiver: ReceiverID?

    /// The signal in dBm, at or above which an advert makes a region entered; nil where any does. An advert without a
    /// reading cannot show that it is strong enough, so with a minimum it does not.
    public var minimumRSSI: Int8?

    /// The signal in dBm, at or above which an advert keeps a region from being left; nil where any does. An advert
    /// without a reading does too.
    public var exitRSSI: Int8?

    /// How long none of the beacons is heard before the region counts as left.
    public var exitTimeout: Duration

    /// Whether a beacon that is heard rarely gets more time: three times its longest gap, if that is more than
    /// ``exitTimeout``.
    public var isExitAdaptive: Bool

    /// After how long without a match a region of unknown state counts as outside, from when monitoring began; nil where
    /// it stays unknown. Core Location's regions need it (10 s), others do not.
    public var outsideAfter: Duration?

    /// A region that any advert enters and keeps.
    public init(
        _ constraint: BeaconConstraint,
        receiver: ReceiverID? = nil,
        minimumRSSI: Int8? = nil,
        exitRSSI: Int8? = nil,
        exitTimeout: Duration = MonitoredRegion.defaultExitTimeout,
        isExitAdaptive: Bool = false,
        outsideAfter: Duration? = nil
    ) {
        self.constraint = constraint
        self.receiver = receiver
        self.minimumRSSI = minimumRSSI
        self.exitRSSI = exitRSSI
        self.exitTimeout = exitTimeout
        self.isExitAdaptive = isExitAdaptive
        self.outsideAfter = outsideAfter
    }
}
