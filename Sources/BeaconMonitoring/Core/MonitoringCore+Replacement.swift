import BeaconEngine
package import BeaconModel

extension MonitoringCore {
    /// Assigns the number of a removed receiver to a new one. The new receiver starts without the adverts of the old
    /// one, and hears once ``setHearing(_:of:at:)`` is called.
    ///
    /// The other receivers decide about the regions that the old one kept, as after an outage of all: a beacon has left
    /// if none of them hears it within the exit time-out.
    package mutating func reassign(_ receiver: ReceiverID, to name: String) {
        release(receiver)
        setSmoothed(false, of: receiver)
        receiverNames[receiver] = nil
        self.name(receiver, name)
    }

    /// Removes a receiver for good; its number is not reused. The other receivers decide about the regions that it
    /// kept.
    package mutating func retire(_ receiver: ReceiverID) {
        release(receiver)
        setHearing(.lost, of: receiver)
    }

    /// Discards a receiver's adverts, and lets the other receivers decide about the regions that it kept.
    private mutating func release(_ receiver: ReceiverID) {
        setHearing(.interrupted, of: receiver)
        for id in conditions.keys.sorted() where isHeld(id, by: receiver) {
            waitForBeacon(of: id, holder: nil)
            review(id)
        }
        engine.forgetHearing(of: receiver)
    }

    private func isHeld(_ id: ConditionID, by receiver: ReceiverID) -> Bool {
        guard let condition = conditions[id] else { return false }
        switch condition.phase {
        case .settled: return engine.holder(of: condition.engineID) == receiver && condition.region.receiver != receiver
        case .deaf(let holder), .comparing(let holder): return holder == receiver
        }
    }
}
