import BeaconModel

extension SuspicionDetector {
    /// The time for which two addresses must be heard in turns, at any receivers.
    ///
    /// A device changes its address once in minutes (Core Specification, Vol 3, Part C, Appendix A: each 15), and
    /// adverts with the old one may arrive late by as long as gateways collect adverts.
    static let addressTime = 30 * second
    /// The maximum number of addresses that are tracked for an identity.
    static let maximumAddresses = 4

    /// Checks the address of an advert.
    mutating func receiveAddress(_ sighting: Sighting, in place: Int) {
        let (time, address) = (sighting.time.nanoseconds, sighting.address)
        guard address.bits != 0 else { return }
        let last = records[place].lastAddress
        let known = KnownAddress(address: address, receiver: sighting.receiver.index, newest: time)
        // Only the bits count: one receiver may report the kind of an address and another may not.
        guard let index = records[place].addresses.firstIndex(where: { $0.address.bits == address.bits }) else {
            if records[place].addresses.count < Self.maximumAddresses {
                records[place].lastAddress = records[place].addresses.count
                records[place].addresses.append(known)
            } else {
                let least = Self.leastKnown(records[place].addresses)
                records[place].addresses[least] = known
                records[place].lastAddress = least
            }
            return
        }
        let before = records[place].addresses[index]
        records[place].addresses[index].newest = max(before.newest, time)
        records[place].addresses[index].receiver = sighting.receiver.index
        guard index != last else { return }
        records[place].lastAddress = index
        // It was heard before the other address, and is heard again, so neither has replaced the other.
        guard time - before.newest <= Self.forgetting else { return }
        records[place].addresses[index].hasReturned = true
        let other = records[place].addresses[last]
        // One receiver may know a phone's key and report another address than its neighbor.
        guard before.isResolvable == other.isResolvable || other.receiver == sighting.receiver.index else { return }
        let turns = records[place].turns?.noting(at: time, within: Self.addressTime) ?? Turns(at: time)
        records[place].turns = turns
        guard turns.reach(Self.leastTurns, at: time, over: Self.addressTime) else { return }
        report(
            Suspicion(
                time: sighting.time, identity: sighting.identity, reason: .addresses,
                first: .init(receiver: ReceiverID(other.receiver), address: other.address),
                second: .init(receiver: sighting.receiver, address: address),
                seconds: Double(time - turns.began) / Double(Self.second)),
            of: place)
    }

    /// Returns the index of the least known address: one that has not returned, and of those the oldest.
    static func leastKnown(_ addresses: [KnownAddress]) -> Int {
        addresses.indices.min {
            let (a, b) = (addresses[$0], addresses[$1])
            return a.hasReturned == b.hasReturned ? a.newest < b.newest : b.hasReturned
        } ?? 0
    }
}
