public import BeaconModel

extension Engine {
    /// The time for which a receiver may be deaf and still take part in the decision: as long as an adapter reset
    /// takes.
    private static var patience: Int64 { 5 * Timestamp.nanosecondsPerSecond }

    /// Begins to locate beacons once a second, and replaces any earlier map.
    ///
    /// A receiver of the map takes part once ``setReceiver(_:of:)`` has identified it; until then it counts as deaf.
    /// The engine waits for all beacons whose identities the constraints name: ``awaitBeacons(_:)``.
    ///
    /// - Parameters:
    ///   - map: the places and their receivers.
    ///   - constraints: the beacons; a constraint that is nil stands for all.
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

    /// Waits for beacons that were not heard yet. A beacon that stays unheard counts as in no place after the usual
    /// exit time-out. Located beacons are not affected.
    public mutating func awaitBeacons(_ identities: [BeaconIdentity]) {
        for identity in identities { places?.wait(for: identity, evicted: &statistics.evicted) }
    }

    /// Stops locating beacons. A second call has no effect.
    public mutating func stopLocating() {
        for request in locatings { stopRanging(request) }
        locatings = []
        places = nil
    }

    /// Assigns a receiver to a number of the map. An unknown receiver is added.
    ///
    /// - Parameters:
    ///   - receiver: the receiver.
    ///   - number: its number in the map; nil if it is no longer in the map.
    public mutating func setReceiver(_ receiver: ReceiverID, of number: Int?) {
        addReceiver(receiver)
        places?.setReceiver(receiver, of: number)
    }

    /// Sets a beacon's last known place, for instance from an earlier run.
    public mutating func setKnownPlace(_ whereabouts: PlaceState, of identity: BeaconIdentity) {
        places?.setKnown(whereabouts, of: identity, evicted: &statistics.evicted)
    }

    /// Adds the readings of a track to those of its beacon if the beacon is located.
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
                // The adverts of this second count; after that, doubt keeps everything unchanged.
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
        // While a beacon may leave a place, no second may be skipped.
        if places?.isBusy == true { lastListedTick = tick }
    }
}
