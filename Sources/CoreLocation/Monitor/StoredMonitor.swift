internal import BeaconApplications
internal import BeaconModel
import Foundation

extension StoredCondition {
    /// Creates a stored condition; nil for a condition whose type cannot be restored.
    init?(
        _ identifier: String, _ condition: any CLCondition, handled: CLMonitor.Event, pending: CLMonitor.Event?
    ) {
        let subject: Subject
        switch ConditionKind(condition) {
        case .beacons(let constraint): subject = .beacons(constraint)
        case .disc(let latitude, let longitude, let radius):
            subject = .circle(latitude: latitude, longitude: longitude, radius: radius)
        case .foreign: return nil
        }
        self.init(
            identifier: identifier, subject: subject, lastEvent: Event(handled), pending: pending.map(Event.init))
    }

    /// The condition in Apple's types.
    var condition: any CLCondition {
        switch subject {
        case .beacons(let constraint): CLMonitor.BeaconIdentityCondition(constraint)
        case .circle(let latitude, let longitude, let radius):
            CLMonitor.CircularGeographicCondition(
                center: CLLocationCoordinate2D(latitude: latitude, longitude: longitude), radius: radius)
        }
    }
}

extension StoredCondition.Event {
    /// Creates a stored event.
    init(_ event: CLMonitor.Event) {
        let refinement = (event.refinement as? CLMonitor.BeaconIdentityCondition).flatMap { condition in
            condition.major.flatMap { major in
                condition.minor.map {
                    BeaconIdentity(uuid: BeaconConstraint(condition).uuid, major: major, minor: $0)
                }
            }
        }
        self.init(
            state: StoredCondition.State(rawValue: UInt8(event.state.rawValue)) ?? .unknown,
            time: event.date.timeIntervalSince1970, refinement: refinement, diagnostics: event.diagnostics.rawValue)
    }

    /// Returns the event of a condition in Apple's types.
    func event(_ identifier: String) -> CLMonitor.Event {
        CLMonitor.Event(
            identifier: identifier, state: CLMonitor.Event.State(rawValue: UInt(state.rawValue)) ?? .unknown,
            date: Date(timeIntervalSince1970: time),
            refinement: refinement.map { CLMonitor.BeaconIdentityCondition($0) },
            diagnostics: CLMonitor.Diagnostics(rawValue: diagnostics))
    }
}

extension CLMonitor.BeaconIdentityCondition {
    /// Creates the condition that the beacons of a constraint satisfy.
    fileprivate init(_ constraint: BeaconConstraint) {
        let uuid = UUID(constraint.uuid)
        switch (constraint.major, constraint.minor) {
        case (let major?, let minor?): self.init(uuid: uuid, major: major, minor: minor)
        case (let major?, nil): self.init(uuid: uuid, major: major)
        case (nil, _): self.init(uuid: uuid)
        }
    }
}
