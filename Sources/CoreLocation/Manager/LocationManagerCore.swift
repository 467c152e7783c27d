internal import BeaconApplications
internal import BeaconModel
internal import BeaconMonitoring
internal import BeaconSupport
import Foundation

/// The thread-safe part of a location manager: its client of the center, and its ranging requests.
final class LocationManagerCore: Sendable {
    let center: BeaconCenter
    private let client: ClientID
    let context: CallbackContext
    private let hasDelegate: @Sendable () -> Bool

    /// The requests for a constraint. The two kinds have separate callbacks.
    private struct Requests {
        var isForConstraint = false
        /// The regions as they were when ranging started, by identifier.
        var regions: [String: RangedRegion] = [:]

        var isEmpty: Bool { !isForConstraint && regions.isEmpty }

        /// The recipients of the callbacks, in order.
        var requesters: [RangingRequester] {
            (isForConstraint ? [.constraint] : []) + regions.keys.sorted().map { .region($0) }
        }
    }

    /// A ranged region as a value that can be turned into a region object.
    struct RangedRegion: Sendable {
        var identifier: String
        var constraint: BeaconConstraint
    }

    private struct State {
        var requests: [BeaconConstraint: Requests] = [:]
        var stopped = StoppedRequests()
        var unavailable = UnavailableRequests()
        /// The last delivered authorization; nil before the first.
        var authorization: AuthorizationStatus?
        var limits: UsageLimits = []
        /// True while the app requests positions, and while it may do so in the background.
        var (updatesLocation, allowsBackground) = (false, false)
    }

    /// The lock is held while work is submitted to the center, so that starts and stops reach the center in the order
    /// of the changes here. Submitting work does not wait.
    private let state = Locked(State())

    private let pendingReports = PendingRangingReports()

    init(center: BeaconCenter, context: CallbackContext, hasDelegate: @escaping @Sendable () -> Bool) {
        self.center = center
        self.context = context
        self.hasDelegate = hasDelegate
        client = center.makeClientID()
    }

    deinit {
        center.perform { [client] in $0.removeClient(client) }
    }

    /// Starts to receive the center's events.
    ///
    /// - Parameter deliver: makes the callback for an event whose request the app has not stopped since.
    func begin(_ deliver: @escaping @Sendable (ClientEvent) -> Void) {
        center.addClient(client, isReady: hasDelegate) { [weak self, weak center, context] event in
            guard let self, let center else { return }
            if case .authorization(let status, _) = event, !isChange(status) { return }
            if case .limits(let limits) = event, !isChange(limits) { return }
            if case .ranged(let constraint, let beacons, let time) = event {
                // A slow app receives the newest report only.
                guard put(PendingRangingReports.Report(beacons: beacons, time: time), for: constraint) else { return }
                return center.makeCallback(in: context) { [weak self] in
                    guard let self, let report = pendingReports.take(constraint) else { return }
                    deliver(.ranged(constraint, report.beacons, at: report.time))
                }
            }
            let mark = state.withLock { $0.stopped.now }
            center.makeCallback(in: context) { [weak self] in
                for event in self?.current(event, since: mark) ?? [] { deliver(event) }
            }
        }
    }

    /// Returns false if the status was delivered already, and the event only reports a pending request.
    private func isChange(_ status: AuthorizationStatus) -> Bool {
        state.withLock { state in
            defer { state.authorization = status }
            return state.authorization != status
        }
    }

    /// Returns false if the app learns nothing from new limits: only the accuracy is a manager's.
    private func isChange(_ limits: UsageLimits) -> Bool {
        state.withLock { state in
            defer { state.limits = limits }
            // The first authorization precedes everything.
            return state.authorization != nil && state.limits.symmetricDifference(limits).contains(.reducedAccuracy)
        }
    }

    /// Stores a report for its callback, unless its request is being stopped.
    ///
    /// - Returns: true if a callback must be made for it.
    private func put(_ report: PendingRangingReports.Report, for constraint: BeaconConstraint) -> Bool {
        state.withLock { state in
            !state.stopped.isStopping(.allRanging(constraint)) && pendingReports.put(report, for: constraint)
        }
    }

    /// Returns one event per request concerned. Excludes requests that were stopped while the event waited for its
    /// callback, either by this manager or by another one if the center has already processed that stop.
    private func current(_ event: ClientEvent, since mark: StoppedRequests.Mark) -> [ClientEvent] {
        switch event {
        case .determined(let region), .entered(let region), .exited(let region), .started(let region):
            return isStopped(region, since: mark) || !isMonitored(region) ? [] : [event]
        case .monitoringFailed(let region, let failure):
            // A region beyond the limit was never monitored.
            let isBeyond = failure == .limitExceeded || failure == .deniedBeyondLimit
            let isOver = !isBeyond && !isMonitored(region)
            return isStopped(region, since: mark) || isOver ? [] : [event]
        case .answered(let region):
            return isStopped(region, since: mark) ? [] : [event]
        case .rangingFailed(let constraint, let failure, let requester):
            return state.withLock { state in
                (state.requests[constraint]?.requesters ?? [])
                    .filter { requester == nil || requester == $0 }
                    .filter { !state.stopped.isStopped(.ranging(constraint, $0), since: mark) }
                    .map { .rangingFailed(constraint, failure, to: $0) }
            }
        case .authorization, .limits, .radio, .missedChangesEnded, .condition, .ranged, .heard, .advertising:
            return [event]
        }
    }

    private func isStopped(_ region: RegisteredRegion, since mark: StoppedRequests.Mark) -> Bool {
        state.withLock { $0.stopped.isStopped(.monitoring(region.identifier), since: mark) }
    }

    private func isMonitored(_ region: RegisteredRegion) -> Bool {
        center.snapshot.regions.contains {
            $0.identifier == region.identifier && $0.constraint == region.constraint
        }
    }

    /// Makes a call in the callback context, after pending callbacks.
    func makeCallback(_ call: @escaping @Sendable () -> Void) { center.makeCallback(in: context, call) }

    /// Requests the changes of regions that the application missed while it did not run.
    func requestMissedChanges() { center.perform { [client] in $0.deliverMissedChanges(to: client) } }

    /// Confirms to the center that the callbacks for missed changes have been made.
    func confirmMissedChanges() { center.perform { $0.confirmMissedChanges() } }

    /// Requests full accuracy until the app is no longer in use.
    func requestFullAccuracy() { center.perform { $0.allowFullAccuracy() } }

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

    /// Stops a request now, and then in the center. The caller holds the lock.
    private func stop(
        _ request: StoppedRequests.Request, in state: inout State,
        _ work: @escaping @Sendable (isolated BeaconCenter) -> Void = { _ in }
    ) {
        state.stopped.stop(request)
        center.perform { [weak self] center in
            work(center)
            guard let self else { return }
            // This is the center's queue: if there are no callbacks under way, no event is waiting.
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
            // A waiting report belongs to the stopped request, not to the next one.
            _ = pendingReports.take(constraint)
            stop(.allRanging(constraint), in: &state) { [client] in $0.stopRanging(constraint, for: client) }
        }
    }

    /// The constraints that are ranged directly.
    var rangedConstraints: [BeaconConstraint] {
        state.withLock { $0.requests.filter { $0.value.isForConstraint }.map(\.key) }
    }

    /// The regions that are ranged.
    var rangedRegions: [RangedRegion] {
        state.withLock { $0.requests.values.flatMap { $0.regions.values } }
    }

    /// Returns the requests for a constraint: directly, and through regions.
    func rangings(of constraint: BeaconConstraint) -> (asConstraint: Bool, regions: [RangedRegion]) {
        state.withLock { state in
            guard let own = state.requests[constraint] else { return (false, []) }
            return (own.isForConstraint, own.regions.values.sorted { $0.identifier < $1.identifier })
        }
    }

    // MARK: - Unavailable services

    /// Starts a service that cannot deliver anything.
    func start(_ service: LocationService) {
        state.withLock { state in
            state.unavailable.start(service)
            if service == .positions { changeUse(in: &state) { $0.updatesLocation = true } }
        }
    }

    func stop(_ service: LocationService) {
        state.withLock { state in
            state.unavailable.stop(service)
            if service == .positions { changeUse(in: &state) { $0.updatesLocation = false } }
        }
    }

    /// Allows updates of the position in the background, which keep the app of a simulated device awake.
    func allowBackgroundUpdates(_ isAllowed: Bool) {
        state.withLock { state in changeUse(in: &state) { $0.allowsBackground = isAllowed } }
        guard isAllowed else { return }
        center.noteObservation(.backgroundUpdates)
        center.perform { center in
            guard !center.hasBackgroundMode else { return }
            center.reportMisuse(
                """
                allowsBackgroundLocationUpdates needs the background mode "location". Add it to UIBackgroundModes in \
                the app's Info.plist
                """)
        }
    }

    /// The caller holds the lock.
    private func changeUse(in state: inout State, _ change: (inout State) -> Void) {
        let wasUse = state.updatesLocation && state.allowsBackground
        change(&state)
        guard (state.updatesLocation && state.allowsBackground) != wasUse else { return }
        center.perform { [client] center in
            if wasUse { center.end(.locationUpdates, for: client) } else { center.begin(.locationUpdates, for: client) }
        }
    }

    /// Returns and clears the service failures that the app has not received yet.
    func takeServiceFailures() -> [CLError.Code] {
        let status = center.snapshot.authorization
        return state.withLock { $0.unavailable.takeFailures(status) }
    }

    /// Starts a request about a region that cannot be monitored or ranged.
    func start(_ request: UnavailableRequests.RegionRequest) { state.withLock { $0.unavailable.start(request) } }

    func stop(_ request: UnavailableRequests.RegionRequest) { state.withLock { $0.unavailable.stop(request) } }

    /// Ends such a request, and returns true unless it was stopped before.
    func take(_ request: UnavailableRequests.RegionRequest) -> Bool {
        state.withLock { $0.unavailable.take(request) }
    }
}
