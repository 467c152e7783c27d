internal import BeaconEngine
internal import BeaconModel

extension __CLMonitoringState {
    /// A region's state by a monitor's names.
    init(_ state: RegionState) {
        switch state {
        case .unknown: self = .unknown
        case .inside: self = .satisfied
        case .outside: self = .unsatisfied
        }
    }
}

extension RegionState {
    /// What the engine can assume of a condition.
    init(_ state: __CLMonitoringState) {
        switch state {
        case .satisfied: self = .inside
        case .unsatisfied: self = .outside
        case .unknown, .unmonitored: self = .unknown
        }
    }
}

extension CLMonitor.BeaconIdentityCondition {
    /// The condition that only this beacon satisfies.
    init(_ identity: BeaconIdentity) {
        self.init(uuid: UUID(identity.uuid), major: identity.major, minor: identity.minor)
    }
}
