internal import BeaconModel
import BeaconRadio
internal import BeaconService
import Foundation

/// The part of a location manager that may be shared between threads: its tie to the center, and what it ranges.
final class LocationManagerCore: Sendable {
    let center: BeaconCenter
    private let client: ClientID
    private let context: CallbackContext

    /// Which of the two ways of asking was used for a constraint, since each has callbacks of its own.
    private struct Requests {
        var isForConstraint = false
        /// Identifiers, and the regions as they were when ranging began.
        var regions: [String: RangedRegion] = [:]

        var isEmpty: Bool { !isForConstraint && regions.isEmpty }
    }

    /// What is kept of a region that is ranged, from which one can be made again.
    struct RangedRegion: Sendable {
        var identifier: String
        var constraint: BeaconConstraint
    }

    private let requests = Locked<[BeaconConstraint: Requests]>([:])

    init(center: BeaconCenter, context: CallbackContext) {
        self.center = center
        self.context = context
        client = center.makeClientID()
    }

    deinit {
        center.perform { [client] in $0.removeClient(client) }
    }

    /// Begins to listen to the center.
    ///
    /// - Parameter deliver: called where callbacks are to be made.
    func begin(_ deliver: @escaping @Sendable (ClientEvent) -> Void) {
        center.addClient(client, in: context, deliver)
    }

    /// Makes a call where callbacks are made, after those that are under way.
    func makeCallback(_ call: @escaping @Sendable () -> Void) { center.makeCallback(in: context, call) }

    func request(_ request: AuthorizationRequest) { center.perform { $0.request(request) } }

    // MARK: - Regions

    func startMonitoring(_ region: RegisteredRegion) {
        center.perform { [client] in $0.startMonitoring(region, for: client) }
    }

    func stopMonitoring(_ identifier: String) { center.perform { $0.stopMonitoring(identifier) } }

    func requestState(of identifier: String) {
        center.perform { [client] in $0.requestState(of: identifier, for: client) }
    }

    // MARK: - Ranging

    func startRanging(_ constraint: BeaconConstraint) {
        requests.withLock { $0[constraint, default: Requests()].isForConstraint = true }
        center.perform { [client] in $0.startRanging(constraint, for: client) }
    }

    func stopRanging(_ constraint: BeaconConstraint) {
        change(constraint) { $0.isForConstraint = false }
    }

    func startRanging(_ region: RangedRegion) {
        requests.withLock { $0[region.constraint, default: Requests()].regions[region.identifier] = region }
        center.perform { [client] in $0.startRanging(region.constraint, for: client) }
    }

    func stopRanging(_ region: RangedRegion) {
        change(region.constraint) { $0.regions[region.identifier] = nil }
    }

    private func change(_ constraint: BeaconConstraint, _ body: (inout Requests) -> Void) {
        let isOver = requests.withLock { requests in
            guard var own = requests[constraint] else { return false }
            body(&own)
            requests[constraint] = own.isEmpty ? nil : own
            return own.isEmpty
        }
        if isOver { center.perform { [client] in $0.stopRanging(constraint, for: client) } }
    }

    /// The constraints that are ranged as such.
    var rangedConstraints: [BeaconConstraint] {
        requests.withLock { requests in requests.filter { $0.value.isForConstraint }.map(\.key) }
    }

    /// The regions that are ranged as such.
    var rangedRegions: [RangedRegion] {
        requests.withLock { requests in requests.values.flatMap { $0.regions.values } }
    }

    /// How a constraint is ranged: as such, and for these regions.
    func rangings(of constraint: BeaconConstraint) -> (asConstraint: Bool, regions: [RangedRegion]) {
        requests.withLock { requests in
            guard let own = requests[constraint] else { return (false, []) }
            return (own.isForConstraint, own.regions.values.sorted { $0.identifier < $1.identifier })
        }
    }
}
