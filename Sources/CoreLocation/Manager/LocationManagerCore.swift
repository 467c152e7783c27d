internal import BeaconApplications
internal import BeaconModel
internal import BeaconMonitoring
internal import BeaconSupport
import Foundation

/// The part of a location manager that threads may share: its client of the center, and the requests for ranging.
final class LocationManagerCore: Sendable {
    let center: BeaconCenter
    private let client: ClientID
    private let context: CallbackContext

    /// The requests for a constraint, of two kinds, since each has callbacks of its own.
    private struct Requests {
        var isForConstraint = false
        /// Identifiers, and the regions as they were when ranging began.
        var regions: [String: RangedRegion] = [:]

        var isEmpty: Bool { !isForConstraint && regions.isEmpty }
    }

    /// A region that is ranged, as a value from which one can be made again.
    struct RangedRegion: Sendable {
        var identifier: String
        var constraint: BeaconConstraint
    }

    /// The calls that stop the monitoring of a region: those that were made, and those that the center has carried out.
    private struct Stops {
        var made = 0
        var carriedOut = 0
    }

    private struct State {
        var requests: [BeaconConstraint: Requests] = [:]
        /// By the region's identifier.
        var stops: [String: Stops] = [:]
        /// The authorization that was delivered last; nil before the first.
        var authorization: AuthorizationStatus?
    }

    /// The lock is held while work is submitted to the center, so that the center gets starts and stops in the order in
    /// which they changed this; it is only handed work, and nothing waits.
    private let state = Locked(State())

    private let mailbox = RangingMailbox()

    init(center: BeaconCenter, context: CallbackContext) {
        self.center = center
        self.context = context
        client = center.makeClientID()
    }

    deinit {
        center.perform { [client] in $0.removeClient(client) }
    }

    /// Begins to receive the center's events.
    ///
    /// - Parameter deliver: called where callbacks are to be made.
    func begin(_ deliver: @escaping @Sendable (ClientEvent) -> Void) {
        center.addClient(client) { [weak self, weak center, context] event in
            guard let self, let center else { return }
            if case .authorization(let status, _) = event, !isNews(status) { return }
            if case .ranged(let constraint, let beacons, let time) = event {
                // A slow app receives the newest report alone.
                let report = RangingMailbox.Report(beacons: beacons, time: time)
                guard mailbox.put(report, for: constraint) else { return }
                return center.makeCallback(in: context) { [weak self] in
                    guard let self, let report = mailbox.take(constraint) else { return }
                    deliver(.ranged(constraint, report.beacons, at: report.time))
                }
            }
            let stops = carriedOutStops(for: event)
            center.makeCallback(in: context) { [weak self] in
                if let self, isCurrent(event, since: stops) { deliver(event) }
            }
        }
    }

    /// Returns false where the status was delivered already, and only the user is asked for another.
    private func isNews(_ status: AuthorizationStatus) -> Bool {
        state.withLock { state in
            defer { state.authorization = status }
            return state.authorization != status
        }
    }

    /// Returns how many stops the center has carried out for an event's region, when it sends the event.
    private func carriedOutStops(for event: ClientEvent) -> Int {
        guard let region = event.changedRegion else { return 0 }
        return state.withLock { $0.stops[region.identifier]?.carriedOut ?? 0 }
    }

    /// Returns false for an event about a region that was stopped while the event waited for its callback, here or, as
    /// far as the center has got, by another manager.
    ///
    /// - Parameter stops: how many stops there had been when the event was sent.
    private func isCurrent(_ event: ClientEvent, since stops: Int) -> Bool {
        guard let region = event.changedRegion else { return true }
        let isStopped = state.withLock { ($0.stops[region.identifier]?.made ?? 0) > stops }
        return !isStopped
            && center.snapshot.regions.contains {
                $0.identifier == region.identifier && $0.constraint == region.constraint
            }
    }

    /// Makes a call where callbacks are made, after those that are under way.
    func makeCallback(_ call: @escaping @Sendable () -> Void) { center.makeCallback(in: context, call) }

    /// Asks for the changes of regions that the application missed while it did not run.
    func requestMissedChanges() { center.perform { [client] in $0.deliverMissedChanges(to: client) } }

    /// Confirms to the center that the callbacks for missed changes have been made.
    func confirmMissedChanges() { center.perform { $0.confirmMissedChanges() } }

    func request(_ request: AuthorizationRequest) { center.perform { $0.request(request) } }

    // MARK: - Regions

    func startMonitoring(_ region: RegisteredRegion) {
        center.perform { [client] in $0.startMonitoring(region, for: client) }
    }

    func stopMonitoring(_ identifier: String) {
        state.withLock { state in
            state.stops[identifier, default: Stops()].made += 1
            center.perform { [weak self] center in
                center.stopMonitoring(identifier)
                self?.carriedOutStop(of: identifier)
            }
        }
    }

    private func carriedOutStop(of identifier: String) {
        // On the center's queue: without callbacks under way, there is no event that counts the stops so far.
        let isQuiet = center.hasNoCallbacksUnderWay
        state.withLock { state in
            state.stops[identifier]?.carriedOut += 1
            if isQuiet { state.stops = state.stops.filter { $0.value.made > $0.value.carriedOut } }
        }
    }

    func requestState(of identifier: String) {
        center.perform { [client] in $0.requestState(of: identifier, for: client) }
    }

    // MARK: - Ranging

    func startRanging(_ constraint: BeaconConstraint) {
        start(constraint, by: .constraint) { $0.isForConstraint = true }
    }

    func stopRanging(_ constraint: BeaconConstraint) {
        stop(constraint) { $0.isForConstraint = false }
    }

    func startRanging(_ region: RangedRegion) {
        start(region.constraint, by: .region(region.identifier)) { $0.regions[region.identifier] = region }
    }

    func stopRanging(_ region: RangedRegion) {
        stop(region.constraint) { $0.regions[region.identifier] = nil }
    }

    private func start(
        _ constraint: BeaconConstraint, by requester: RangingRequester, _ change: (inout Requests) -> Void
    ) {
        state.withLock { state in
            change(&state.requests[constraint, default: Requests()])
            center.perform { [client] in $0.startRanging(constraint, for: client, requester: requester) }
        }
    }

    private func stop(_ constraint: BeaconConstraint, change: (inout Requests) -> Void) {
        state.withLock { state in
            guard var requests = state.requests[constraint] else { return }
            change(&requests)
            state.requests[constraint] = requests.isEmpty ? nil : requests
            if requests.isEmpty { center.perform { [client] in $0.stopRanging(constraint, for: client) } }
        }
    }

    /// The constraints that are ranged as such.
    var rangedConstraints: [BeaconConstraint] {
        state.withLock { $0.requests.filter { $0.value.isForConstraint }.map(\.key) }
    }

    /// The regions that are ranged as such.
    var rangedRegions: [RangedRegion] {
        state.withLock { $0.requests.values.flatMap { $0.regions.values } }
    }

    /// Returns the requests for a constraint: as such, and for regions.
    func rangings(of constraint: BeaconConstraint) -> (asConstraint: Bool, regions: [RangedRegion]) {
        state.withLock { state in
            guard let own = state.requests[constraint] else { return (false, []) }
            return (own.isForConstraint, own.regions.values.sorted { $0.identifier < $1.identifier })
        }
    }
}

extension ClientEvent {
    /// The region whose state an event is about.
    fileprivate var changedRegion: RegisteredRegion? {
        switch self {
        case .determined(let region), .entered(let region), .exited(let region): region
        default: nil
        }
    }
}
