import BeaconModel

/// The decision by levels: a beacon is in the place of the receiver that hears it best.
extension PlaceTracker {
    /// The seconds for which a beacon must seem to be in a place if no lead shows how certain that is.
    private static var settlingSeconds: UInt16 { 3 }

    /// Decides the place of a beacon by level and time.
    ///
    /// A beacon that was in no place is in the loudest place at once. A place that was known before a restart or an
    /// outage is kept for longer, because its receivers may start later.
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
        // The beacon may be near a deaf receiver, unless it is known to be close to another.
        let isBelieved =
            levels[slot * receivers.count + standing.receivers[best]].isClose || !isAnyIgnorant(of: slot, air)
        guard isBelieved else { return seem(slot, to: NoPlace.unknown, for: Self.settlingSeconds) }
        return seem(slot, to: Int16(best), for: isSure ? 0 : Self.settlingSeconds)
    }

    /// Adds a second to the lead of other places over a beacon's current place.
    ///
    /// The sum is a sequential test (Page's CUSUM). Noise subtracts as much as it adds, and each decibel beyond the
    /// slack counts, so that a large lead decides in seconds and a small one in a minute. If many receivers agree, less
    /// is needed.
    ///
    /// - Returns: the place whose lead is now large enough to move the beacon; nil for none.
    private mutating func leader(over current: Int, of slot: Int, isHeard: Bool, _ air: Air) -> Int? {
        guard let other = standing.best == current ? standing.second : standing.best else {
            beacons[slot].lead = 0
            return nil
        }
        let lead = standing.levels[other] - standing.levels[current]
        // Levels without new readings are not new evidence. A reading of a slow beacon counts for more.
        guard isHeard else { return nil }
        let seconds = min(max(beacons[slot].gap, 1), PlaceRules.maximumSeconds)
        let pairs = min(standing.hearingCounts[current] * standing.hearingCounts[other], PlaceRules.maximumWitnesses)
        let part = (lead - air.slack) * seconds * Float(pairs) / air.neededLead
        beacons[slot].lead = min(max(beacons[slot].lead + part, 0), 1)
        // Rounding keeps sums of many parts slightly below one.
        return lead > air.slack && beacons[slot].lead > 0.9999 ? other : nil
    }

    /// Returns true if a beacon's place is dark, or if the receiver that placed it there is deaf and no other receiver
    /// of the place hears it.
    private func isOutOfHearing(_ slot: Int, _ air: Air) -> Bool {
        let current = Int(beacons[slot].reported)
        if air.isDark[current] { return true }
        let holder = Int(beacons[slot].holder)
        return holder >= 0 && air.hearing[holder] == .deaf && standing.receivers[current] < 0
    }

    /// Returns true if a receiver of a place cannot know about a beacon: it is deaf, or it has not heard for long
    /// enough.
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
