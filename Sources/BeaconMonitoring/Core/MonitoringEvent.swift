package import BeaconModel
package import BeaconRadio

/// The core's name for a region or a condition that it monitors. It is never given out twice.
package struct ConditionID: Hashable, Comparable, Sendable {
    let number: UInt64

    /// Orders conditions as they were added.
    package static func < (left: ConditionID, right: ConditionID) -> Bool { left.number < right.number }
}

/// The core's name for a ranging request. It is never given out twice.
package struct RangingRequestID: Hashable, Comparable, Sendable {
    let number: UInt64

    /// Orders requests as they were made.
    package static func < (left: RangingRequestID, right: RangingRequestID) -> Bool { left.number < right.number }
}

/// An event of the core, with its numbers in place of the names that clients use.
package enum MonitoringEvent: Sendable {
    /// The state of a condition changed, became known, or can no longer be known.
    case state(ConditionChange)

    /// The report of one second, receiver and request.
    case ranged(RangingRequestReport)

    /// A beacon came into a place, left it, or can no longer be located.
    case placed(PlaceEvent)

    /// Where all beacons are, once a second.
    case located(LocatingEvent)

    /// An identity is heard as no single device can be.
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
    /// The state from now on; unknown while no receiver hears that could determine it.
    package var state: RegionState
    /// The state that was known last, whatever has been published since.
    package var before: RegionState
    /// The moment of the change, by the core's clock.
    package var time: Timestamp
    /// The same moment by the wall clock, or by the clock of the file that it comes from.
    package var wallTime: Timestamp
    /// The receiver that caused the change, where one did.
    package var receiver: ReceiverID?
    /// The beacon whose advert entered the region; nil in any other change.
    package var identity: BeaconIdentity?
}

/// The beacons of a ranging request as one receiver hears them in one second.
package struct RangingRequestReport: Sendable {
    /// The request.
    package var request: RangingRequestID
    /// The constraint that is ranged; nil for every beacon.
    package var constraint: BeaconConstraint?
    /// The whole second that the report is for, by the core's clock.
    package var time: Timestamp
    /// The same second by the wall clock, or by the clock of the file that it comes from.
    package var wallTime: Timestamp
    /// The receiver.
    package var receiver: ReceiverID
    /// The beacons, nearest first, those of unknown distance last; when they were last heard is by the core's clock.
    package var beacons: [RangedBeacon]
}
