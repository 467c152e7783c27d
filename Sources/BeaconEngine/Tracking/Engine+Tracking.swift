import BeaconModel

// The code for nearly every advert is in one function, and rare cases are kept out of it, so that the frequent path has
// all registers.

extension Engine {
    /// The time for which an unheard beacon is remembered, so that the interval of a slow beacon can be learned: five
    /// minutes.
    private static var retention: Int64 { 300 * Timestamp.nanosecondsPerSecond }

    /// Processes an advert of a tracked beacon.
    @inline(__always)
    mutating func updateTrack(_ number: Int, _ sighting: Sighting, at time: Int64) {
        let track = tracks[number]
        let gap = time &- track.pointee.lastHeard
        if gap > Self.retention {
            forgetHistory(number)
        } else {
            track.pointee.interval.add(gap: gap)
        }
        track.pointee.lastHeard = time
        if sighting.measuredPower != track.pointee.power.settled { judgePower(number, sighting, at: time) }
        if track.pointee.matchVersion != index.version { refreshMatches(number) }
        let matches = track.pointee.matches
        guard !matches.isNothing else {
            statistics.unmatched &+= 1
            return
        }
        apply(matches, track, number, sighting, at: time)
    }

    /// Processes an advert of an untracked beacon, which is tracked if any request matches it.
    @inline(never)
    mutating func beginTrack(_ key: TrackKey, _ sighting: Sighting, at time: Int64) {
        let matches = index.matches(sighting.identity)
        guard !matches.isNothing else {
            statistics.unmatched &+= 1
            return
        }
        addReceiver(sighting.receiver)
        forgetSome(time)
        if tracks.count == tracks.capacity { evictOne(time) }
        let track = Track(
            key: key, lastHeard: time, matches: matches, matchVersion: index.version,
            power: PowerClaim(first: sighting.measuredPower))
        let number = tracks.insert(track)
        apply(matches, tracks[number], number, sighting, at: time)
    }

    /// Passes an advert to the regions and the ranging requests that it matches.
    @inline(__always)
    private mutating func apply(
        _ matches: MatchSetID, _ track: UnsafeMutablePointer<Track>, _ number: Int, _ sighting: Sighting,
        at time: Int64
    ) {
        if let region = matches.region { return refresh(region, sighting, of: track, at: time) }
        let set = index.sets[matches.set]
        if set.region >= 0 { refresh(set.region, sighting, of: track, at: time) }
        if set.regionCount > 0 { refreshSeveral(set, track, sighting, at: time) }
        if set.rangingCount > 0 { list(track, number, sighting) }
    }

    /// Passes an advert to the regions that it matches if there are several.
    @inline(never)
    private mutating func refreshSeveral(
        _ set: MatchSet, _ track: UnsafeMutablePointer<Track>, _ sighting: Sighting, at time: Int64
    ) {
        for place in set.firstRegion..<set.firstRegion + set.regionCount {
            refresh(index.regions[Int(place)], sighting, of: track, at: time)
        }
    }

    /// Judges a claim that differs from the beacon's settled one.
    @inline(never)
    private mutating func judgePower(_ number: Int, _ sighting: Sighting, at time: Int64) {
        var dispute = powerDisputes[number]
        tracks[number].pointee.power.judge(sighting.measuredPower, at: time, &dispute)
        if dispute != nil { powerDisputes[number] = dispute }
    }

    /// Forgets the interval and the power of a beacon that returns from a long absence.
    @inline(never)
    private mutating func forgetHistory(_ number: Int) {
        tracks[number].pointee.interval = IntervalLearner()
        tracks[number].pointee.power = PowerClaim()
        powerDisputes[number] = nil
    }

    /// Updates the matches of a track.
    @inline(never)
    mutating func refreshMatches(_ number: Int) {
        let track = tracks[number]
        track.pointee.matches = index.matches(track.pointee.key.identity)
        track.pointee.matchVersion = index.version
    }

    /// Returns the time for which a beacon has been silent while its receiver heard.
    private func silence(of number: Int, at time: Int64) -> Int64 {
        let track = tracks[number]
        return receivers.lastHearing(of: track.pointee.key.receiver, until: time) - track.pointee.lastHeard
    }

    /// Forgets a few beacons that have not been heard for long.
    ///
    /// It runs for each new beacon, so that memory follows the number of present beacons without a timer for each.
    private mutating func forgetSome(_ time: Int64) {
        for _ in 0..<min(4, tracks.extent) {
            if sweepPosition >= tracks.extent { sweepPosition = 0 }
            if tracks.isInUse(sweepPosition), !tracks[sweepPosition].pointee.isListed,
                silence(of: sweepPosition, at: time) > Self.retention
            {
                remove(sweepPosition)
            }
            sweepPosition += 1
        }
    }

    /// Removes the beacon that has been silent for longest among the next few.
    ///
    /// That finds a stale one nearly as well as a list ordered by time would, and costs nothing while the table is not
    /// full.
    private mutating func evictOne(_ time: Int64) {
        var stalest: (number: Int, silence: Int64)?
        for _ in 0..<min(16, tracks.extent) {
            if sweepPosition >= tracks.extent { sweepPosition = 0 }
            if tracks.isInUse(sweepPosition) {
                let silence = silence(of: sweepPosition, at: time)
                if stalest.map({ $0.silence < silence }) ?? true { stalest = (sweepPosition, silence) }
            }
            sweepPosition += 1
        }
        guard let stalest else { return }
        unlist(stalest.number)
        remove(stalest.number)
        statistics.evicted += 1
    }

    /// Removes a track that is not listed, with the dispute about its power.
    mutating func remove(_ number: Int) {
        tracks.remove(number)
        if !powerDisputes.isEmpty { powerDisputes[number] = nil }
    }
}
