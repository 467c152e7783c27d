import BeaconModel

// The nearest receiver decides about a beacon's distance. While that receiver does not hear, the others must not speak
// for it: a beacon that lies beside it would be far. So the beacon then has no distance in any report.
//
// No advert passes through here. A second in which all receivers hear costs a look at each receiver, and any other
// second a walk over the listed beacons.

/// The distance of a beacon at the receiver that decided about it and does not hear at present.
struct HeldDistance {
    /// The index of the receiver.
    var place: Int

    /// The last distance in meters.
    var distance: Double

    /// True if the receiver was deaf, and not only in doubt.
    var wasDeaf: Bool

    /// The time at which the other receivers decide, in nanoseconds; nil until the receiver hears again.
    var end: Int64?

    /// The time at which a nearer receiver took over, in nanoseconds. Receivers that are silent since then or longer
    /// no longer decide about the beacon.
    var takenOver = Int64.min

    /// True once a nearer receiver decides. It stays in the table for ``takenOver``, until all receivers hear.
    var isReleased = false
}

extension Engine {
    /// The time in which a receiver that was in doubt must list a beacon again before the other receivers decide.
    /// Doubts are frequent, and nearly always the receiver has heard all the time.
    private static var endOfDoubt: Int64 { 3 * Timestamp.nanosecondsPerSecond }

    /// Holds the distances of the beacons whose receivers do not hear in a second. Releases those whose receivers list
    /// the beacon again, or have heard long enough without it. Call it before the second's readings are taken.
    mutating func holdDistances(at tick: Int64) {
        let silentSince = (0..<receivers.count).map { receivers[$0].deafness(at: tick) }
        let allHear = !silentSince.contains { $0 != nil }
        guard !heldDistances.isEmpty || !allHear else { return }
        for (identity, held) in heldDistances {
            if held.isReleased {
                if allHear { heldDistances[identity] = nil }
            } else if silentSince[held.place] == nil {
                let end = held.end ?? tick + (held.wasDeaf ? Self.goneAfter : Self.endOfDoubt)
                heldDistances[identity]?.end = end
                if tick >= end { heldDistances[identity] = nil }
            } else if held.end.map({ $0 < tick }) == true, !receivers[held.place].isDeaf(at: tick) {
                // It has listed the beacon in the doubt.
                heldDistances[identity] = nil
            } else if receivers[held.place].isDeaf(at: tick) {
                heldDistances[identity]?.end = nil
            }
        }
        for number in listed.map(Int.init) {
            let key = tracks[number].pointee.key
            guard let place = receivers.place(of: key.receiver), receivers[place].isRanging else { continue }
            let isDeaf = receivers[place].isDeaf(at: tick)
            if !isDeaf, isCurrent(number, at: tick) {
                // The other receivers decide from the next second on. Their reports of this one may come first.
                if heldDistances[key.identity]?.place == place { heldDistances[key.identity]?.end = tick }
            } else if let since = silentSince[place], isCurrent(number, at: since),
                let level = tracks.level(number).pointee.filter.level
            {
                let held = HeldDistance(
                    place: place, distance: distance(of: number, level: level, at: place), wasDeaf: isDeaf)
                hold(held, since: since, of: key.identity)
            }
        }
    }

    private mutating func hold(_ new: HeldDistance, since: Int64, of identity: BeaconIdentity) {
        var new = new
        if let old = heldDistances[identity] {
            guard since > old.takenOver else { return }
            new.takenOver = old.takenOver
            if !old.isReleased {
                // A doubt that continues does not begin again.
                guard old.place != new.place || new.wasDeaf else { return }
                guard old.place == new.place || new.distance < old.distance else { return }
            }
        } else if heldDistances.count >= tracks.capacity {
            // Adverts with invented identities must not fill the memory.
            return
        }
        heldDistances[identity] = new
    }

    /// Returns true if a listed beacon has a distance at a time.
    private func isCurrent(_ number: Int, at time: Int64) -> Bool {
        time - tracks[number].pointee.lastHeard < unknownAfter(tracks[number].pointee.interval)
            && (tracks.level(number).pointee.filter.level != nil || tracks.digest(number).pointee.mean != nil)
    }

    /// Returns true if a beacon's distance at a receiver does not count, because a silent receiver decides about the
    /// beacon. A nearer distance counts, and its receiver decides from then on.
    ///
    /// - Parameters:
    ///   - distance: the distance in meters; negative if it is unknown.
    ///   - place: the index of the receiver.
    ///   - tick: the time of the report, in nanoseconds.
    @inline(never)
    mutating func isHeld(_ identity: BeaconIdentity, _ distance: Double, by place: Int, at tick: Int64) -> Bool {
        guard let held = heldDistances[identity], !held.isReleased else { return false }
        // A receiver that hears again knows what it does not hear.
        guard held.place != place else { return distance < 0 && !receivers[place].isHearing }
        guard distance >= 0 else { return true }
        guard distance <= held.distance else { return true }
        heldDistances[identity]?.isReleased = true
        heldDistances[identity]?.takenOver = tick
        return false
    }

    /// The receivers in the order of their reports. Those in doubt come last: until then, their beacons have the
    /// distances of the second before, and no other receiver is the nearest for a moment.
    var reportOrder: [Int] {
        let places = Array(0..<receivers.count)
        guard !heldDistances.isEmpty else { return places }
        return places.filter { !receivers[$0].isDoubted } + places.filter { receivers[$0].isDoubted }
    }

    /// Releases the distances of a receiver, whose number passes to another one.
    mutating func releaseDistances(of receiver: ReceiverID) {
        guard let place = receivers.place(of: receiver) else { return }
        heldDistances = heldDistances.filter { $0.value.place != place }
    }
}
