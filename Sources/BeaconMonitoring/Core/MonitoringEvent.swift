package import BeaconModel
package import BeaconRadio

/// The core's identifier of a monitored region or condition. It is never reused.
package struct ConditionID: Hashable, Comparable, Sendable, Codable {
    let number: UInt64

    /// Orders conditions as they were added.
    package static func < (left: ConditionID, right: ConditionID) -> Bool { left.number < right.number }
}

/// The core's identifier of a ranging request. It is never reused.
package struct RangingRequestID: Hashable, Comparable, Sendable, Codable {
    let number: UInt64

    /// Orders requests by their creation.
    package static func < (left: RangingRequestID, right: RangingRequestID) -> Bool { left.number < right.number }
}

/// An event of the core, with its numbers in place of the clients' names.
package enum MonitoringEvent: Sendable {
    /// The state of a condition changed, became known, or can no longer be known.
    case state(ConditionChange)

    /// The report of one second, receiver and request.
    case ranged(RangingRequestReport)

    /// A beacon entered a place, left it, or can no longer be located.
    case placed(PlaceEvent)

    /// The locations of all beacons, once a second.
    case located(LocatingEvent)

    /// The adverts of an identity cannot come from a single device.
    case suspected(SuspicionEvent)

    /// A notice about a beacon for the operator.
    case notice(RadioNotice)
}

/// A change of a condition's state.
package struct ConditionChange: Hashable, Sendable {
    /// The condition.
    package var condition: ConditionID
    /// The kind of change.
    package var kind: RegionEvent.Kind
    /// The new state; unknown while all receivers that could determine it are deaf.
    package var state: RegionState
    /// The last known state, whatever has been published since.
    package var before: RegionState
    /// The time of the change, by the core's clock.
    package var time: Timestamp
    /// The same time by the wall clock, or by the clock of the source file.
    package var wallTime: Timestamp
    /// The receiver that caused the change, or nil.
    package var receiver: ReceiverID?
    /// The beacon whose advert caused the entry; nil for any other change.
    package var identity: BeaconIdentity?
}

/// The beacons of a ranging request as one receiver hears them in one second.
package struct RangingRequestReport: Sendable {
    /// The request.
    package var request: RangingRequestID
    /// The constraint; nil for every beacon.
    package var constraint: BeaconConstraint?
    /// The whole second that the report describes, by the core's clock.
    package var time: Timestamp
    /// The same second by the wall clock, or by the clock of the source file.
    package var wallTime: Timestamp
    /// The receiver.
    package var receiver: ReceiverID
    /// The beacons, nearest first and those of unknown distance last. Their times are by the core's clock.
    package var beacons: [RangedBeacon]
}
