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

        /// Those that receive the callbacks, in order.
        var requesters: [RangingRequester] {
            (isForConstraint ? [.constraint] : []) + regions.keys.sorted().map { .region($0) }
        }
    }

    /// A region that is ranged, as a value from which one can be made again.
    struct RangedRegion: Sendable {
        var identifier: String
        var constraint: BeaconConstraint
    }

    private struct State {
        var requests: [BeaconConstraint: Requests] = [:]
        var stopped = StoppedRequests()
        var unavailable = UnavailableRequests()
        /// The authorization that was delivered last; nil before the first.
        var authorization: AuthorizationStatus?
    }

    /// The lock is held while work is submitted to the center, so that the center gets starts and stops in the order in
    /// which they changed this; it is only handed work, and nothing waits.
    private let state = Locked(State())

    private let pendingReports = PendingRangingReports()

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
    /// - Parameter deliver: makes the callback for an event that the app has not stopped in between.
    func begin(_ deliver: @escaping @Sendable (ClientEvent) -> Void) {
        center.addClient(client) { [weak self, weak center, context] event in
            guard let self, let center else { return }
            if case .authorization(let status, _) = event, !isChange(status) { return }
            if case .ranged(let constraint, let beacons, let time) = event {
                // A slow app receives the newest report alone.
                guard put(PendingRangingReports.Report(beacons: beacons, time: time), for: constraint) else { return }
                return center.makeCallback(in: context) { [weak self] in
                    guard let self, let report = pendingReports.take(constraint) else { return }
                    deliver(.ranged(constraint, report.beacons, at: report.time))
                }
            }
            let moment = state.withLock { $0.stopped.now }
            center.makeCallback(in: context) { [weak self] in
                for event in self?.current(event, since: moment) ?? [] { deliver(event) }
            }
        }
    }

    /// Returns false where the status was delivered already, and only the user is asked for another.
    private func isChange(_ status: AuthorizationStatus) -> Bool {
        state.withLock { state in
            defer { state.authorization = status }
            return state.authorization != status
        }
    }

    /// Keeps a report for its callback, unless the request that it answers is being stopped.
    ///
    /// - Returns: true where a callback has to be made for it.
    private func put(_ report: PendingRangingReports.Report, for constraint: BeaconConstraint) -> Bool {
        state.withLock { state in
            !state.stopped.isStopping(.allRanging(constraint)) && pendingReports.put(report, for: constraint)
        }
    }

    /// Returns an event for each request that it is about, without those that were stopped while it waited for its
    /// callback, here or, as far as the center has got, by another manager.
    private func current(_ event: ClientEvent, since moment: StoppedRequests.Mark) -> [ClientEvent] {
        switch event {
        case .determined(let region), .entered(let region), .exited(let region), .started(let region):
            return isStopped(region, since: moment) || !isMonitored(region) ? [] : [event]
        case .monitoringFailed(let region, let failure):
            // One beyond the limit was never monitored.
            let isOver = failure != .limitExceeded && !isMonitored(region)
            return isStopped(region, since: moment) || isOver ? [] : [event]
        case .answered(let region):
            return isStopped(region, since: moment) ? [] : [event]
        case .rangingFailed(let constraint, let failure, let requester):
            return state.withLock { state in
                (state.requests[constraint]?.requesters ?? [])
                    .filter { requester == nil || requester == $0 }
                    .filter { !state.stopped.isStopped(.ranging(constraint, $0), since: moment) }
                    .map { .rangingFailed(constraint, failure, to: $0) }
            }
        case .authorization, .radio, .missedChangesEnded, .condition, .ranged, .heard, .advertising: return [event]
        }
    }

    private func isStopped(_ region: RegisteredRegion, since moment: StoppedRequests.Mark) -> Bool {
        state.withLock { $0.stopped.isStopped(.monitoring(region.identifier), since: moment) }
    }

    private func isMonitored(_ region: RegisteredRegion) -> Bool {
        center.snapshot.regions.contains {
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
            stop(.monitoring(identifier), in: &state) { $0.stopMonitoring(identifier) }
        }
    }

    /// Stops a request now, and has the center stop it. The caller holds the lock.
    private func stop(
        _ request: StoppedRequests.Request, in state: inout State,
        _ work: @escaping @Sendable (isolated BeaconCenter) -> Void = { _ in }
    ) {
        state.stopped.stop(request)
        center.perform { [weak self] center in
            work(center)
            guard let self else { return }
            // On the center's queue: without callbacks under way, no event waits.
            let isQuiet = center.hasNoCallbacksUnderWay
            self.state.withLock { $0.stopped.carryOut(request, isQuiet: isQuiet) }
        }
    }

    func requestState(of region: RegisteredRegion) {
        center.perform { [client] in $0.requestState(of: region, for: client) }
    }

    // MARK: - Ranging

    func startRanging(_ constraint: BeaconConstraint) {
        start(constraint, by: .constraint) { $0.isForConstraint = true }
    }

    func stopRanging(_ constraint: BeaconConstraint) {
        stop(constraint, by: .constraint) { $0.isForConstraint = false }
    }

    func startRanging(_ region: RangedRegion) {
        start(region.constraint, by: .region(region.identifier)) { $0.regions[region.identifier] = region }
    }

    func stopRanging(_ region: RangedRegion) {
        stop(region.constraint, by: .region(region.identifier)) { $0.regions[region.identifier] = nil }
    }

    private func start(
        _ constraint: BeaconConstraint, by requester: RangingRequester, _ change: (inout Requests) -> Void
    ) {
        state.withLock { state in
            change(&state.requests[constraint, default: Requests()])
            center.perform { [client] in $0.startRanging(constraint, for: client, requester: requester) }
        }
    }

    private func stop(
        _ constraint: BeaconConstraint, by requester: RangingRequester, change: (inout Requests) -> Void
    ) {
        state.withLock { state in
            guard var requests = state.requests[constraint], requests.requesters.contains(requester) else { return }
            change(&requests)
            state.requests[constraint] = requests.isEmpty ? nil : requests
            stop(.ranging(constraint, requester), in: &state)
            guard requests.isEmpty else { return }
            // A report that waits belongs to the stopped request and not to the next one.
            _ = pendingReports.take(constraint)
            stop(.allRanging(constraint), in: &state) { [client] in $0.stopRanging(constraint, for: client) }
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

    // MARK: - What is not available

    /// Begins a service that cannot deliver anything.
    func start(_ service: LocationService) { state.withLock { $0.unavailable.start(service) } }

    func stop(_ service: LocationService) { state.withLock { $0.unavailable.stop(service) } }

    /// Returns the failures of services that the app does not know of.
    func takeServiceFailures() -> [CLError.Code] {
        let status = center.snapshot.authorization
        return state.withLock { $0.unavailable.takeFailures(status) }
    }

    /// Begins a request about a region that cannot be watched.
    func start(_ request: UnavailableRequests.RegionRequest) { state.withLock { $0.unavailable.start(request) } }

    func stop(_ request: UnavailableRequests.RegionRequest) { state.withLock { $0.unavailable.stop(request) } }

    /// Returns true where such a request was not stopped, and ends it.
    func take(_ request: UnavailableRequests.RegionRequest) -> Bool {
        state.withLock { $0.unavailable.take(request) }
    }
}
