import BeaconEngine
import BeaconMQTT
import BeaconModel
import BeaconMonitoring

/// The present state of a gateway for the console: regions, places and ranging, each with its time.
///
/// It keeps nothing in a gateway without a console.
struct GatewayView: Sendable {
    /// The last change of a region, and the receiver that caused it.
    struct RegionUpdate: Hashable, Sendable {
        var state: RegionState
        var time: Timestamp
        var receiver: String?
    }

    /// The origin of a ranging report.
    private struct Origin: Hashable {
        var receiver: ReceiverID
        var constraint: BeaconConstraint?
    }

    /// The most beacons with a place to remember, and the number from which on beacons outside all places are
    /// forgotten. Limits the memory that invented identities can occupy.
    private static let maximumBeacons = EngineConfiguration.defaultMaximumTrackedBeacons
    private static let maximumShown = 2_000

    /// The time after which a report is outdated, because its receiver is deaf or its source has ended.
    private static let reportLifetime = 5 * Timestamp.nanosecondsPerSecond

    /// True if the gateway has a console.
    var isKept: Bool

    /// The newest change of each region's known state, by the region's name.
    private(set) var regionChanges: [String: RegionUpdate] = [:]
    /// The last reported place of each beacon.
    private(set) var whereabouts: [BeaconIdentity: PlaceEvent] = [:]
    /// The time since when each beacon is there.
    private(set) var placeTimes: [BeaconIdentity: Timestamp] = [:]
    private var reports: [Origin: (time: Timestamp, event: RangingEvent)] = [:]
    private var changedTopics: Set<EventBroadcast.Topic> = []

    /// Creates the view of a gateway that has not started.
    ///
    /// - Parameter isKept: whether the gateway has a console.
    init(isKept: Bool) { self.isKept = isKept }

    // MARK: - Earlier runs

    /// Restores a region's last change in an earlier run.
    mutating func restore(_ change: RegionUpdate, of region: String) { regionChanges[region] = change }

    /// Restores a beacon's place in an earlier run. The beacon has to be heard there again.
    mutating func restore(_ beacon: BeaconIdentity, in place: String, at time: Timestamp) {
        guard isKept else { return }
        whereabouts[beacon] = PlaceEvent(time: time, identity: beacon, state: .unknown, place: nil, before: place)
    }

    /// Forgets a region that was removed or replaced by another of the same name.
    mutating func forget(region: String) { regionChanges[region] = nil }

    /// Renames regions and places.
    mutating func rename(_ renamed: RenamedItems) {
        regionChanges = Dictionary(regionChanges.map { (renamed.regions[$0.key] ?? $0.key, $0.value) }) { first, _ in
            first
        }
        guard !renamed.places.isEmpty else { return }
        for (beacon, event) in whereabouts {
            whereabouts[beacon]?.place = event.place.map { renamed.places[$0] ?? $0 }
            whereabouts[beacon]?.before = event.before.map { renamed.places[$0] ?? $0 }
        }
    }

    /// Forgets the reports of a receiver that is gone.
    mutating func forget(receiver: ReceiverID) { reports = reports.filter { $0.key.receiver != receiver } }

    // MARK: - Events

    /// Records a change of a configured region, by the wall clock.
    mutating func receive(_ event: RegionEvent) {
        // An outage does not change the known state. Finding the same state after it is no change either.
        if event.state != .unknown, regionChanges[event.name]?.state != event.state {
            regionChanges[event.name] = RegionUpdate(state: event.state, time: event.time, receiver: event.receiver)
        }
        change(.regions)
    }

    /// Records a beacon's change of place.
    ///
    /// - Parameters:
    ///   - event: the change.
    ///   - known: its last known place.
    ///   - isNamed: true if the user named the beacon.
    /// - Returns: false if the beacon was never heard: it is outside all places, but did not leave one.
    mutating func receive(_ event: PlaceEvent, known: String?, isNamed: Bool) -> Bool {
        let last = whereabouts[event.identity]
        let isUnseen = event.state == .outside && event.before == nil && (last.map { $0.state == .outside } ?? true)
        guard isKept else { return !isUnseen }
        change(.places)
        guard last != nil || isNamed || whereabouts.count < Self.maximumBeacons else { return !isUnseen }
        let isSame = isUnseen || event.state == .inside && event.place == known
        if !isSame || placeTimes[event.identity] == nil { placeTimes[event.identity] = event.time }
        whereabouts[event.identity] = event
        guard event.state == .outside, whereabouts.count > Self.maximumShown else { return !isUnseen }
        for beacon in whereabouts.filter({ $0.value.state == .outside }).keys {
            whereabouts[beacon] = nil
            placeTimes[beacon] = nil
        }
        return !isUnseen
    }

    /// Records a ranging report.
    ///
    /// - Parameters:
    ///   - event: the report, by the wall clock.
    ///   - time: its time by the core's clock.
    ///   - receiver: the receiver. Its name may not be unique.
    mutating func receive(_ event: RangingEvent, at time: Timestamp, from receiver: ReceiverID) {
        guard isKept else { return }
        reports[Origin(receiver: receiver, constraint: event.constraint)] = (time, event)
    }

    /// Marks a list as changed.
    mutating func change(_ topic: EventBroadcast.Topic) {
        if isKept { changedTopics.insert(topic) }
    }

    // MARK: - Queries

    /// Returns the lists that have changed since the last call.
    mutating func takeTopics() -> Set<EventBroadcast.Topic> {
        defer { changedTopics = [] }
        return changedTopics
    }

    /// Returns the newest report of each receiver and constraint, unless it is outdated.
    ///
    /// - Parameter time: the core's time.
    func reports(at time: Timestamp?) -> [RangingEvent] {
        reports.values.filter { (time ?? .zero).since($0.time) <= Self.reportLifetime }.map(\.event)
    }
}
