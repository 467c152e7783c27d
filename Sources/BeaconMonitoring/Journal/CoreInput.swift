package import BeaconEngine
package import BeaconModel

/// A call of a ``MonitoringCore`` that changes what it does, other than adverts and time.
///
/// A journal keeps these calls between the adverts. Adverts alone do not give the past again: an outage, a new plan or
/// a step of the wall clock changes what follows from them.
package enum CoreInput: Hashable, Codable, Sendable {
    case monitor(ConditionID, MonitoredRegion, assuming: RegionState, heldBy: ReceiverID?, owner: String)
    /// Another name of a condition's owner.
    case own(ConditionID, String)
    case forget(ConditionID)
    case range(RangingRequestID, BeaconConstraint?)
    case stopRanging(RangingRequestID)
    case add(ReceiverID)
    case hear(ReceiverID, MonitoringCore.Hearing, at: Timestamp?)
    case confirm(ReceiverID, until: Timestamp)
    case smooth(ReceiverID, Bool)
    case skip(ReceiverID, from: Timestamp, to: Timestamp)
    case wallOffset(ReceiverID, Int64)
    /// The name by which plans know a receiver.
    case name(ReceiverID, String)
    /// The name of a receiver in events.
    case title(ReceiverID, String)
    case reassign(ReceiverID, String)
    case retire(ReceiverID)
    case move(ReceiverID, Bool)
    case locate(PlacePlan, [BeaconConstraint?])
    case stopLocating
    case know(BeaconIdentity, place: String?)
    case await([BeaconIdentity])
    case suspect(SuspicionRules, [BeaconConstraint], [String: ReceiverPosition])
    case stopSuspecting
    case position([String: ReceiverPosition])
    case learn(OffsetLearner?)
    case renameOffset(String, String)
    case stopLearning
    /// The beacons whose adverts are recorded from here.
    case record(RecordedBeacons)
    /// The settings that the client of the core decides by. The core does not read them.
    case note(String)
}
