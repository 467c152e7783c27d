public import BeaconModel

extension Engine {
    /// The time for which a receiver may be deaf before it has no say in the decision: as long as an adapter needs to
    /// be reset, which nobody has to hear of.
    private static var patience: Int64 { 5 * Timestamp.nanosecondsPerSecond }

    /// Begins to locate beacons, once a second, in place of what was located before.
    ///
    /// A receiver of the map takes part once ``setReceiver(_:of:)`` has said which it is; until then it is deaf.
    /// Beacons whose identities the constraints name are awaited: ``awaitBeacons(_:)``.
    ///
    /// - Parameters:
    ///   - map: the places and their receivers.
    ///   - constraints: the beacons; one that is nil stands for all.
    public mutating func startLocating(_ map: PlaceMap, _ constraints: [BeaconConstraint?]) {
        stopLocating()
        places = PlaceTracker(map, calibrations, capacity: placeCapacity)
        locatings = constraints.map { add(RangingSlot(constraint: $0, purpose: .places)) }
        awaitBeacons(
            constraints.compactMap { constraint in
                guard let constraint, let major = constraint.major, let minor = constraint.minor else { return nil }
                return BeaconIdentity(uuid: constraint.uuid, major: major, minor: minor)
            })
    }

    /// Waits for beacons that were not heard. One that stays unheard is in no place after as long as it takes a beacon
    /// to leave. Beacons that are located already are left alone.
    public mutating func awaitBeacons(_ identities: [BeaconIdentity]) {
        for identity in identities { places?.wait(for: identity, evicted: &statistics.evicted) }
    }

    /// Ends the locating of beacons. Doing so twice is harmless.
    public mutating func stopLocating() {
        for request in locatings { stopRanging(request) }
        locatings = []
        places = nil
    }

    /// Sets which receiver one of the map's is. One that is not known becomes known.
    ///
    /// - Parameters:
    ///   - receiver: the receiver.
    ///   - number: its number in the map; nil where it is none of it any more.
    public mutating func setReceiver(_ receiver: ReceiverID, of number: Int?) {
        addReceiver(receiver)
        places?.setReceiver(receiver, of: number)
    }

    /// Sets where a beacon was known to be last, in an earlier run for instance.
    public mutating func setKnownPlace(_ whereabouts: Whereabouts, of identity: BeaconIdentity) {
        places?.setKnown(whereabouts, of: identity, evicted: &statistics.evicted)
    }

    /// Adds the readings of a track to those of its beacon, if it is to be located.
    mutating func locate(_ track: Int, _ readings: SampleDigest, at tick: Int64) {
        let key = tracks[track].pointee.key
        guard readings.count > 0 || tracks[track].pointee.lastHeard > tick - Timestamp.nanosecondsPerSecond,
            let place = receivers.place(of: key.receiver), let number = places?.number(of: key.receiver),
            isLocated(track)
        else { return }
        places?.hear(
            key.identity, by: number, readings, claim: tracks[track].pointee.power,
            offset: Float(receivers[place].offset), gap: tracks[track].pointee.interval.usualGap, track: track,
            at: tick, evicted: &statistics.evicted)
    }

    private func isLocated(_ track: Int) -> Bool {
        if rangings.count == locatings.count { return true }
        let matches = tracks[track].pointee.matches
        guard !matches.isNothing, matches.region == nil else { return false }
        let set = index.sets[matches.set]
        for ranging in set.firstRanging..<set.firstRanging + set.rangingCount {
            let number = Int(index.rangings[Int(ranging)])
            if let id = rangings.id(at: number), rangings[id]?.purpose == .places { return true }
        }
        return false
    }

    /// Decides the places of all beacons at the end of a second.
    mutating func decidePlaces(at tick: Int64) {
        guard let known = places?.receivers else { return }
        let hearing = known.map { receiversOfOne -> PlaceTracker.Hearing in
            var best = PlaceTracker.Hearing.deaf
            for receiver in receiversOfOne {
                guard let place = receivers.place(of: receiver) else { continue }
                guard let since = receivers[place].deafness(at: tick) else { return .hearing }
                // What it heard within this second counts; after that, doubt holds everything as it is.
                if receivers[place].isDoubted, tick - since < Timestamp.nanosecondsPerSecond { return .hearing }
                if receivers[place].isDoubted || tick - since < Self.patience { best = .interrupted }
            }
            return best
        }
        var changes: [PlaceChange] = []
        places?.decide(at: tick, hearing: hearing) { changes.append($0) }
        for change in changes { events.append(.placed(change)) }
        if places?.map.reportsEachSecond == true {
            events.append(.located(Timestamp(nanoseconds: tick), places?.located ?? []))
        }
        // Time is not passed over while somebody may leave.
        if places?.isBusy == true { lastListedTick = tick }
    }
}
