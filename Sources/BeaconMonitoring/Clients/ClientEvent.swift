package import BeaconApplications
package import BeaconModel
package import BeaconRadio

/// The center's name for a client. It is never given out twice.
package struct ClientID: Hashable, Sendable {
    let number: UInt64
}

/// An event that the center delivers to a client.
package enum ClientEvent: Sendable {
    /// The authorization of the application, and whether a request for another waits for the user; also delivered once
    /// to each new client.
    case authorization(AuthorizationStatus, isAsking: Bool)

    /// The state of the radio; also delivered once to each new client, if it is known then.
    case radio(RadioState)

    /// A region is monitored from now on.
    case started(RegisteredRegion)

    /// A region cannot be monitored.
    case monitoringFailed(RegisteredRegion, MonitoringFailure)

    /// The state of a region changed, became known, or can no longer be known.
    case determined(RegisteredRegion)

    /// The state of a region as this client requested it; unknown where the region is not monitored.
    case answered(RegisteredRegion)

    /// A region was entered from outside.
    case entered(RegisteredRegion)

    /// A region was left from inside.
    case exited(RegisteredRegion)

    /// All that happened while the application did not run has been delivered to this client.
    case missedChangesEnded

    /// A condition of this client changed its state, or came within or beyond the limit.
    case condition(ConditionReport)

    /// The beacons that satisfy a constraint, once a second, nearest first and those of unknown distance last; the
    /// moment counts from 1970.
    case ranged(BeaconConstraint, [RangedBeacon], at: Timestamp)

    /// A constraint cannot be ranged at the moment. It will be as soon as the reason has ended.
    ///
    /// The last value is the request that is answered; nil where the failure concerns all requests for the constraint.
    case rangingFailed(BeaconConstraint, RangingFailure, to: RangingRequester?)

    /// Adverts of all devices that were heard, in order, for a client that scans.
    case heard([HeardAdvert])

    /// Advertising of the client's advert began, or failed to; or, later, the radio cannot go on with it.
    case advertising(Result<Void, RadioError>)

    /// Returns the events of a region whose state is another than before: the state, and unless that was unknown
    /// before, the entry or the exit, if the application wants it.
    static func changes(of region: RegisteredRegion, from before: RegionState) -> [ClientEvent] {
        var events = [ClientEvent.determined(region)]
        guard before != .unknown, before != region.state else { return events }
        if region.state == .inside, region.notifiesOnEntry { events.append(.entered(region)) }
        if region.state == .outside, region.notifiesOnExit { events.append(.exited(region)) }
        return events
    }
}

/// The requester of a constraint to be ranged, each of which has answers of its own.
package enum RangingRequester: Hashable, Sendable {
    /// By the constraint itself.
    case constraint
    /// By a region of this identifier.
    case region(String)
}

/// The reason why a region cannot be monitored.
package enum MonitoringFailure: Error, Hashable, Sendable {
    /// The application monitors as many regions as it may.
    case limitExceeded
    /// The application is not authorized.
    case denied
    /// There is no radio that this process could use.
    case radioUnavailable
}

/// The reason why a constraint cannot be ranged.
package enum RangingFailure: Error, Hashable, Sendable {
    /// The radio is off, is not coming back from a reset, or there is none.
    case radioUnavailable
    /// The application is not authorized.
    case denied
}

/// The state of a condition that a client monitors for itself.
package struct ConditionReport: Hashable, Sendable {
    /// The client's name for the condition.
    package var condition: ClientConditionID

    /// The state; unknown again while no receiver hears that could determine it.
    package var state: RegionState

    /// True where the condition is not monitored at the moment, because the application monitors as many as it may.
    package var isBeyondLimit: Bool

    /// The moment, counted from 1970; nil where the radio has given no time so far.
    package var time: Timestamp?

    /// The beacon whose advert made the state inside; nil in any other state.
    package var identity: BeaconIdentity?
}

/// The center's name for a condition that a client monitors for itself. It is never given out twice.
package struct ClientConditionID: Hashable, Comparable, Sendable {
    let number: UInt64

    /// Orders conditions as they were made.
    package static func < (left: ClientConditionID, right: ClientConditionID) -> Bool { left.number < right.number }
}
