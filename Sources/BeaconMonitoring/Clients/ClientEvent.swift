package import BeaconApplications
package import BeaconModel
package import BeaconRadio

/// The center's identifier for a client. It is never reused.
package struct ClientID: Hashable, Sendable {
    let number: UInt64
}

/// An event that the center delivers to a client.
package enum ClientEvent: Sendable {
    /// The authorization of the application, and whether another request waits for the user; also delivered once to
    /// each new client.
    case authorization(AuthorizationStatus, isAsking: Bool)

    /// The state of the radio; also delivered once to each new client if it is known.
    case radio(RadioState)

    /// The obstacles that the authorization does not show; also delivered once to each new client if there are any.
    case limits(UsageLimits)

    /// Monitoring of a region has started.
    case started(RegisteredRegion)

    /// A region cannot be monitored.
    case monitoringFailed(RegisteredRegion, MonitoringFailure)

    /// The state of a region changed, became known, or can no longer be known.
    case determined(RegisteredRegion)

    /// The answer to this client's request for a region's state; unknown if the region is not monitored.
    case answered(RegisteredRegion)

    /// A region was entered from outside.
    case entered(RegisteredRegion)

    /// A region was left from inside.
    case exited(RegisteredRegion)

    /// All changes that happened while the application did not run have been delivered to this client.
    case missedChangesEnded

    /// A condition of this client changed its state, or came within or beyond the limit.
    case condition(ConditionReport)

    /// The beacons that satisfy a constraint, once a second, nearest first and those of unknown distance last, with the
    /// time since 1970.
    case ranged(BeaconConstraint, [RangedBeacon], at: Timestamp)

    /// A constraint cannot be ranged at present. Ranging resumes when the cause has ended.
    ///
    /// The last value is the request that is answered; nil if the failure concerns all requests for the constraint.
    case rangingFailed(BeaconConstraint, RangingFailure, to: RangingRequester?)

    /// Adverts of all devices that were heard, in order, for a client that scans.
    case heard([HeardAdvert])

    /// Advertising started or failed, or the radio can no longer continue it.
    case advertising(Result<Void, RadioError>)

    /// Returns the events for a region's new state: the state and, if the previous state was known, the entry or exit
    /// that the application wants.
    static func changes(of region: RegisteredRegion, from before: RegionState) -> [ClientEvent] {
        var events = [ClientEvent.determined(region)]
        guard before != .unknown, before != region.state else { return events }
        if region.state == .inside, region.notifiesOnEntry { events.append(.entered(region)) }
        if region.state == .outside, region.notifiesOnExit { events.append(.exited(region)) }
        return events
    }
}

/// The origin of a ranging request. Each origin receives its own answers.
package enum RangingRequester: Hashable, Sendable {
    /// The constraint itself.
    case constraint
    /// A region with this identifier.
    case region(String)
}

/// The reason why a region cannot be monitored.
package enum MonitoringFailure: Error, Hashable, Sendable {
    /// The application monitors the maximum number of regions.
    case limitExceeded
    /// The application is not authorized.
    case denied
    /// The application is not authorized, and monitors the maximum number of regions.
    case deniedBeyondLimit
    /// There is no radio that this process could use.
    case radioUnavailable
}

/// The reason why a constraint cannot be ranged.
package enum RangingFailure: Error, Hashable, Sendable {
    /// The radio is off, stays in a reset, or does not exist.
    case radioUnavailable
    /// The application is not authorized.
    case denied
}

/// The state of a condition that a client monitors for itself.
package struct ConditionReport: Hashable, Sendable {
    /// The client's identifier for the condition.
    package var condition: ClientConditionID

    /// The state; unknown while all receivers that could determine it are deaf.
    package var state: RegionState

    /// True if the condition is not monitored at present, because the application monitors the maximum number.
    package var isBeyondLimit: Bool

    /// The time, counted from 1970; nil if the radio has not given a time yet.
    package var time: Timestamp?

    /// The beacon that made the state inside; nil in any other state.
    package var identity: BeaconIdentity?
}

/// The center's identifier for a condition that a client monitors. It is never reused.
package struct ClientConditionID: Hashable, Comparable, Sendable {
    let number: UInt64

    /// Orders conditions by their creation.
    package static func < (left: ClientConditionID, right: ClientConditionID) -> Bool { left.number < right.number }
}
