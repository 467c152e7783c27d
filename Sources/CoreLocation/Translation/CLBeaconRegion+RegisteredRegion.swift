internal import BeaconModel
internal import BeaconService
import Foundation

extension CLBeaconRegion {
    /// The region of an identifier and a constraint.
    convenience init(_ constraint: BeaconConstraint, identifier: String) {
        self.init(beaconIdentityConstraint: CLBeaconIdentityConstraint(constraint), identifier: identifier)
    }

    /// The region as the application registered it.
    convenience init(_ region: RegisteredRegion) {
        self.init(region.constraint, identifier: region.identifier)
        notifyOnEntry = region.notifiesOnEntry
        notifyOnExit = region.notifiesOnExit
        notifyEntryStateOnDisplay = region.notifiesEntryStateOnDisplay
    }

    /// The region as ranging began with it.
    convenience init(_ region: LocationManagerCore.RangedRegion) {
        self.init(region.constraint, identifier: region.identifier)
    }
}

extension RegisteredRegion {
    /// What the service keeps of a region.
    init(_ region: CLBeaconRegion) {
        self.init(
            identifier: region.identifier, constraint: BeaconConstraint(region.beaconIdentityConstraint),
            notifiesOnEntry: region.notifyOnEntry, notifiesOnExit: region.notifyOnExit,
            notifiesEntryStateOnDisplay: region.notifyEntryStateOnDisplay)
    }
}

extension LocationManagerCore.RangedRegion {
    /// What is kept of a region that is ranged.
    init(_ region: CLBeaconRegion) {
        self.init(identifier: region.identifier, constraint: BeaconConstraint(region.beaconIdentityConstraint))
    }
}

extension CLBeaconIdentityConstraint {
    /// The constraint that the engine was given.
    convenience init(_ constraint: BeaconConstraint) {
        let uuid = UUID(constraint.uuid)
        switch (constraint.major, constraint.minor) {
        case (let major?, let minor?): self.init(uuid: uuid, major: major, minor: minor)
        case (let major?, nil): self.init(uuid: uuid, major: major)
        default: self.init(uuid: uuid)
        }
    }
}

extension CLAuthorizationStatus {
    /// What the service knows under other names.
    init(_ status: AuthorizationStatus) {
        switch status {
        case .notDetermined: self = .notDetermined
        case .restricted: self = .restricted
        case .denied: self = .denied
        case .whenInUse: self = .authorizedWhenInUse
        case .always: self = .authorizedAlways
        }
    }
}
