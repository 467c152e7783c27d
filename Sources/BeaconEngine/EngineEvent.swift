public import BeaconModel

/// An event of the engine.
public enum EngineEvent: Hashable, Sendable {
    /// A region was entered, from outside or from a state that was unknown: a beacon of it is there.
    case entered(RegionChange)

    /// A region was left: none of its beacons was heard for long enough.
    case exited(RegionChange)

    /// A region's state became known although no beacon came or went: it is outside.
    case determined(RegionChange)

    /// The report of one second.
    case ranged(RangingReport)

    /// A beacon came into a place, left it, or can no longer be located.
    case placed(PlaceChange)

    /// All beacons that are located, once a second where ``PlaceMap/reportsEachSecond`` asks for it.
    case located(Timestamp, [LocatedBeacon])

    /// A beacon has no valid measured power. The event comes once for each beacon, and for at most
    /// ``UncalibratedBeacon/mostReports`` beacons a day.
    case uncalibrated(UncalibratedBeacon)
}

/// A beacon without a valid measured power, for which ``IBeaconFrame/defaultMeasuredPower`` is assumed.
public struct UncalibratedBeacon: Hashable, Sendable {
    /// The most beacons that are reported in a day: enough to see that a fleet is not calibrated, few enough for a log.
    public static let mostReports = 20

    /// The beacon.
    public var identity: BeaconIdentity

    /// The receiver.
    public var receiver: ReceiverID

    /// The reason.
    public var fault: PowerFault

    /// True for the last beacon that is reported for a day.
    public var isLast: Bool
}

/// A change of a region's state.
public struct RegionChange: Hashable, Sendable {
    /// The region.
    public var region: RegionID

    /// The time of the change: the advert that entered, or the moment at which the time to be heard again ran out.
    public var time: Timestamp

    /// The receiver of the advert that entered, or of the last that kept the region from being left.
    /// Nil where no receiver heard one since monitoring began.
    public var receiver: ReceiverID?

    /// The state before.
    public var before: RegionState

    /// The beacon whose advert entered the region; nil in any other change.
    public var identity: BeaconIdentity?
}

/// The beacons of a ranging request as one receiver hears them, once a second, also when there are none.
public struct RangingReport: Hashable, Sendable {
    /// The request.
    public var ranging: RangingID

    /// The whole second that the report is for; adverts up to and including it count.
    public var time: Timestamp

    /// The receiver.
    public var receiver: ReceiverID

    /// The beacons, nearest first, those of unknown distance last.
    public var beacons: [RangedBeacon]
}
