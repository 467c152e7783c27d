public import BeaconModel

// Not hearing is not absence. Silence counts only from a receiver that hears:
// - a region that is inside is held by the receiver that kept it last, since no other has ever said that the beacon was
//   there; while that one is deaf the region is not left;
// - a region that no receiver has kept waits only while one hears that could hear it: its own, or else any. Before a
//   receiver has come, none hears;
// - when a receiver hears again, the deadlines that it holds and the times at which it last heard its beacons move by
//   the length of its deafness, so that neither ranging nor the learning of intervals counts it.
//
// Deafness is rare, so it may cost a walk over all regions and tracks; an advert pays for it with one comparison.

extension Engine {
    /// Sets the hearing of a receiver. All hear unless this says otherwise.
    ///
    /// Time passes up to `time` first. Before the first time the state alone is kept. Saying the same twice is
    /// harmless. A receiver that is not known becomes known when it is deaf.
    ///
    /// - Parameters:
    ///   - isHearing: true where silence of the receiver means that there is nothing to hear.
    ///   - receiver: the receiver.
    ///   - time: when it begins.
    ///   - isDoubt: true where nobody knows whether the receiver is deaf: what it hears counts as heard when it was.
    ///   - wasHearing: true where it turns out that a receiver which counted as deaf heard all the time: what was due
    ///     meanwhile happens now, with its own time.
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

    /// Counts a stretch of deafness that was learnt of afterwards: a suspend, a stopped process, a queue that
    /// overflowed.
    ///
    /// It is to be called before time advances to `to`. Time passes up to `from` first, so of several stretches the one
    /// that begins first comes first. Where time is beyond `from` already, deadlines move by the whole stretch as far
    /// as it lies after the moment at which the region was kept; what has happened by then is not taken back. A region
    /// whose time-out adapts may get a little more time than that. A part that was counted with the stretch before is
    /// not counted again.
    ///
    /// - Parameters:
    ///   - from: when the receiver ceased to hear.
    ///   - to: when it heard again.
    ///   - receiver: the receiver; one that is not known becomes known.
    public mutating func skip(from: Timestamp, to: Timestamp, of receiver: ReceiverID) {
        guard now >= 0, from < to, let place = place(of: receiver) else { return }
        advance(upTo: from)
        let stretch = Stretch(from: from.nanoseconds, to: to.nanoseconds)
        if receivers[place].deafSince <= stretch.to {
            // It is deaf now, and was so earlier than known.
            receivers[place].deafSince = min(receivers[place].deafSince, stretch.from)
        } else {
            count(stretch, of: place)
        }
    }

    /// Resets the ranging of a receiver's beacons: after a deafness that lasted, each may be anywhere.
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

    /// Returns true where silence counts for a region now: where a receiver hears that would hear the region's beacons.
    /// While it does not, the region's state is the one that was last known.
    public func isHearing(_ region: RegionID) -> Bool {
        regions[region.slot] == nil || isSilenceCounted(for: watches[Int(region.number)])
    }

    /// Returns the receiver whose silence alone decides over a region now; nil where that of any does.
    public func holder(of region: RegionID) -> ReceiverID? {
        regions[region.slot] == nil ? nil : Self.receiver(of: watches[Int(region.number)])
    }

    func isSilenceCounted(for watch: RegionWatch) -> Bool {
        if let receiver = Self.receiver(of: watch) { return receivers.isHearing(receiver) }
        return !receivers.areAllDeaf
    }

    /// Returns the one receiver whose silence decides over a region, or nil where that of all does.
    private static func receiver(of watch: RegionWatch) -> ReceiverID? {
        if watch.isKept || watch.phase == .unknown && watch.lastReceiver != RegionWatch.anyReceiver {
            return ReceiverID(watch.lastReceiver)
        }
        return watch.receiver == RegionWatch.anyReceiver ? nil : ReceiverID(watch.receiver)
    }

    /// Returns the place of a receiver, which is added if it is new, or nil where there are too many.
    mutating func place(of receiver: ReceiverID) -> Int? {
        guard receivers.isNew(receiver) else { return receivers.place(of: receiver) }
        // A receiver that comes while no other hears ends their common deafness; the first one, the time without any.
        let common = receivers.areAllDeaf && now >= 0 ? receivers.commonDeafness : nil
        let place = receivers.add(receiver)
        if place == nil { statistics.refusedReceivers += 1 }
        if let common, place != nil { countTogether(Stretch(from: common.from, to: now)) }
        return place
    }

    /// Counts a stretch of a receiver's deafness that is over.
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

    /// Counts a stretch in which no receiver heard.
    private mutating func countTogether(_ stretch: Stretch) {
        if !stretch.isEmpty, stretch.to != .max {
            let counted = receivers.countedTogether
            receivers.countedTogether = counted.extended(by: stretch)
            for part in stretch.parts(without: counted) { moveDeadlines(by: part, of: nil, having: counted) }
        }
        resumeRegions()
    }

    /// Moves the deadlines of the regions over which the silence of one receiver decides, or that of all for nil.
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

    /// Sets the timers again of regions for which silence counts again.
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
