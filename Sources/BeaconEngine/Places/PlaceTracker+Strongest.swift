import BeaconModel

/// The decision by levels: a beacon is with the receiver that hears it best.
extension PlaceTracker {
    /// The seconds for which a beacon has to seem to be somewhere, where no lead tells how sure that is.
    private static var settlingSeconds: UInt16 { 3 }

    /// Decides where a beacon is, by level and time. One that was in no place is at once where it is loudest. A place
    /// that was known before a restart or an outage is not given up as fast: its receivers may come later.
    mutating func strongestPlace(of slot: Int, isHeard: Bool, _ air: Air) -> Int16 {
        let current = Int(beacons[slot].reported)
        if current >= 0, isOutOfHearing(slot, air) { return seem(slot, to: NoPlace.unknown, for: 0) }
        guard var best = standing.best else { return Int16(current) }
        let known = Int(beacons[slot].known)
        var isSure = current < 0 && (known < 0 || known == best)
        if current >= 0, standing.receivers[current] >= 0 {
            let other = leader(over: current, of: slot, isHeard: isHeard, air)
            (best, isSure) = (other ?? current, other != nil)
        } else {
            beacons[slot].lead = 0
        }
        // Where a receiver is deaf the beacon may be, unless it is seen to be close to another.
        let isBelieved =
            levels[slot * receivers.count + standing.receivers[best]].isClose || !isAnyIgnorant(of: slot, air)
        guard isBelieved else { return seem(slot, to: NoPlace.unknown, for: Self.settlingSeconds) }
        return seem(slot, to: Int16(best), for: isSure ? 0 : Self.settlingSeconds)
    }

    /// Adds a second to the lead that other places have had over a beacon's own.
    ///
    /// The sum is a sequential test (Page's CUSUM): chance takes away as much as it gives, and each decibel beyond the
    /// slack counts, so that a great lead decides in seconds and a small one in a minute. What many receivers agree on
    /// needs less of it.
    ///
    /// - Returns: the place that has led by so much and so long that the beacon is there now; nil for none.
    private mutating func leader(over current: Int, of slot: Int, isHeard: Bool, _ air: Air) -> Int? {
        guard let other = standing.best == current ? standing.second : standing.best else {
            beacons[slot].lead = 0
            return nil
        }
        let lead = standing.levels[other] - standing.levels[current]
        // Levels without new readings are no new evidence. A reading of a beacon that is heard rarely counts for more.
        guard isHeard else { return nil }
        let seconds = min(max(beacons[slot].gap, 1), PlaceRules.mostSeconds)
        let pairs = min(standing.ears[current] * standing.ears[other], PlaceRules.mostWitnesses)
        let part = (lead - air.slack) * seconds * Float(pairs) / air.neededLead
        beacons[slot].lead = min(max(beacons[slot].lead + part, 0), 1)
        // Sums of many parts fall short of one by a rounding.
        return lead > air.slack && beacons[slot].lead > 0.9999 ? other : nil
    }

    /// Returns true for a beacon whose place is dark, or of which the receiver is deaf that placed it there and no
    /// other one of the place hears it.
    private func isOutOfHearing(_ slot: Int, _ air: Air) -> Bool {
        let current = Int(beacons[slot].reported)
        if air.isDark[current] { return true }
        let holder = Int(beacons[slot].holder)
        return holder >= 0 && air.hearing[holder] == .deaf && standing.receivers[current] < 0
    }

    /// Returns true where a receiver of a place has nothing to say of a beacon: it is deaf, or it has not heard for
    /// long enough to have heard the beacon.
    private func isAnyIgnorant(of slot: Int, _ air: Air) -> Bool {
        if air.isAnyDeaf { return true }
        let first = slot * receivers.count
        let needed = max(3, 3 * beacons[slot].gap)
        for number in receivers.indices where map.receivers[number] != nil && !levels[first + number].isHeard {
            if air.hearing[number] == .interrupted || hearingSeconds[number] <= needed { return true }
        }
        return false
    }
}
