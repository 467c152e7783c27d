public import BeaconModel

/// An event of the engine.
public enum EngineEvent: Hashable, Sendable {
    /// A region was entered, from outside or from an unknown state: one of its beacons was heard.
    case entered(RegionChange)

    /// A region was left: none of its beacons was heard for long enough.
    case exited(RegionChange)

    /// The state of a region became known without an advert: it is outside.
    case determined(RegionChange)

    /// The report of one second.
    case ranged(RangingReport)

    /// A beacon entered a place, left it, or can no longer be located.
    case placed(PlaceChange)

    /// All located beacons, once a second if ``PlaceMap/reportsEachSecond`` is set.
    case located(Timestamp, [LocatedBeacon])

    /// A beacon has no valid measured power. The event occurs once for each beacon, and for at most
    /// ``UncalibratedBeacon/maximumReports`` beacons a day.
    case uncalibrated(UncalibratedBeacon)
}

/// A beacon without a valid measured power, for which ``IBeaconFrame/defaultMeasuredPower`` is assumed.
public struct UncalibratedBeacon: Hashable, Sendable {
    /// The maximum number of beacons reported in a day: enough to reveal an uncalibrated fleet, few enough for a log.
    public static let maximumReports = 20

    /// The beacon.
    public var identity: BeaconIdentity

    /// The receiver.
    public var receiver: ReceiverID

    /// The reason.
    public var fault: PowerFault

    /// True for the last beacon that is reported in a period of a day.
    public var isLast: Bool
}

/// A change of a region's state.
public struct RegionChange: Hashable, Sendable {
    /// The region.
    public var region: RegionID

    /// The time of the change: that of the advert that entered the region, or the end of the exit time-out.
    public var time: Timestamp

    /// The receiver of the advert that entered the region, or of the last advert that kept it. Nil if no receiver has
    /// heard one since monitoring began.
    public var receiver: ReceiverID?

    /// The state before.
    public var before: RegionState

    /// The beacon whose advert entered the region; nil in any other change.
    public var identity: BeaconIdentity?
}

/// The beacons of a ranging request as one receiver hears them, once a second, even without beacons.
public struct RangingReport: Hashable, Sendable {
    /// The request.
    public var ranging: RangingID

    /// The whole second of the report; adverts up to and including it count.
    public var time: Timestamp

    /// The receiver.
    public var receiver: ReceiverID

    /// The beacons, nearest first, then those of unknown distance.
    public var beacons: [RangedBeacon]
}
