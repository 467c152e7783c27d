public import BeaconModel

/// The meaning of adverts: the regions that are entered and left, and how near each beacon is.
///
/// The engine does no I/O and reads no clock. It receives sightings by ``receive(_:)`` in the order in which they were
/// heard, and ``advance(to:)`` advances the time; ``takeEvents()`` returns the events of both. The same input gives the
/// same output, always.
///
/// Time is what its source says. A time that lies before the newest one counts as that newest one.
///
/// Silence is absence only where a receiver hears: ``setHearing(_:of:at:isDoubt:wasHearing:)`` and
/// ``skip(from:to:of:)`` say when one did not.
public struct Engine: ~Copyable {
    let strategy: RangingStrategy

    /// What was measured of beacons.
    let calibrations: CalibrationTable

    /// The newest time, in nanoseconds; negative before the first.
    @usableFromInline var now: Int64 = -1

    /// The earliest moment at which something may have to be done.
    @usableFromInline var nextDue: Int64 = .max

    /// The counts so far.
    public internal(set) var statistics = EngineStatistics()

    var tracks: TrackTable

    /// The disputes about the powers of tracks, by the track's number.
    var powerDisputes: [Int: PowerDispute] = [:]

    /// The uncalibrated beacons that were reported already.
    var uncalibrated = UncalibratedReports()

    var index = ConstraintIndex()

    /// The track at which the search for tracks that may be forgotten continues.
    var sweepPosition = 0

    var regions = SlotTable<RegionSlot>()

    /// The part of each region that adverts touch, by the region's number.
    var watches = WatchTable()

    var deadlines = DeadlineHeap()

    /// Regions that were added before the first time, and change unless they are heard.
    var waitingForTime: [RegionID] = []

    var rangings = SlotTable<RangingSlot>()
    var receivers: ReceiverTable

    /// The beacons that are located, and the requests for their adverts; nil where no places are known.
    var places: PlaceTracker?
    var locatings: [RangingID] = []
    let placeCapacity: Int

    /// What is learnt of signals, for regions that have no levels of their own.
    var learned = LearnedSignals()

    var nextTick: Int64 = .max
    var lastListedTick: Int64 = .min

    /// The numbers of the tracks that reports list.
    var listed: [UInt32] = []

    @usableFromInline var events: [EngineEvent] = []

    /// Creates an engine without regions and ranging requests.
    public init(configuration: EngineConfiguration = EngineConfiguration()) {
        strategy = configuration.strategy
        calibrations = CalibrationTable(configuration.beaconCalibrations)
        let capacity = min(max(configuration.maximumTrackedBeacons, 1), TrackTable.largestCapacity)
        tracks = TrackTable(capacity: capacity, seed: configuration.hashSeed)
        receivers = ReceiverTable(capacity: configuration.maximumReceivers)
        placeCapacity = max(configuration.maximumTrackedBeacons, 1)
    }

    // MARK: - Requests

    /// Begins to monitor a region.
    ///
    /// A region of unknown state is outside once its exit time-out has passed without an advert that enters it.
    ///
    /// - Parameters:
    ///   - region: the region, with its rules.
    ///   - state: its state as it was known before, from an earlier run for instance. A region that was inside has as
    ///     long to be heard again as if it had been heard now.
    ///   - holder: the receiver that is known to have kept a region that was inside, or with which an unknown state is
    ///     compared, whose silence alone decides; nil where none is.
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
            // Before the first time there is none to count from; the first one starts it.
            if now < 0 { waitingForTime.append(id) } else { beginWait(id, from: now) }
        }
        return id
    }

    /// Ends the monitoring of a region. Doing so twice is harmless.
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
    /// A request begins with nothing: what an earlier one has learnt of a beacon's signal is known to it only if the
    /// beacon has been ranged by one request or another ever since.
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

    /// Ends the reports of a request. Doing so twice is harmless.
    public mutating func stopRanging(_ ranging: RangingID) {
        guard let slot = rangings.remove(ranging.slot) else { return }
        index.remove(ranging: ranging.number, for: slot.constraint)
        unlistUnranged(of: slot.constraint)
        if rangings.count == 0 { nextTick = .max }
        updateDue()
    }

    /// Adds a receiver, so that it has reports of its own even while it hears no beacon.
    public mutating func addReceiver(_ receiver: ReceiverID) { _ = place(of: receiver) }

    /// Sets what was measured of a receiver. One that is not known becomes known.
    public mutating func setCalibration(_ calibration: ReceiverCalibration, of receiver: ReceiverID) {
        guard let place = place(of: receiver) else { return }
        receivers[place].offset = calibration.offset
        receivers[place].floor = ReceiverFloor(sensitivity: calibration.sensitivity)
    }

    /// The number of beacons that are tracked, each by receiver and address.
    public var trackedBeacons: Int { tracks.count }

    /// Returns what has happened since the last call, in order.
    public mutating func takeEvents() -> [EngineEvent] {
        guard !events.isEmpty else { return [] }
        defer { events = [] }
        return events
    }

    /// True where ``takeEvents()`` would return anything.
    @inlinable public var hasEvents: Bool { !events.isEmpty }

    // MARK: - Input

    /// Processes a sighting, after all that was due before it.
    ///
    /// A sighting by a receiver that is deaf counts as heard at the moment at which it became so: it was on its way.
    public mutating func receive(_ sighting: Sighting) {
        let time = max(now, sighting.time.nanoseconds)
        if time > nextDue || now < 0 { pass(upTo: time) }
        now = time
        statistics.sightings &+= 1
        let heard = receivers.deafCount == 0 ? time : receivers.lastHearing(of: sighting.receiver, until: time)
        let key = TrackKey(sighting)
        if let number = tracks.findNext(key) {
            updateTrack(number, sighting, at: heard)
        } else {
            beginTrack(key, sighting, at: heard)
        }
    }

    /// The most sightings that ``expect(_:)`` can look up at once.
    public static var mostExpected: Int { ExpectedTracks.most }

    /// Looks up the beacons of the sightings that ``receive(_:)`` will process next, in this order.
    ///
    /// The results are the same without this call, and also where other sightings come. It saves time with many
    /// beacons, whose memory is far from the processor: the waits for it overlap.
    ///
    /// - Parameter sightings: the sightings. Those beyond ``mostExpected`` are not looked up.
    public mutating func expect(_ sightings: Span<Sighting>) {
        tracks.expect(sightings, isRanging: !listed.isEmpty)
    }

    /// Advances the time up to and including `time`.
    public mutating func advance(to time: Timestamp) {
        pass(upTo: time.nanoseconds)
        now = max(now, time.nanoseconds)
        while nextDue <= now { doNext(limit: now) }
    }

    /// Advances the time up to `time`, at which more may still happen: what is due at this very moment waits.
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

    /// Processes all that is due before `time`, but not at it.
    @usableFromInline
    mutating func pass(upTo time: Int64) {
        if now < 0 { start(at: time) }
        while nextDue < time { doNext(limit: time - 1) }
    }

    /// Begins with the first time.
    private mutating func start(at time: Int64) {
        now = time
        if rangings.count > 0 { nextTick = Self.wholeSecond(atOrAfter: time) }
        receivers.start(at: time)
        for region in waitingForTime where regions[region.slot] != nil { beginWait(region, from: time) }
        waitingForTime = []
        updateDue()
    }

    /// Processes what is due first. Of a report and a deadline of the same moment, the deadline comes first.
    ///
    /// - Parameter limit: the last moment that is due.
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
