public import BeaconModel

extension Engine {
    /// Forgets the tracks and levels of a receiver, so that another receiver can take its number.
    ///
    /// Its hearing state stays unchanged. No region may be held by it: ``holder(of:)``.
    public mutating func forgetHearing(of receiver: ReceiverID) {
        for number in 0..<tracks.extent where tracks.isInUse(number) && tracks[number].pointee.key.receiver == receiver
        {
            unlist(number)
            remove(number)
        }
        assert(powerDisputes.keys.allSatisfy { tracks.isInUse($0) }, "a dispute outlived its track")
        learned.forget(receiver, at: max(now, 0))
        releaseDistances(of: receiver)
        guard let place = receivers.place(of: receiver) else { return }
        var fresh = ReceiverTable.Receiver(id: receiver)
        (fresh.deafSince, fresh.isDoubted) = (receivers[place].deafSince, receivers[place].isDoubted)
        receivers[place] = fresh
    }
}
