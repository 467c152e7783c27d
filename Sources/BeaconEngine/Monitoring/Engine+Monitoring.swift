import BeaconModel

extension Engine {
    /// Processes an advert of a beacon of a region.
    @inline(__always)
    mutating func refresh(
        _ number: Int32, _ sighting: Sighting, of track: UnsafeMutablePointer<Track>, at time: Int64
    ) {
        if watches[Int(number)].isSignalLearned, !isStrongEnough(sighting, of: track.pointee.power, for: number) {
            return
        }
        if watches[Int(number)].refresh(sighting, at: time, longestGap: track.pointee.interval.longestGap) { return }
        enter(number, sighting, of: track, at: time)
    }

    /// Processes an advert of a beacon of a region that is not inside or has no timer.
    @inline(never)
    private mutating func enter(
        _ number: Int32, _ sighting: Sighting, of track: UnsafeMutablePointer<Track>, at time: Int64
    ) {
        guard let slot = regions.id(at: Int(number)),
            let before = watches[Int(number)].enter(
                sighting, at: time, longestGap: track.pointee.interval.longestGap)
        else { return }
        let id = RegionID(slot)
        if before != .inside {
            events.append(
                .entered(
                    RegionChange(
                        region: id, time: Timestamp(nanoseconds: now), receiver: sighting.receiver, before: before,
                        identity: sighting.identity)))
        }
        arm(id)
    }

    /// Starts the time-out of a region that no receiver has kept.
    mutating func beginWait(_ region: RegionID, from time: Int64) {
        regions.update(region.slot) { $0.waitingSince = time }
        watches[Int(region.number)].deadline = time + watches[Int(region.number)].exitTimeout
        arm(region)
    }

    /// Arms a region's timer for its deadline, unless the current timer fires early enough.
    mutating func arm(_ region: RegionID) {
        let deadline = watches[Int(region.number)].deadline
        guard let armedAt = regions[region.slot]?.armedAt, deadline < armedAt else { return }
        regions.update(region.slot) { $0.armedAt = deadline }
        deadlines.insert(region, at: deadline)
        updateDue()
    }

    /// Checks the region of the earliest timer.
    mutating func fireDeadline() {
        let time = deadlines.earliest
        // If an earlier timer replaced this one, the slot has a different time.
        guard let id = deadlines.removeEarliest(), let slot = regions[id.slot], slot.armedAt == time else { return }
        regions.update(id.slot) { $0.armedAt = .max }
        let watch = watches[Int(id.number)]
        guard watch.deadline <= time else { return arm(id) }
        guard watch.phase != .outside else { return }
        guard isSilenceCounted(for: watch) else {
            // It gets a timer again when an advert arrives or when silence counts again.
            if watch.phase == .inside { watches[Int(id.number)].phase = .held }
            return
        }
        watches[Int(id.number)].phase = .outside
        watches[Int(id.number)].deadline = .max
        let isExit = watch.state == .inside
        let change = RegionChange(
            region: id, time: Timestamp(nanoseconds: watch.deadline),
            receiver: watch.lastReceiver == RegionWatch.anyReceiver ? nil : ReceiverID(watch.lastReceiver),
            before: watch.state, identity: nil)
        events.append(isExit ? .exited(change) : .determined(change))
    }
}
