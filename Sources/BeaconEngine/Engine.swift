public import BeaconModel

/// The monitoring and ranging of beacons: turns adverts into region changes and proximities.
///
/// The engine does no I/O and reads no clock. ``receive(_:)`` accepts sightings in the order in which they were heard,
/// and ``advance(to:)`` advances the time; ``drainEvents()`` returns the events of both. The same input always gives
/// the same output.
///
/// The source sets the time. A time before the newest one counts as the newest one.
///
/// Silence means absence only while a receiver hears. ``setHearing(_:of:at:isDoubt:wasHearing:)`` and
/// ``skip(from:to:of:)`` report the times when it does not.
public struct Engine: ~Copyable {
    let strategy: RangingStrategy

    /// The calibrations and learned offsets of beacons.
    var calibrations: CalibrationTable

    /// The newest time, in nanoseconds; negative before the first.
    @usableFromInline var now: Int64 = -1

    /// The earliest time at which a timer may be due.
    @usableFromInline var nextDue: Int64 = .max

    /// The engine's counts.
    public internal(set) var statistics = EngineStatistics()

    var tracks: TrackTable

    /// The disputes about the powers of tracks, by the track's number.
    var powerDisputes: [Int: PowerDispute] = [:]

    /// The uncalibrated beacons that were already reported.
    var uncalibrated = UncalibratedReports()

    var index = ConstraintIndex()

    /// The track at which the search for stale tracks continues.
    var sweepPosition = 0

    var regions = SlotTable<RegionSlot>()

    /// The part of each region's state that adverts touch, by the region's number.
    var watches = WatchTable()

    var deadlines = DeadlineHeap()

    /// Regions that were added before the first time. Their time-outs begin with it.
    var waitingForTime: [RegionID] = []

    var rangings = SlotTable<RangingSlot>()
    var receivers: ReceiverTable

    /// The located beacons, and the requests for their adverts; nil without a place map.
    var places: PlaceTracker?
    var locatings: [RangingID] = []
    let placeCapacity: Int

    /// The learned offsets and their learner.
    var offsets = OffsetLearning()

    /// The learned signal levels, for regions without configured levels.
    var learned = LearnedSignals()

    var nextTick: Int64 = .max
    var lastListedTick: Int64 = .min

    /// The numbers of the tracks that reports list.
    var listed: [UInt32] = []

    /// The distances that count although their receivers do not hear.
    var heldDistances: [BeaconIdentity: HeldDistance] = [:]

    @usableFromInline var events: [EngineEvent] = []

    /// Creates an engine without regions or ranging requests.
    public init(configuration: EngineConfiguration = EngineConfiguration()) {
        strategy = configuration.strategy
        calibrations = CalibrationTable(configuration.beaconCalibrations, for: strategy.distance)
        let capacity = min(max(configuration.maximumTrackedBeacons, 1), TrackTable.largestCapacity)
        tracks = TrackTable(capacity: capacity, seed: configuration.hashSeed)
        receivers = ReceiverTable(capacity: configuration.maximumReceivers)
        placeCapacity = max(configuration.maximumTrackedBeacons, 1)
    }

    // MARK: - Requests

    /// Begins to monitor a region.
    ///
    /// A region of unknown state becomes outside if no advert enters it within its exit time-out.
    ///
    /// - Parameters:
    ///   - region: the region, with its rules.
    ///   - state: its last known state, for instance from an earlier run. A region that was inside has its full exit
    ///     time-out, as if it had been heard now.
    ///   - holder: the receiver whose silence alone decides: the one that last heard a region that was inside, or the
    ///     one that an unknown state is compared with, if any.
    public mutating func startMonitoring(
        _ region: MonitoredRegion, assuming state: RegionState = .unknown, heldBy holder: ReceiverID? = nil
    ) -> RegionID {
        let id = RegionID(regions.insert(RegionSlot(constraint: region.constraint)))
        var watch = RegionWatch(region, assuming: state)
        if let holder, state != .outside { watch.lastReceiver = holder.index }
        watches.put(watch, at: Int(id.number))
        index.add(region: id.number, for: region.constraint)
        if region.isSignalLearned { startTeaching(region.constraint.uuid) }
        if state == .inside || state == .unknown && !region.ignoresSilence {
            // Before the first time there is nothing to count from. The first time starts the wait.
            if now < 0 { waitingForTime.append(id) } else { beginWait(id, from: now) }
        }
        return id
    }

    /// Ends the monitoring of a region. A second call has no effect.
    public mutating func stopMonitoring(_ region: RegionID) {
        guard let slot = regions.remove(region.slot) else { return }
        index.remove(region: region.number, for: slot.constraint)
        if watches[Int(region.number)].isSignalLearned {
            learned.forget(region.number)
            stopTeaching(slot.constraint.uuid)
        }
    }

    /// Returns a region's state; unknown once it is no longer monitored.
    public func state(of region: RegionID) -> RegionState {
        regions[region.slot] == nil ? .unknown : watches[Int(region.number)].state
    }

    /// Begins to report on beacons each whole second.
    ///
    /// A request begins without history. It uses a beacon's signal history only if other requests have ranged the
    /// beacon without a break.
    ///
    /// - Parameter constraint: the beacons; nil for all.
    public mutating func startRanging(_ constraint: BeaconConstraint?) -> RangingID {
        add(RangingSlot(constraint: constraint))
    }

    mutating func add(_ request: RangingSlot) -> RangingID {
        let constraint = request.constraint
        let id = RangingID(rangings.insert(request))
        index.add(ranging: id.number, for: constraint)
        if nextTick == .max, now >= 0 { nextTick = Self.wholeSecond(atOrAfter: now + 1) }
        updateDue()
        return id
    }

    /// Ends the reports of a request. A second call has no effect.
    public mutating func stopRanging(_ ranging: RangingID) {
        guard let slot = rangings.remove(ranging.slot) else { return }
        index.remove(ranging: ranging.number, for: slot.constraint)
        unlistUnranged(of: slot.constraint)
        if rangings.count == 0 { nextTick = .max }
        updateDue()
    }

    /// Adds a receiver, so that it has reports even while it hears no beacon.
    public mutating func addReceiver(_ receiver: ReceiverID) { _ = place(of: receiver) }

    /// Sets the calibration of a receiver, and adds the receiver if it is new.
    public mutating func setCalibration(_ calibration: ReceiverCalibration, of receiver: ReceiverID) {
        guard let place = place(of: receiver) else { return }
        receivers[place].offset = calibration.offset
        receivers[place].floor = ReceiverFloor(sensitivity: calibration.sensitivity)
    }

    /// Sets whether a receiver is used for ranging. A receiver that is not has no reports, and decides about no
    /// distance. Its adverts count for regions and places.
    public mutating func setRanging(_ isRanging: Bool, of receiver: ReceiverID) {
        if isRanging, receivers.isNew(receiver) { return }
        if let place = place(of: receiver) { receivers[place].isRanging = isRanging }
    }

    /// The number of tracked beacons, each by receiver and address.
    public var trackedBeacons: Int { tracks.count }

    /// Returns the events since the last call, in order.
    public mutating func drainEvents() -> [EngineEvent] {
        guard !events.isEmpty else { return [] }
        defer { events = [] }
        return events
    }

    /// True if ``drainEvents()`` would return any event.
    @inlinable public var hasEvents: Bool { !events.isEmpty }

    // MARK: - Input

    /// Processes a sighting, after everything that was due before it.
    ///
    /// A sighting by a deaf receiver counts as heard when the receiver became deaf: it was already on its way.
    public mutating func receive(_ sighting: Sighting) {
        let time = max(now, sighting.time.nanoseconds)
        if time > nextDue || now < 0 { pass(upTo: time) }
        now = time
        statistics.sightings &+= 1
        let heard =
            receivers.deafCount == 0
            ? time
            : receivers.lastHearing(of: sighting.receiver, until: time, advert: sighting.time.nanoseconds)
        let key = TrackKey(sighting)
        if let number = tracks.findNext(key) {
            updateTrack(number, sighting, at: heard)
        } else {
            beginTrack(key, sighting, at: heard)
        }
    }

    /// The maximum number of sightings for one call of ``expect(_:)``.
    public static var maximumExpected: Int { ExpectedTracks.most }

    /// Looks up the beacons of the sightings that ``receive(_:)`` will process next, in this order.
    ///
    /// The results are the same without this call, and also if other sightings arrive. The call saves time with many
    /// beacons whose memory is not in the processor's cache, because the memory accesses overlap.
    ///
    /// - Parameter sightings: the sightings. Those beyond ``maximumExpected`` are not looked up.
    public mutating func expect(_ sightings: Span<Sighting>) {
        tracks.expect(sightings, isRanging: !listed.isEmpty)
    }

    /// Advances the time up to and including `time`.
    public mutating func advance(to time: Timestamp) {
        pass(upTo: time.nanoseconds)
        now = max(now, time.nanoseconds)
        while nextDue <= now { doNext(limit: now) }
    }

    /// Advances the time up to `time` without processing what is due at `time` itself, since more may still happen
    /// then.
    @inlinable
    public mutating func advance(upTo time: Timestamp) {
        if time.nanoseconds > nextDue || now < 0 { pass(upTo: time.nanoseconds) }
        now = max(now, time.nanoseconds)
    }

    // MARK: - Time

    static func wholeSecond(atOrAfter time: Int64) -> Int64 {
        let second = Timestamp.nanosecondsPerSecond
        return (time + second - 1) / second * second
    }

    mutating func updateDue() { nextDue = min(nextTick, deadlines.earliest) }

    /// Processes everything that is due before `time`, but not at it.
    @usableFromInline
    mutating func pass(upTo time: Int64) {
        if now < 0 { start(at: time) }
        while nextDue < time { doNext(limit: time - 1) }
    }

    /// Starts the engine's clock at the first time.
    private mutating func start(at time: Int64) {
        now = time
        if rangings.count > 0 { nextTick = Self.wholeSecond(atOrAfter: time) }
        receivers.start(at: time)
        for region in waitingForTime where regions[region.slot] != nil { beginWait(region, from: time) }
        waitingForTime = []
        updateDue()
    }

    /// Processes the earliest timer. At the same time, a deadline comes before a report.
    ///
    /// - Parameter limit: the latest time that is due.
    private mutating func doNext(limit: Int64) {
        if deadlines.earliest <= nextTick {
            fireDeadline()
        } else if let tick = tickAfterIdleness(limit: limit) {
            nextTick = tick
        } else {
            report(at: nextTick)
            nextTick += Timestamp.nanosecondsPerSecond
        }
        updateDue()
    }
}
