import BeaconEngine
import BeaconMQTT
import BeaconModel
import BeaconMonitoring

/// The present state of a gateway, for the console: regions, places and ranging, each with its time.
///
/// It is fed with what happens and asked when somebody looks. Where nobody can look, it keeps nothing.
struct GatewayView: Sendable {
    /// When a region changed last, and by which receiver.
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

    /// The most beacons whose place is known, and the number from which on those are forgotten that are in none:
    /// identities that somebody invents do not fill memory.
    private static let mostBeacons = EngineConfiguration.usualMaximumTrackedBeacons
    private static let mostShown = 2_000

    /// The time after which a report says nothing more: its receiver does not hear, or its source has ended.
    private static let reportLifetime = 5 * Timestamp.nanosecondsPerSecond

    /// True where somebody can look.
    var isKept: Bool

    /// The newest change of what is known of each region, by its name.
    private(set) var regionChanges: [String: RegionUpdate] = [:]
    /// Where each beacon is, as it was said last.
    private(set) var whereabouts: [BeaconIdentity: PlaceEvent] = [:]
    /// Since when each beacon is where it is.
    private(set) var placeTimes: [BeaconIdentity: Timestamp] = [:]
    private var reports: [Origin: (time: Timestamp, event: RangingEvent)] = [:]
    private var changedTopics: Set<EventBroadcast.Topic> = []

    /// A view of a gateway that has not begun.
    ///
    /// - Parameter isKept: whether somebody can look.
    init(isKept: Bool) { self.isKept = isKept }

    // MARK: - What was known before

    /// Takes in when a region changed in an earlier run.
    mutating func restore(_ change: RegionUpdate, of region: String) { regionChanges[region] = change }

    /// Takes in where a beacon was in an earlier run, which has to be seen again.
    mutating func restore(_ beacon: BeaconIdentity, in place: String, at time: Timestamp) {
        guard isKept else { return }
        whereabouts[beacon] = PlaceEvent(time: time, identity: beacon, state: .unknown, place: nil, before: place)
    }

    /// Forgets a region that is no more, or another one of the same name.
    mutating func forget(region: String) { regionChanges[region] = nil }

    /// Gives regions and places their new names.
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

    /// Forgets what a receiver reported, since it is gone.
    mutating func forget(receiver: ReceiverID) { reports = reports.filter { $0.key.receiver != receiver } }

    // MARK: - What happens

    /// Takes in a change of a region of the configuration, by the wall clock.
    mutating func receive(_ event: RegionEvent) {
        // What is known does not change by an outage, nor by what is found as it was after one.
        if event.state != .unknown, regionChanges[event.name]?.state != event.state {
            regionChanges[event.name] = RegionUpdate(state: event.state, time: event.time, receiver: event.receiver)
        }
        change(.regions)
    }

    /// Takes in a beacon's change of place.
    ///
    /// - Parameters:
    ///   - event: the change.
    ///   - known: the place that it was known to be in.
    /// - Returns: false for a beacon that was never heard: it is in no place, but it has not left one.
    mutating func receive(_ event: PlaceEvent, known: String?) -> Bool {
        let last = whereabouts[event.identity]
        let isUnseen = event.state == .outside && event.before == nil && (last.map { $0.state == .outside } ?? true)
        guard isKept else { return !isUnseen }
        change(.places)
        guard last != nil || whereabouts.count < Self.mostBeacons else { return !isUnseen }
        let isSame = isUnseen || event.state == .inside && event.place == known
        if !isSame || placeTimes[event.identity] == nil { placeTimes[event.identity] = event.time }
        whereabouts[event.identity] = event
        guard event.state == .outside, whereabouts.count > Self.mostShown else { return !isUnseen }
        for beacon in whereabouts.filter({ $0.value.state == .outside }).keys {
            whereabouts[beacon] = nil
            placeTimes[beacon] = nil
        }
        return !isUnseen
    }

    /// Takes in a report of ranging.
    ///
    /// - Parameters:
    ///   - event: the report, by the wall clock.
    ///   - time: its time by the core's clock.
    ///   - receiver: the receiver, whose name may not be its alone.
    mutating func receive(_ event: RangingEvent, at time: Timestamp, from receiver: ReceiverID) {
        guard isKept else { return }
        reports[Origin(receiver: receiver, constraint: event.constraint)] = (time, event)
    }

    /// Notes that a list has changed.
    mutating func change(_ topic: EventBroadcast.Topic) {
        if isKept { changedTopics.insert(topic) }
    }

    // MARK: - What is asked

    /// Returns the lists that have changed, each once.
    mutating func takeTopics() -> Set<EventBroadcast.Topic> {
        defer { changedTopics = [] }
        return changedTopics
    }

    /// Returns the newest report of each receiver and constraint that still holds.
    ///
    /// - Parameter time: the core's time.
    func reports(at time: Timestamp?) -> [RangingEvent] {
        reports.values.filter { (time ?? .zero).since($0.time) <= Self.reportLifetime }.map(\.event)
    }
}
