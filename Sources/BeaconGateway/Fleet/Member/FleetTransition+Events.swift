import BeaconDelivery
import BeaconFleet
import BeaconModel

extension FleetTransition {
    /// Returns the id of the transition's event. It is the same on each machine, and never changes.
    ///
    /// - Parameter fleet: the fleet's name.
    func eventID(in fleet: String) -> EventID { EventID(hashing: "\(fleet)/\(id)/\(time)") }
}

extension FleetTransition.Region {
    /// Returns the change in the form that destinations receive.
    ///
    /// - Parameter time: its time by the wall clock.
    /// - Returns: the owner and the event; nil if a later version has an owner of an unknown kind.
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
