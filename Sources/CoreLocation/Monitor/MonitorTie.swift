internal import BeaconService

/// A monitor's core together with the center that drives it.
///
/// The center keeps the core, so that the core must not keep the center; whoever uses both keeps both.
struct MonitorTie: Sendable {
    let center: BeaconCenter
    let core: MonitorCore

    func add(_ condition: any CLCondition, _ identifier: String, assuming state: CLMonitor.Event.State) {
        core.add(condition, identifier, assuming: state, center)
    }

    func remove(_ identifier: String) { core.remove(identifier, center) }
}
