public import BeaconModel

/// What adverts mean: which regions are entered and left, and how near each beacon is.
///
/// The engine does no I/O and reads no clock. Sightings are handed to ``receive(_:)`` in the order in which they were
/// heard, and ``advance(to:)`` tells it that time has passed; what follows from both is waiting in ``takeEvents()``. The
/// same input gives the same output, always.
///
/// Time is what its source says. A time that lies before the newest that was told counts as that newest one.
public struct Engine: ~Copyable {
    /// How long a beacon that is not heard is remembered, so that the interval of one that advertises rarely can be
    /// learnt: five minutes.
    static let retention: Int64 = 300 * Timestamp.nanosecondsPerSecond

    /// Unheard for this long, or ``unknownGaps`` of its gaps if that is more, a beacon's nearness is unknown. Apple's
    /// article on iOS devices as beacons gives 2 s.
    static let unknownAfter: Int64 = 2 * Timestamp.nanosecondsPerSecond
    static let unknownGaps: Int64 = 3

    /// Unheard for this long, or ``goneGaps`` of its gaps if that is more, a beacon is no longer listed. Apple's article
    /// gives 10 s.
    static let goneAfter: Int64 = 10 * Timestamp.nanosecondsPerSecond
    static let goneGaps: Int64 = 5

    /// How long reports go on in silence with nothing to list, before a jump of time is passed over.
    static let idleReports: Int64 = 10 * Timestamp.nanosecondsPerSecond

    private let strategy: RangingStrategy

    /// The newest time told, in nanoseconds; negative before the first.
    @usableFromInline var now: Int64 = -1

    /// The earliest moment at which something may have to be done.
    @usableFromInline var nextDue: Int64 = .max

    /// What has been counted so far.
    public private(set) var statistics = EngineStatistics()

    private var tracks: TrackTable
    private var index = ConstraintIndex()

    /// Where the search for tracks that may be forgotten goes on.
    private var sweepPosition = 0

    private var regions = SlotTable<RegionSlot>()

    /// What each advert touches of a region, by the region's number.
    private var watches = WatchTable()

    private var deadlines = DeadlineHeap()

    /// Regions that were added before any time was told, and after how long they count as outside.
    private var waitingForTime: [(region: RegionID, after: Int64)] = []

    private var rangings = SlotTable<RangingSlot>()
    private var receivers: [ReceiverID] = []
    private var nextTick: Int64 = .max
    private var lastListedTick: Int64 = .min

    /// The numbers of the tracks that reports list.
    private var listed: [UInt32] = []

    @usableFromInline var events: [EngineEvent] = []

    /// An engine that watches for nothing yet.
    public init(configuration: EngineConfiguration = EngineConfiguration()) {
        strategy = configuration.strategy
        let capacity = min(max(configuration.maximumTrackedBeacons, 1), TrackTable.largestCapacity)
        tracks = TrackTable(capacity: capacity, seed: configuration.hashSeed)
    }

    // MARK: - What is asked for

    /// Begins to watch for a region.
    ///
    /// - Parameters:
    ///   - region: what to watch for.
    ///   - state: its state as it was known before, from an earlier run for instance. A region that was inside has as long
    ///     to be heard again as if it had been heard now.
    public mutating func startMonitoring(
        _ region: MonitoredRegion, assuming state: RegionState = .unknown
    ) -> RegionID {
        let id = RegionID(regions.insert(RegionSlot(constraint: region.constraint)))
        var watch = RegionWatch(region)
        watch.state = state
        watches.put(watch, at: Int(id.number))
        index.add(region: id.number, for: region.constraint)
        let patience =
            switch state {
            case .unknown: region.outsideAfter
            case .inside: region.exitTimeout
            case .outside: nil as Duration?
            }
        if let patience = patience?.boundedNanoseconds {
            // Where no time has been told yet, there is none to count from; the first one starts it.
            if now < 0 {
                waitingForTime.append((id, patience))
            } else {
                arm(id, at: now + patience)
            }
        }
        return id
    }

    /// Stops watching for a region. Doing so twice is harmless.
    public mutating func stopMonitoring(_ region: RegionID) {
        guard let slot = regions.remove(region.slot) else { return }
        index.remove(region: region.number, for: slot.constraint)
    }

    /// A region's state; unknown once it is no longer watched for.
    public func state(of region: RegionID) -> RegionState {
        regions[region.slot] == nil ? .unknown : watches[Int(region.number)].state
    }

    /// Begins to report on beacons each whole second.
    ///
    /// - Parameter constraint: which beacons; nil for all.
    public mutating func startRanging(_ constraint: BeaconConstraint?) -> RangingID {
        let id = RangingID(rangings.insert(RangingSlot(constraint: constraint)))
        index.add(ranging: id.number, for: constraint)
        if nextTick == .max, now >= 0 { nextTick = Self.wholeSecond(atOrAfter: now + 1) }
        updateDue()
        return id
    }

    /// Stops reporting. Doing so twice is harmless.
    public mutating func stopRanging(_ ranging: RangingID) {
        guard let slot = rangings.remove(ranging.slot) else { return }
        index.remove(ranging: ranging.number, for: slot.constraint)
        if rangings.count == 0 {
            nextTick = .max
            for number in listed { tracks.signal(Int(number)).pointee.listPosition = TrackSignal.unlisted }
            listed.removeAll()
        }
        updateDue()
    }

    /// Makes a receiver known, so that it has reports of its own even while it hears no beacon.
    public mutating func addReceiver(_ receiver: ReceiverID) {
        guard !receivers.contains(receiver) else { return }
        receivers.append(receiver)
    }

    /// How many beacons are tracked, by receiver and address.
    public var trackedBeacons: Int { tracks.count }

    /// What has happened since the last call, in order.
    public mutating func takeEvents() -> [EngineEvent] {
        guard !events.isEmpty else { return [] }
        defer { events = [] }
        return events
    }

    /// Whether ``takeEvents()`` would return anything.
    @inlinable public var hasEvents: Bool { !events.isEmpty }

    // MARK: - Input

    /// Takes in a sighting; first, all that was due before it happens.
    public mutating func receive(_ sighting: Sighting) {
        let time = max(now, sighting.time.nanoseconds)
        if time > nextDue || now < 0 { pass(upTo: time) }
        now = time
        statistics.sightings &+= 1
        let key = TrackKey(sighting)
        if let number = tracks.find(key) {
            hear(number, sighting, time)
        } else {
            meet(key, sighting, time)
        }
    }

    /// Tells that time has passed up to and including `time`.
    public mutating func advance(to time: Timestamp) {
        pass(upTo: time.nanoseconds)
        now = max(now, time.nanoseconds)
        while nextDue <= now { doNext(limit: now) }
    }

    /// Tells that it is `time` now, and that more may yet happen at this very moment: what is due then waits.
    @inlinable
    public mutating func advance(upTo time: Timestamp) {
        if time.nanoseconds > nextDue || now < 0 { pass(upTo: time.nanoseconds) }
        now = max(now, time.nanoseconds)
    }

    // MARK: - Tracking
    //
    // What happens with nearly each advert is put together into one function, and what happens rarely is kept out of it,
    // so that the frequent way has the registers for itself.

    /// A beacon that is known was heard.
    @inline(__always)
    private mutating func hear(_ number: Int, _ sighting: Sighting, _ time: Int64) {
        let track = tracks[number]
        let gap = time &- track.pointee.lastHeard
        if gap > Self.retention {
            track.pointee.interval = IntervalLearner()
            tracks.level(number).pointee = TrackLevel()
        } else {
            track.pointee.interval.add(gap: gap)
        }
        track.pointee.lastHeard = time
        track.pointee.measuredPower = sighting.measuredPower
        if track.pointee.matchVersion != index.version { refreshMatches(number) }
        let matches = track.pointee.matches
        guard !matches.isNothing else {
            statistics.unmatched &+= 1
            return
        }
        apply(matches, track, number, sighting, time)
    }

    /// A beacon that is not known was heard; it becomes known if anybody asks for it.
    @inline(never)
    private mutating func meet(_ key: TrackKey, _ sighting: Sighting, _ time: Int64) {
        let matches = index.matches(sighting.identity)
        guard !matches.isNothing else {
            statistics.unmatched &+= 1
            return
        }
        addReceiver(sighting.receiver)
        forgetSome(time)
        if tracks.count == tracks.capacity { evictOne() }
        let track = Track(
            key: key, lastHeard: time, matches: matches, matchVersion: index.version,
            measuredPower: sighting.measuredPower)
        let number = tracks.insert(track)
        apply(matches, tracks[number], number, sighting, time)
    }

    /// Tells the regions and the ranging requests of a match of a beacon that was heard.
    @inline(__always)
    private mutating func apply(
        _ matches: MatchSetID, _ track: UnsafeMutablePointer<Track>, _ number: Int, _ sighting: Sighting, _ time: Int64
    ) {
        let longestGap = track.pointee.interval.longestGap
        if let region = matches.region { return keep(region, sighting, time, longestGap: longestGap) }
        let set = index.sets[matches.set]
        var place = Int(set.firstRegion)
        let end = place &+ Int(set.regionCount)
        while place < end {
            keep(index.regions[place], sighting, time, longestGap: longestGap)
            place &+= 1
        }
        if set.rangingCount > 0 { list(number, sighting) }
    }

    /// Sees to it that the next report lists a beacon that was heard.
    @inline(__always)
    private mutating func list(_ number: Int, _ sighting: Sighting) {
        let signal = tracks.signal(number)
        if let dBm = sighting.rssi.dBm { signal.pointee.digest.add(dBm) }
        guard !signal.pointee.isListed else { return }
        signal.pointee.listPosition = UInt32(listed.count)
        listed.append(UInt32(number))
    }

    @inline(never)
    private mutating func refreshMatches(_ number: Int) {
        let track = tracks[number]
        track.pointee.matches = index.matches(track.pointee.key.identity)
        track.pointee.matchVersion = index.version
    }

    /// Forgets a few beacons that have not been heard for long. It is called for each new beacon, so that memory
    /// follows the number of beacons that are there, without a timer for each.
    private mutating func forgetSome(_ time: Int64) {
        for _ in 0..<min(4, tracks.extent) {
            if sweepPosition >= tracks.extent { sweepPosition = 0 }
            if tracks.isInUse(sweepPosition), !tracks.signal(sweepPosition).pointee.isListed,
                time - tracks[sweepPosition].pointee.lastHeard > Self.retention
            {
                tracks.remove(sweepPosition)
            }
            sweepPosition += 1
        }
    }

    /// Gives up the beacon that has been unheard for longest among the next few, which finds a stale one nearly as well
    /// as a list ordered by time would, and costs nothing while there is room.
    private mutating func evictOne() {
        var oldest: Int?
        for _ in 0..<min(16, tracks.extent) {
            if sweepPosition >= tracks.extent { sweepPosition = 0 }
            if tracks.isInUse(sweepPosition) {
                let isOlder = oldest.map {
                    tracks[sweepPosition].pointee.lastHeard < tracks[$0].pointee.lastHeard
                }
                if isOlder ?? true { oldest = sweepPosition }
            }
            sweepPosition += 1
        }
        guard let oldest else { return }
        unlist(oldest)
        tracks.remove(oldest)
        statistics.evicted += 1
    }

    private mutating func unlist(_ number: Int) {
        let signal = tracks.signal(number)
        guard signal.pointee.isListed else { return }
        let position = Int(signal.pointee.listPosition)
        signal.pointee.listPosition = TrackSignal.unlisted
        let last = listed.removeLast()
        if position < listed.count {
            listed[position] = last
            tracks.signal(Int(last)).pointee.listPosition = UInt32(position)
        }
    }

    // MARK: - Monitoring

    /// A beacon of a region was heard.
    @inline(__always)
    private mutating func keep(_ number: Int32, _ sighting: Sighting, _ time: Int64, longestGap: Int64) {
        guard let before = watches[Int(number)].keep(sighting, time, longestGap: longestGap) else { return }
        enter(number, sighting, time, before: before)
    }

    @inline(never)
    private mutating func enter(_ number: Int32, _ sighting: Sighting, _ time: Int64, before: RegionState) {
        guard let slot = regions.id(at: Int(number)) else { return }
        let id = RegionID(slot)
        events.append(
            .entered(
                RegionChange(
                    region: id, time: Timestamp(nanoseconds: time), receiver: sighting.receiver, before: before,
                    identity: sighting.identity)))
        arm(id, at: watches[Int(number)].deadline)
    }

    /// Sets a region's deadline, and its timer unless that fires early enough as it is.
    private mutating func arm(_ region: RegionID, at deadline: Int64) {
        watches[Int(region.number)].deadline = deadline
        guard let armedAt = regions[region.slot]?.armedAt, deadline < armedAt else { return }
        regions.update(region.slot) { $0.armedAt = deadline }
        deadlines.insert(region, at: deadline)
        updateDue()
    }

    /// Looks at the region whose timer fires first.
    private mutating func fireDeadline() {
        let time = deadlines.earliest
        // A timer that another, earlier one replaced finds another time in the slot.
        guard let id = deadlines.removeEarliest(), let slot = regions[id.slot], slot.armedAt == time else { return }
        regions.update(id.slot) { $0.armedAt = .max }
        let watch = watches[Int(id.number)]
        guard watch.deadline <= time else { return arm(id, at: watch.deadline) }
        guard watch.state != .outside else { return }
        watches[Int(id.number)].state = .outside
        let change = RegionChange(
            region: id, time: Timestamp(nanoseconds: watch.deadline),
            receiver: watch.state == .inside ? watch.lastReceiver : nil, before: watch.state, identity: nil)
        events.append(watch.state == .inside ? .exited(change) : .determined(change))
    }

    // MARK: - Time

    private static func wholeSecond(atOrAfter time: Int64) -> Int64 {
        let second = Timestamp.nanosecondsPerSecond
        return (time + second - 1) / second * second
    }

    private mutating func updateDue() { nextDue = min(nextTick, deadlines.earliest) }

    /// Does all that is due before `time`, but not at it.
    @usableFromInline
    mutating func pass(upTo time: Int64) {
        if now < 0 { start(at: time) }
        while nextDue < time { doNext(limit: time - 1) }
    }

    /// The first time that is told.
    private mutating func start(at time: Int64) {
        now = time
        if rangings.count > 0 { nextTick = Self.wholeSecond(atOrAfter: time) }
        for (region, after) in waitingForTime where regions[region.slot] != nil { arm(region, at: time + after) }
        waitingForTime = []
        updateDue()
    }

    /// Does what is due first. A report and a deadline of the same moment: the deadline first.
    ///
    /// - Parameter limit: the last moment that is due.
    private mutating func doNext(limit: Int64) {
        if deadlines.earliest <= nextTick {
            fireDeadline()
        } else if listed.isEmpty, nextTick > max(now, lastListedTick) &+ Self.idleReports, nextTick < limit {
            // Nothing to report and nothing heard for long: a time that is far off, or wrong, is reached in one step.
            nextTick = max(nextTick, Self.wholeSecond(atOrAfter: limit))
        } else {
            report(at: nextTick)
            nextTick += Timestamp.nanosecondsPerSecond
        }
        updateDue()
    }

    // MARK: - Ranging

    /// Makes the reports of one second.
    private mutating func report(at tick: Int64) {
        // A list for each request and receiver, with room for as many beacons as there are if it is the only one.
        var lists: [[RankedBeacon]] = Array(repeating: [], count: rangings.extent * receivers.count)
        if lists.count == 1 { lists[0].reserveCapacity(listed.count) }
        var position = 0
        while position < listed.count {
            let number = Int(listed[position])
            guard let beacon = assess(number, at: tick) else {
                unlist(number)
                // It may be anywhere when it returns.
                tracks.level(number).pointee = TrackLevel()
                continue
            }
            if tracks[number].pointee.matchVersion != index.version { refreshMatches(number) }
            let matches = tracks[number].pointee.matches
            if !matches.isNothing, matches.region == nil,
                let receiver = receivers.firstIndex(of: tracks[number].pointee.key.receiver)
            {
                let set = index.sets[matches.set]
                for place in set.firstRanging..<set.firstRanging + set.rangingCount {
                    lists[Int(index.rangings[Int(place)]) * receivers.count + receiver].append(beacon)
                }
            }
            position += 1
        }
        if !listed.isEmpty { lastListedTick = tick }
        for (place, receiver) in receivers.enumerated() {
            for number in 0..<rangings.extent {
                guard let id = rangings.id(at: number) else { continue }
                events.append(
                    .ranged(
                        RangingReport(
                            ranging: RangingID(id), time: Timestamp(nanoseconds: tick), receiver: receiver,
                            beacons: beacons(of: lists[number * receivers.count + place]))))
            }
        }
    }

    /// The beacons of a report in order: nearest first, unknown last; where that does not decide, by identity and
    /// address, so that order never depends on chance.
    private func beacons(of list: consuming [RankedBeacon]) -> [RangedBeacon] {
        list.sortByRank()
        // Those of one rank are few, but for unknown distances. Pairs are the most frequent, and need no sorting.
        var start = 0
        while start < list.count {
            var end = start + 1
            while end < list.count, list[end].rank == list[start].rank { end += 1 }
            if end - start == 2 {
                if isBefore(list[start + 1], list[start]) { list.swapAt(start, start + 1) }
            } else if end - start > 2 {
                list[start..<end].sort { isBefore($0, $1) }
            }
            start = end
        }
        return list.map { beacon in
            let track = tracks[Int(beacon.number)]
            return RangedBeacon(
                address: track.pointee.key.deviceAddress, identity: track.pointee.key.identity,
                proximity: beacon.proximity, accuracy: beacon.accuracy, rssi: Int(beacon.rssi),
                lastHeard: Timestamp(nanoseconds: track.pointee.lastHeard))
        }
    }

    /// Whether a beacon comes before another of the same rank.
    private func isBefore(_ left: RankedBeacon, _ right: RankedBeacon) -> Bool {
        if left.accuracy != right.accuracy { return left.accuracy < right.accuracy }
        let (left, right) = (tracks[Int(left.number)].pointee.key, tracks[Int(right.number)].pointee.key)
        if left.identity != right.identity { return left.identity < right.identity }
        return left.deviceAddress.bits < right.deviceAddress.bits
    }

    /// What a report says of a beacon, or nil if it is gone. The readings of the second are used up.
    private mutating func assess(_ number: Int, at tick: Int64) -> RankedBeacon? {
        let track = tracks[number]
        let silence = tick - track.pointee.lastHeard
        let gap = track.pointee.interval.usualGap
        guard silence < max(Self.goneAfter, Self.goneGaps * gap) else { return nil }
        let signal = tracks.signal(number)
        let digest = signal.pointee.digest
        signal.pointee.digest = SampleDigest()
        let state = tracks.level(number)
        strategy.filter.update(&state.pointee.filter, with: digest)
        if let mean = digest.roundedMean { state.pointee.reportedRSSI = mean }
        var beacon = RankedBeacon(number: UInt32(number))
        if silence < max(Self.unknownAfter, Self.unknownGaps * gap),
            let level = strategy.filter.level(state.pointee.filter)
        {
            beacon.rssi = state.pointee.reportedRSSI
            // A beacon that gives no negative power for one metre was never calibrated: it has no distance.
            if track.pointee.measuredPower < 0 {
                beacon.accuracy = strategy.distance.distance(
                    level: level, measuredPower: track.pointee.measuredPower)
                beacon.proximity = strategy.classifier.classify(
                    beacon.accuracy, previous: state.pointee.proximity)
                state.pointee.proximity = beacon.proximity
            }
        }
        return beacon
    }
}
