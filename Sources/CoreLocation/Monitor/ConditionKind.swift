internal import BeaconModel

/// What a condition means to a monitor, in a form that can be compared.
enum ConditionKind: Hashable, Sendable {
    /// Beacons of a constraint.
    case beacons(BeaconConstraint)
    /// A disc on the ground.
    case disc(latitude: Double, longitude: Double, radius: Double)
    /// Something of the application's own, of which nothing is known.
    case foreign

    init(_ condition: any CLCondition) {
        switch condition {
        case let condition as CLMonitor.BeaconIdentityCondition:
            self = .beacons(BeaconConstraint(condition))
        case let condition as CLMonitor.CircularGeographicCondition:
            self = .disc(
                latitude: condition.center.latitude, longitude: condition.center.longitude, radius: condition.radius)
        default:
            self = .foreign
        }
    }

    /// Whether it can be monitored.
    var isSupported: Bool {
        if case .beacons = self { true } else { false }
    }
}
