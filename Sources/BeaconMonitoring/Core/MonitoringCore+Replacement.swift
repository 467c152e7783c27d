import BeaconEngine
package import BeaconModel

extension MonitoringCore {
    /// Gives the number of a receiver that is gone to another one. It begins with nothing that the other one heard, and
    /// hears once ``setHearing(_:of:at:)`` says so.
    ///
    /// The other receivers decide about the regions that it kept, as after an outage of all: a beacon has left if none
    /// of them hears it within the exit time-out.
    package mutating func reassign(_ receiver: ReceiverID, to name: String) {
        release(receiver)
        setSmoothed(false, of: receiver)
        receiverNames[receiver] = nil
        self.name(receiver, name)
    }

    /// Takes in that a receiver is gone for good, and that its number will not be used again. The other receivers
    /// decide about the regions that it kept.
    package mutating func retire(_ receiver: ReceiverID) {
        release(receiver)
        setHearing(.lost, of: receiver)
    }

    /// Forgets what a receiver has heard, and has the others decide about the regions that it kept.
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
