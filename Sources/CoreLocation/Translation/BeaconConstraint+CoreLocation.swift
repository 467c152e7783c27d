internal import BeaconModel

extension BeaconConstraint {
    /// The constraint of these three parts.
    ///
    /// A minor value without a major one does not come up: no initialiser of Core Location makes it.
    init(uuid: UUID, major: UInt16?, minor: UInt16?) {
        switch (major, minor) {
        case (let major?, let minor?): self.init(uuid: ProximityUUID(uuid), major: major, minor: minor)
        case (let major?, nil): self.init(uuid: ProximityUUID(uuid), major: major)
        default: self.init(uuid: ProximityUUID(uuid))
        }
    }

    /// What a Core Location constraint means.
    init(_ constraint: CLBeaconIdentityConstraint) {
        self.init(uuid: constraint.uuid, major: constraint.major, minor: constraint.minor)
    }

    /// What a monitor's condition means.
    init(_ condition: CLMonitor.BeaconIdentityCondition) {
        self.init(uuid: condition.uuid, major: condition.major, minor: condition.minor)
    }
}
