import BeaconEngine
import BeaconModel

/// What the clients of a center watch for themselves, beside the regions that belong to the application.
///
/// The engine treats both alike. But what is in this book is known to one client only, goes with it, is kept by it, and has
/// a limit of its own; `monitoredRegions` and the callbacks of regions know nothing of it.
struct WatchBook {
    private struct Watch {
        var constraint: BeaconConstraint
        var client: ClientID
        var state: RegionState
        var region: RegionID?
        var isBeyondLimit = false
    }

    private let limit: Int
    private var watches: [WatchID: Watch] = [:]
    /// Watches in the order in which they came: those that came first are within the limit.
    private var order: [WatchID] = []
    private var byRegion: [RegionID: WatchID] = [:]
    private var reports: [(client: ClientID, report: WatchReport)] = []

    /// An empty book.
    ///
    /// - Parameter limit: how much is watched at once; nil for any number.
    init(limit: Int?) { self.limit = limit ?? .max }

    /// The deployments that the radio has to listen for.
    var deployments: Set<ProximityUUID> {
        Set(order.prefix(limit).compactMap { watches[$0]?.constraint.uuid })
    }

    mutating func add(
        _ id: WatchID, _ constraint: BeaconConstraint, assuming state: RegionState, for client: ClientID,
        at time: Timestamp?
    ) {
        guard watches[id] == nil else { return }
        watches[id] = Watch(constraint: constraint, client: client, state: state)
        order.append(id)
        applyLimit(at: time)
    }

    mutating func remove(_ id: WatchID, _ engine: inout Engine, at time: Timestamp?) {
        guard watches[id] != nil else { return }
        stop(id, &engine)
        watches[id] = nil
        order.removeAll { $0 == id }
        applyLimit(at: time)
    }

    mutating func removeAll(of client: ClientID, _ engine: inout Engine, at time: Timestamp?) {
        for id in order where watches[id]?.client == client { remove(id, &engine, at: time) }
    }

    /// Has the engine watch for all that is within the limit.
    mutating func activate(_ engine: inout Engine, outsideAfter: Duration) {
        for id in order.prefix(limit) {
            guard let watch = watches[id], watch.region == nil else { continue }
            let region = engine.startMonitoring(
                MonitoredRegion(watch.constraint, outsideAfter: outsideAfter), assuming: watch.state)
            watches[id]?.region = region
            byRegion[region] = id
        }
    }

    /// Nothing can be known any more.
    mutating func deactivate(_ engine: inout Engine, at time: Timestamp?) {
        for id in order {
            stop(id, &engine)
            guard let watch = watches[id], watch.state != .unknown else { continue }
            watches[id]?.state = .unknown
            report(id, at: time)
        }
    }

    /// Takes note of what the engine found; it is nothing to this book if the region is an application's.
    mutating func change(_ change: RegionChange, to state: RegionState) {
        guard let id = byRegion[change.region] else { return }
        watches[id]?.state = state
        report(id, at: change.time, identity: change.identity)
    }

    /// What is to be told, in order.
    mutating func takeReports() -> [(client: ClientID, report: WatchReport)] {
        guard !reports.isEmpty else { return [] }
        defer { reports = [] }
        return reports
    }

    private mutating func stop(_ id: WatchID, _ engine: inout Engine) {
        guard let region = watches[id]?.region else { return }
        engine.stopMonitoring(region)
        byRegion[region] = nil
        watches[id]?.region = nil
    }

    private mutating func applyLimit(at time: Timestamp?) {
        for (place, id) in order.enumerated() where watches[id]?.isBeyondLimit != (place >= limit) {
            watches[id]?.isBeyondLimit = place >= limit
            report(id, at: time)
        }
    }

    private mutating func report(_ id: WatchID, at time: Timestamp?, identity: BeaconIdentity? = nil) {
        guard let watch = watches[id] else { return }
        let report = WatchReport(
            watch: id, state: watch.state, isBeyondLimit: watch.isBeyondLimit, time: time, identity: identity)
        reports.append((watch.client, report))
    }
}
