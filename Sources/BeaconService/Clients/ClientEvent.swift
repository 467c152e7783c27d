public import BeaconEngine
public import BeaconModel
public import BeaconRadio

/// What the center tells a client.
public enum ClientEvent: Sendable {
    /// What the application may know is now this; also told once to each new client.
    case authorization(AuthorizationStatus)

    /// The radio can now do this; also told once to each new client, if it is known then.
    case radio(RadioState)

    /// A region is monitored from now on.
    case started(RegisteredRegion)

    /// A region cannot be monitored.
    case monitoringFailed(RegisteredRegion, MonitoringFailure)

    /// A region's state changed, became known, was asked for, or can no longer be known.
    case determined(RegisteredRegion)

    /// A region was entered from outside.
    case entered(RegisteredRegion)

    /// A region was left from inside.
    case exited(RegisteredRegion)

    /// Something that this client watches changed its state, or can or cannot be watched any more.
    case watched(WatchReport)

    /// The beacons that satisfy a constraint, once a second, nearest first and those of unknown distance last; the moment
    /// counts from 1970.
    case ranged(BeaconConstraint, [RangedBeacon], at: Timestamp)

    /// A constraint cannot be ranged at the moment. It will be as soon as the radio works again.
    case rangingFailed(BeaconConstraint, RangingFailure)

    /// Advertising of the client's frame began, or failed to; or, later, the radio cannot go on with it.
    case advertising(Result<Void, RadioError>)
}
