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
    /// The time for which a tracker keeps its state while the presence is unknown. Otherwise each outage of the
    /// receivers would take the person out of the zone.
    static let unknownGrace = Duration.seconds(300)

    private var presence = RegionState.unknown
    private var tracker: RegionState?
    private var unknownSince: ContinuousClock.Instant?
    private var place: String?
    private var readings: [String: Reading] = [:]
    private var shown = ShownReading()
    /// The time of the newest report.
    private var newest: Timestamp?

    /// The times of the newest report that was not late, by both clocks.
    private var lastReport: (time: Timestamp, arrival: ContinuousClock.Instant)?

    /// The time of the first late report since then.
    private var lateSince: Timestamp?

    /// The state to publish. Everything in it is unknown at first.
    private(set) var published: BeaconState

    init(_ beacon: NamedBeacon) {
        tracker = beacon.isTracker ? .unknown : nil
        published = BeaconState(tracker: tracker)
        identity = beacon.identity
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
        // While no receiver hears, and after the beacon has left, the last readings are no longer valid.
        if state != .inside { readings = [:] }
        if state == .outside { shown.forget() }
        return update(at: newest ?? time)
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
        return update(at: newest ?? change.time)
    }

    /// Switches to another configuration, and renames the beacon's place. This is not a change of place. A place that
    /// does not exist any longer becomes unknown.
    ///
    /// - Parameters:
    ///   - beacon: the beacon, with the same identity.
    ///   - names: the new names of places, by the old ones.
    ///   - places: the names of all places; empty if beacons are no longer located.
    mutating func configure(_ beacon: NamedBeacon, renamed names: [String: String], in places: Set<String>) {
        tracker = beacon.isTracker ? tracker ?? presence : nil
        published.tracker = tracker
        place = place.map { names[$0] ?? $0 }
        if let name = place, name == BeaconState.nowhere ? places.isEmpty : !places.contains(name) { place = nil }
        published.place = place
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
        guard isOld || tracker != published.tracker else { return false }
        if isOld { readings = readings.filter { now - $0.value.arrival <= age } }
        return update(at: newest ?? .zero)
    }

    /// Replaces the shown distance by the present estimate, because no subscriber has an older one.
    ///
    /// - Returns: Whether ``published`` changed.
    mutating func renew() -> Bool {
        shown.forget()
        return update(at: newest ?? .zero)
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
        newest = report.time
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

    /// Updates ``published``.
    ///
    /// - Parameter time: the time of the newest report.
    /// - Returns: Whether it changed.
    private mutating func update(at time: Timestamp) -> Bool {
        shown.receive(estimate(at: time), isGap: isGap, at: time)
        let (before, estimate) = (published, shown.estimate)
        published = BeaconState(
            presence: presence, proximity: shown.proximity, distance: estimate?.shownDistance, rssi: estimate?.rssi,
            receiver: estimate?.receiver, place: place, tracker: tracker)
        return published != before
    }

    /// Whether an unknown distance may only be a gap between two adverts: a receiver still lists the beacon, and no
    /// deaf receiver decides about it.
    private var isGap: Bool {
        presence != .outside && !readings.isEmpty && !readings.values.contains { $0.beacon.isUndecided }
    }

    /// Returns the estimate of the nearest receiver; nil if the distance is unknown.
    private func estimate(at time: Timestamp) -> ShownReading.Estimate? {
        guard presence != .outside else { return nil }
        let nearest = readings.filter { time.since($0.value.time) <= Self.oldest && $0.value.beacon.accuracy >= 0 }
            .min { ($0.value.beacon.accuracy, $0.key) < ($1.value.beacon.accuracy, $1.key) }
        return nearest.map { ShownReading.Estimate($0.value.beacon, from: $0.key) }
    }
}
