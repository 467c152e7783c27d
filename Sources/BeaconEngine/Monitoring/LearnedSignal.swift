import BeaconModel

/// The levels that enter and keep the regions with learned signals.
struct LearnedSignals {
    /// The strongest levels of each kind of beacon at each receiver.
    var references = ReferenceTable()

    /// The strongest readings since each region was entered, by receiver. Regions that were inside when monitoring
    /// began have none.
    private var peaks: [Int32: [ReceiverID: Float]] = [:]

    /// The requests that track all beacons of a UUID to learn the levels, and the number of regions that need each.
    var teachers: [ProximityUUID: (request: RangingID, regions: Int)] = [:]

    /// Returns true if an advert enters or keeps a region.
    ///
    /// - Parameters:
    ///   - sighting: the advert.
    ///   - power: the power of the beacon's kind, in dBm.
    ///   - number: the region's number.
    ///   - time: the time that the advert counts for.
    ///   - state: the region's state.
    ///   - entersAsKept: true if the level that keeps the region also enters it.
    mutating func accept(
        _ sighting: Sighting, of power: Int8, for number: Int32, at time: Int64, state: RegionState,
        entersAsKept: Bool
    ) -> Bool {
        // An advert without a reading shows that the beacon is present, but not that it is close.
        guard let dBm = sighting.rssi.dBm else { return state == .inside }
        let reading = Float(dBm)
        let level = level(sighting, of: power, at: time)
        let isClose = reading >= level - SignalReference.enter
        let isKept = reading >= level - SignalReference.keep
        guard state == .inside else {
            guard isClose || entersAsKept && isKept else { return false }
            peaks[number] = isClose ? [sighting.receiver: reading] : nil
            return true
        }
        if isClose {
            peaks[number, default: [:]][sighting.receiver] = max(
                peaks[number]?[sighting.receiver] ?? reading, reading)
            return true
        }
        // If a stronger beacon was heard since, the level that counted as close then is no longer close.
        guard isKept, let peaks = peaks[number] else { return isKept }
        return peaks[sighting.receiver].map { $0 >= level - SignalReference.enter } ?? false
    }

    /// Returns the level of close beacons of this kind in dBm.
    private mutating func level(_ sighting: Sighting, of power: Int8, at tick: Int64) -> Float {
        let place = references.place(
            of: sighting.identity.uuid, measuredPower: power, by: sighting.receiver, at: tick)
        return place.map { references[$0].level } ?? SignalReference(measuredPower: power).level
    }

    /// Adds a beacon's readings of a second, whether or not it belongs to a region.
    mutating func learn(_ readings: SampleDigest, of key: TrackKey, measuredPower: Int8, at tick: Int64) {
        guard readings.count > 0, teachers[key.identity.uuid] != nil,
            let place = references.place(
                of: key.identity.uuid, measuredPower: measuredPower, by: key.receiver, at: tick)
        else { return }
        var peak = -Double.infinity
        references[place].hear(Float(readings.strongest), of: key.identity, peak: &peak, at: tick)
    }

    /// Forgets the strongest readings of a region.
    mutating func forget(_ number: Int32) { peaks[number] = nil }

    /// Forgets the signals at a receiver.
    mutating func forget(_ receiver: ReceiverID, at tick: Int64) {
        references.forget(receiver, at: tick)
        for number in peaks.keys { peaks[number]?[receiver] = nil }
    }
}

extension Engine {
    @inline(never)
    mutating func isStrongEnough(_ sighting: Sighting, of claim: PowerClaim, for number: Int32) -> Bool {
        let watch = watches[Int(number)]
        let power = calibrations.kindPower(of: sighting.identity, claim: claim)
        return learned.accept(
            sighting, of: power, for: number, at: now, state: watch.state, entersAsKept: watch.entersAsKept)
    }

    /// Starts learning the levels from all beacons of a region's UUID.
    mutating func startTeaching(_ uuid: ProximityUUID) {
        if learned.teachers[uuid] == nil {
            let request = add(RangingSlot(constraint: BeaconConstraint(uuid: uuid), purpose: .signals))
            learned.teachers[uuid] = (request, 0)
        }
        learned.teachers[uuid]?.regions += 1
    }

    /// Stops learning for one region.
    mutating func stopTeaching(_ uuid: ProximityUUID) {
        learned.teachers[uuid]?.regions -= 1
        guard let teacher = learned.teachers[uuid], teacher.regions <= 0 else { return }
        stopRanging(teacher.request)
        learned.teachers[uuid] = nil
    }
}
