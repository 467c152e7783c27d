public import BeaconModel

// Not hearing is not absence. Silence counts only from a receiver that hears:
// - A region that is inside is held by the receiver that last kept it, since no other receiver has reported the
//   beacon. While that receiver is deaf, the region is not left.
// - A region that no receiver has kept waits only while a receiver hears that could hear it: its own, or else any.
//   Before the first receiver appears, none hears.
// - When a receiver hears again, its deadlines and the times at which it last heard its beacons move by the length of
//   its deafness, so that ranging and interval learning ignore it.
//
// Deafness is rare, so it may cost a walk over all regions and tracks. For an advert, it costs one comparison.

extension Engine {
    /// Sets whether a receiver hears. By default, all receivers hear.
    ///
    /// First, time passes up to `time`. Before the first time, only the state is stored. Setting the same state twice
    /// has no effect. An unknown receiver is added when it is deaf.
    ///
    /// - Parameters:
    ///   - isHearing: true if the receiver's silence means that no beacon is near.
    ///   - receiver: the receiver.
    ///   - time: the time of the change.
    ///   - isDoubt: true if it is uncertain whether the receiver is deaf. Its adverts then count as heard at their own
    ///     time.
    ///   - wasHearing: true if a receiver that counted as deaf turns out to have heard all the time. Everything that
    ///     was due in that time then happens now, with its own time.
    public mutating func setHearing(
        _ isHearing: Bool, of receiver: ReceiverID, at time: Timestamp, isDoubt: Bool = false, wasHearing: Bool = false
    ) {
        if now >= 0 { advance(upTo: time) }
        if isHearing, receivers.isNew(receiver) { return }
        guard let place = place(of: receiver) else { return }
        receivers[place].isDoubted = !isHearing && isDoubt
        guard receivers[place].isHearing != isHearing else { return }
        if isHearing {
            let since = receivers[place].deafSince
            receivers[place].deafSince = .max
            guard now >= 0 else { return }
            if wasHearing { resumeRegions() } else { count(Stretch(from: since, to: now), of: place) }
        } else {
            receivers[place].deafSince = now
        }
    }

    /// Notes that a receiver in doubt heard until a time. Everything that was due before then happens now, with its own
    /// time. Harmless for a receiver that is not in doubt.
    public mutating func confirmHearing(of receiver: ReceiverID, until time: Timestamp) {
        guard now >= 0, let place = receivers.place(of: receiver), receivers[place].isDoubted,
            time.nanoseconds > receivers[place].deafSince
        else { return }
        receivers[place].deafSince = .max
        resumeRegions()
        advance(upTo: time)
        receivers[place].deafSince = time.nanoseconds
    }

    /// Counts a period of deafness that is already over: a suspend, a stopped process, or a queue overflow.
    ///
    /// Call it before time advances to `to`. First, time passes up to `from`, so call it for the earliest of several
    /// periods first. If time is already beyond `from`, deadlines move by the part of the period after the region was
    /// last heard. Changes that have already happened are not undone. A region with an adaptive time-out may get
    /// slightly more time. A part that was counted with the previous period is not counted again.
    ///
    /// - Parameters:
    ///   - from: the time at which the receiver stopped hearing.
    ///   - to: the time at which it heard again.
    ///   - receiver: the receiver, which is added if it is unknown.
    public mutating func skip(from: Timestamp, to: Timestamp, of receiver: ReceiverID) {
        guard now >= 0, from < to, let place = place(of: receiver) else { return }
        advance(upTo: from)
        let stretch = Stretch(from: from.nanoseconds, to: to.nanoseconds)
        if receivers[place].deafSince <= stretch.to {
            // It is deaf now, and has been for longer than known.
            receivers[place].deafSince = min(receivers[place].deafSince, stretch.from)
        } else {
            count(stretch, of: place)
        }
    }

    /// Resets the ranging of a receiver's beacons. After a long deafness, each may be anywhere.
    public mutating func resetRanging(of receiver: ReceiverID) {
        var position = 0
        while position < listed.count {
            let number = Int(listed[position])
            if tracks[number].pointee.key.receiver == receiver {
                unlist(number)
            } else {
                position += 1
            }
        }
    }

    /// Returns true if silence counts for a region now: a receiver hears that would hear the region's beacons.
    /// Otherwise, the region keeps its last known state.
    public func isHearing(_ region: RegionID) -> Bool {
        regions[region.slot] == nil || isSilenceCounted(for: watches[Int(region.number)])
    }

    /// Returns the receiver whose silence alone decides about a region now; nil if all receivers decide.
    public func holder(of region: RegionID) -> ReceiverID? {
        regions[region.slot] == nil ? nil : Self.receiver(of: watches[Int(region.number)])
    }

    func isSilenceCounted(for watch: RegionWatch) -> Bool {
        if let receiver = Self.receiver(of: watch) { return receivers.isHearing(receiver) }
        return !receivers.areAllDeaf
    }

    /// Returns the only receiver whose silence decides about a region, or nil if all receivers decide.
    private static func receiver(of watch: RegionWatch) -> ReceiverID? {
        if watch.isKept || watch.phase == .unknown && watch.lastReceiver != RegionWatch.anyReceiver {
            return ReceiverID(watch.lastReceiver)
        }
        return watch.receiver == RegionWatch.anyReceiver ? nil : ReceiverID(watch.receiver)
    }

    /// Returns the index of a receiver, which is added if it is new; nil if there are too many.
    mutating func place(of receiver: ReceiverID) -> Int? {
        guard receivers.isNew(receiver) else { return receivers.place(of: receiver) }
        // A new receiver ends the common deafness of all others. The first receiver ends the time without any.
        let common = receivers.areAllDeaf && now >= 0 ? receivers.commonDeafness : nil
        let place = receivers.add(receiver)
        if place == nil { statistics.refusedReceivers += 1 }
        if let common, place != nil { countTogether(Stretch(from: common.from, to: now)) }
        return place
    }

    /// Counts a finished period of a receiver's deafness.
    private mutating func count(_ stretch: Stretch, of place: Int) {
        let (receiver, counted) = (receivers[place].id, receivers[place].counted)
        receivers[place].counted = counted.extended(by: stretch)
        for part in stretch.parts(without: counted) {
            for number in 0..<tracks.extent where tracks.isInUse(number) {
                let track = tracks[number]
                guard track.pointee.key.receiver == receiver else { continue }
                track.pointee.lastHeard += part.length(after: track.pointee.lastHeard, having: counted)
            }
            moveDeadlines(by: part, of: receiver, having: counted)
        }
        countTogether(receivers.commonDeafness)
    }

    /// Counts a period in which no receiver heard.
    private mutating func countTogether(_ stretch: Stretch) {
        if !stretch.isEmpty, stretch.to != .max {
            let counted = receivers.countedTogether
            receivers.countedTogether = counted.extended(by: stretch)
            for part in stretch.parts(without: counted) { moveDeadlines(by: part, of: nil, having: counted) }
        }
        resumeRegions()
    }

    /// Moves the deadlines of the regions that the silence of one receiver decides, or that of all receivers if it is
    /// nil.
    private mutating func moveDeadlines(by stretch: Stretch, of receiver: ReceiverID?, having counted: Stretch) {
        for number in 0..<regions.extent {
            guard let id = regions.id(at: number), let slot = regions[id] else { continue }
            let watch = watches[number]
            guard watch.deadline != .max, Self.receiver(of: watch) == receiver else { continue }
            let length = stretch.length(after: watch.isKept ? watch.earliestKept : slot.waitingSince, having: counted)
            watches[number].deadline += length
            regions.update(id) { $0.waitingSince += length }
        }
    }

    /// Rearms the timers of regions for which silence counts again.
    private mutating func resumeRegions() {
        for number in 0..<regions.extent {
            guard let id = regions.id(at: number), watches[number].deadline != .max,
                isSilenceCounted(for: watches[number])
            else { continue }
            if watches[number].phase == .held { watches[number].phase = .inside }
            arm(RegionID(id))
        }
    }
}
