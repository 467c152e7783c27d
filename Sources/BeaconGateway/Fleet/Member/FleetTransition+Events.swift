import BeaconFleet
import BeaconModel

extension FleetTransition {
    /// Returns the id of the event that the transition is: the same on each machine, for ever.
    ///
    /// - Parameter fleet: the fleet's name.
    func eventID(in fleet: String) -> EventID { EventID(hashing: "\(fleet)/\(id)/\(time)") }
}

extension FleetTransition.Region {
    /// The change as destinations get it.
    ///
    /// - Parameter time: its time by the wall clock.
    /// - Returns: the owner and the event; nil where a later version has an owner of another kind.
    func event(at time: Timestamp) -> (owner: ConditionOwner, event: RegionEvent)? {
        guard let owner = ConditionOwner(label: label) else { return nil }
        return (
            owner,
            RegionEvent(
                RegionEvent.Kind(rawValue: kind), name: owner.name, constraint: beacons, time: time, receiver: receiver,
                state: state, before: before, identity: beacon?.identity)
        )
    }
}
