import BeaconModel

/// A beacon's published state, which changes less often than the beacon is reported.
struct BeaconTracker: Sendable {
    /// The last report of one receiver.
    private struct Reading {
        var time: Timestamp
        /// The time of arrival, by a clock that continues while the machine is suspended.
        var arrival: ContinuousClock.Instant
        var beacon: RangedBeacon
    }

    /// The age at which a reading is ignored, because a receiver that stopped reporting must not determine the
    /// distance. Reports arrive each second.
    private static let oldest: Int64 = 5 * Timestamp.nanosecondsPerSecond

    /// The time after its arrival at which a reading is removed if no report has replaced it. It is longer than
    /// ``oldest``, because a machine under load delays reports.
    static let oldestArrival = Duration.seconds(15)

    /// The same limit at the start of a connection, when nothing is shown yet. A suspended machine may have lost the
    /// previous connection.
    static let oldestArrivalAtConnection = Duration.seconds(5)

    private let identity: BeaconIdentity
    private let options: MQTTStateSettings
    /// The time for which a tracker keeps its state while the presence is unknown. Otherwise each outage of the
    /// receivers would take the person out of the zone.
    static let unknownGrace = Duration.seconds(300)

    private var presence = RegionState.unknown
    private var tracker: RegionState?
    private var unknownSince: ContinuousClock.Instant?
    private var place: String?
    private var hasPlaces: Bool
    private var readings: [String: Reading] = [:]
    private var lastChange: Timestamp?
    private var newest: Timestamp?

    /// The times of the newest report that was not late, by both clocks.
    private var lastReport: (time: Timestamp, arrival: ContinuousClock.Instant)?

    /// The time of the first late report since then.
    private var lateSince: Timestamp?

    /// The state to publish. Everything in it is unknown at first.
    private(set) var published: BeaconState

    init(_ beacon: NamedBeacon, options: MQTTStateSettings, hasPlaces: Bool = false) {
        self.hasPlaces = hasPlaces
        tracker = beacon.isTracker ? .unknown : nil
        published = BeaconState(tracker: tracker, hasPlaces: hasPlaces)
        identity = beacon.identity
        self.options = options
    }

    /// Processes the state of the beacon's own region.
    ///
    /// - Returns: Whether ``published`` changed.
    ///
    /// - Parameters:
    ///   - state: the state.
    ///   - time: its time.
    ///   - now: the time of its arrival.
    mutating func receive(_ state: RegionState, at time: Timestamp, arriving now: ContinuousClock.Instant) -> Bool {
        presence = state
        unknownSince = state == .unknown ? unknownSince ?? now : nil
        if state != .unknown, tracker != nil { tracker = state }
        // While no receiver hears, the last readings are no longer valid.
        if state == .unknown { readings = [:] }
        return update(at: time)
    }

    /// Processes a change of place. Changes of other beacons are ignored.
    ///
    /// - Returns: Whether ``published`` changed.
    mutating func receive(_ change: PlaceEvent) -> Bool {
        guard change.identity == identity else { return false }
        place =
            switch change.state {
            case .unknown: nil
            case .inside: change.place
            case .outside: BeaconState.nowhere
            }
        return update(at: change.time)
    }

    /// Switches to another configuration, and renames the beacon's place. This is not a change of place.
    ///
    /// - Parameters:
    ///   - beacon: the beacon, with the same identity.
    ///   - names: the new names of places, by the old ones.
    ///   - hasPlaces: false if beacons are no longer located.
    mutating func configure(_ beacon: NamedBeacon, places names: [String: String], hasPlaces: Bool) {
        tracker = beacon.isTracker ? tracker ?? presence : nil
        published.tracker = tracker
        self.hasPlaces = hasPlaces
        place = hasPlaces ? place.map { names[$0] ?? $0 } : nil
        published.hasPlaces = hasPlaces
        published.place = hasPlaces ? published.place.map { names[$0] ?? $0 } : nil
    }

    /// Removes old readings, after reports have stopped or the machine was suspended, and the state of a tracker whose
    /// presence has been unknown for long.
    ///
    /// - Parameters:
    ///   - now: the current time.
    ///   - age: the age up to which a reading is kept.
    /// - Returns: Whether ``published`` changed.
    mutating func expire(at now: ContinuousClock.Instant, after age: Duration = oldestArrival) -> Bool {
        if let unknownSince, now - unknownSince >= Self.unknownGrace, tracker != nil { tracker = .unknown }
        let isOld = readings.values.contains { now - $0.arrival > age }
        guard let newest, isOld || tracker != published.tracker else { return false }
        if isOld {
            readings = readings.filter { now - $0.value.arrival <= age }
            lastChange = nil
        }
        return update(at: newest)
    }

    /// Processes a report, which may concern other beacons.
    ///
    /// - Parameters:
    ///   - report: the report.
    ///   - now: the time of its arrival.
    /// - Returns: Whether ``published`` changed.
    mutating func receive(_ report: RangingEvent, at now: ContinuousClock.Instant) -> Bool {
        // Ignore a report about other beacons.
        guard report.constraint?.matches(identity) ?? true else { return false }
        if isLate(report.time, at: now) {
            readings = [:]
            return update(at: report.time)
        }
        // The nearest beacon is first. It counts if two devices have the same identity.
        readings[report.receiver] = report.beacons.first { $0.identity == identity }
            .map { Reading(time: report.time, arrival: now, beacon: $0) }
        return update(at: report.time)
    }

    /// Returns whether a report is from before the machine was suspended. The time between its arrival and that of the
    /// newest punctual report is then longer than the reports' own times indicate. A busy machine may delay several
    /// such reports. If reports stay late, their source had stopped for a while, and they are used.
    private mutating func isLate(_ time: Timestamp, at now: ContinuousClock.Instant) -> Bool {
        if let lastReport {
            let delay = lastReport.arrival.duration(to: now) - .nanoseconds(time.since(lastReport.time))
            let first = lateSince ?? time
            if delay > Self.oldestArrivalAtConnection, time.since(first) < Self.oldest {
                lateSince = first
                return true
            }
        }
        lateSince = nil
        lastReport = (time, now)
        return false
    }

    private mutating func update(at time: Timestamp) -> Bool {
        newest = time
        let state = state(at: time)
        guard state != published else { return false }
        if state.presence == published.presence, state.proximity == published.proximity, state.place == published.place,
            state.tracker == published.tracker
        {
            let (seconds, attoseconds) = options.minimumInterval.components
            let interval = seconds * Timestamp.nanosecondsPerSecond + attoseconds / 1_000_000_000
            if let lastChange, time.since(lastChange) < interval { return false }
            guard state.differs(from: published, by: options) else { return false }
        }
        published = state
        lastChange = time
        return true
    }

    private func state(at time: Timestamp) -> BeaconState {
        var state = BeaconState(presence: presence, place: place, tracker: tracker, hasPlaces: hasPlaces)
        guard presence != .outside else { return state }
        let current = readings.filter { time.since($0.value.time) <= Self.oldest }
        func order(_ reading: (key: String, value: Reading)) -> (Double, String) {
            (RangedBeacon.distance(of: reading.value.beacon.accuracy), reading.key)
        }
        guard let heard = current.min(by: { order($0) < order($1) }) else { return state }
        let beacon = heard.value.beacon
        state.receiver = beacon.accuracy < 0 ? nil : heard.key
        state.proximity = beacon.proximity
        state.distance = beacon.accuracy < 0 ? nil : (beacon.accuracy * 10).rounded() / 10
        state.rssi = beacon.rssi == 0 ? nil : beacon.rssi
        return state
    }
}
