internal import BeaconModel

extension CLMonitor {
    /// A change of a condition's state, or of the diagnostics that say why it is not known.
    public struct Event: Sendable {
        /// The state of a condition.
        public typealias State = __CLMonitoringState

        /// The name under which the condition was added.
        public let identifier: String

        /// The state of the condition. If it is the same as in the event before, the diagnostics changed.
        public let state: State

        /// The time of the change.
        public let date: Date

        /// The most exact condition that the event can be put down to; nil if there is none.
        ///
        /// For a beacon condition without a major or minor value it has those of the beacon that was heard.
        public let refinement: (any CLCondition)?

        /// The obstacles to monitoring.
        let diagnostics: Diagnostics

        /// Creates an event from its parts.
        init(
            identifier: String, state: State, date: Date, refinement: (any CLCondition)? = nil,
            diagnostics: Diagnostics = []
        ) {
            self.identifier = identifier
            self.state = state
            self.date = date
            self.refinement = refinement
            self.diagnostics = diagnostics
        }

        /// The app may not use location services.
        public var authorizationDenied: Bool { diagnostics.contains(.authorizationDenied) }

        /// Location services are off for all apps.
        public var authorizationDeniedGlobally: Bool { diagnostics.contains(.authorizationDeniedGlobally) }

        /// The app may not use location services, and the user could not change that.
        public var authorizationRestricted: Bool { diagnostics.contains(.authorizationRestricted) }

        /// The app is not enough in use for the authorization it has.
        public var insufficientlyInUse: Bool { diagnostics.contains(.insufficientlyInUse) }

        /// The app has reduced accuracy, which is too little for the condition.
        public var accuracyLimited: Bool { diagnostics.contains(.accuracyLimited) }

        /// Conditions of this kind are not supported here.
        public var conditionUnsupported: Bool { diagnostics.contains(.conditionUnsupported) }

        /// The app has too many conditions.
        public var conditionLimitExceeded: Bool { diagnostics.contains(.conditionLimitExceeded) }

        /// The conditions cannot be stored.
        public var persistenceUnavailable: Bool { diagnostics.contains(.persistenceUnavailable) }

        /// The app said that it holds a service session, and holds none.
        public var serviceSessionRequired: Bool { diagnostics.contains(.serviceSessionRequired) }

        /// A request for authorization has no answer so far.
        public var authorizationRequestInProgress: Bool { diagnostics.contains(.authorizationRequestInProgress) }
    }
}

extension CLMonitor {
    /// The obstacles to monitoring a condition, as one value that can be compared and stored.
    ///
    /// Each is explained at the property of ``CLMonitor/Event`` of the same name.
    struct Diagnostics: OptionSet, Hashable, Codable, Sendable {
        let rawValue: UInt16

        static let authorizationDenied = Diagnostics(rawValue: 1 << 0)
        static let authorizationDeniedGlobally = Diagnostics(rawValue: 1 << 1)
        static let authorizationRestricted = Diagnostics(rawValue: 1 << 2)
        static let insufficientlyInUse = Diagnostics(rawValue: 1 << 3)
        static let accuracyLimited = Diagnostics(rawValue: 1 << 4)
        static let conditionUnsupported = Diagnostics(rawValue: 1 << 5)
        static let conditionLimitExceeded = Diagnostics(rawValue: 1 << 6)
        static let persistenceUnavailable = Diagnostics(rawValue: 1 << 7)
        static let serviceSessionRequired = Diagnostics(rawValue: 1 << 8)
        static let authorizationRequestInProgress = Diagnostics(rawValue: 1 << 9)
    }
}

/// The state of a condition. Code says `CLMonitor.Event.State`; the underscores are how Apple's SDK spells the type
/// behind that name.
public enum __CLMonitoringState: UInt, Sendable, BitwiseCopyable {
    /// Not determined so far.
    case unknown = 0

    /// The condition holds: for beacons, at least one that matches is heard.
    case satisfied = 1

    /// The condition does not hold.
    case unsatisfied = 2

    /// The condition is not monitored. The event's diagnostics say why.
    case unmonitored = 3
}

extension __CLMonitoringState {
    /// Creates a monitor's state from a region's.
    init(_ state: RegionState) {
        switch state {
        case .unknown: self = .unknown
        case .inside: self = .satisfied
        case .outside: self = .unsatisfied
        }
    }
}

extension RegionState {
    /// Creates the state that the engine can assume of a condition.
    init(_ state: __CLMonitoringState) {
        switch state {
        case .satisfied: self = .inside
        case .unsatisfied: self = .outside
        case .unknown, .unmonitored: self = .unknown
        }
    }
}

extension CLMonitor.BeaconIdentityCondition {
    /// Creates the condition that only this beacon satisfies.
    init(_ identity: BeaconIdentity) {
        self.init(uuid: UUID(identity.uuid), major: identity.major, minor: identity.minor)
    }
}
