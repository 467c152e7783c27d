internal import BeaconModel

extension CLMonitor {
    /// A change of a condition's state, or of the diagnostics that explain why it is unknown.
    public struct Event: Sendable {
        /// The state of a condition.
        public typealias State = __CLMonitoringState

        /// The name under which the condition was added.
        public let identifier: String

        /// The state of the condition. If it is the same as in the previous event, the diagnostics changed.
        public let state: State

        /// The time of the change.
        public let date: Date

        /// The most specific condition that explains the event; nil if there are no details.
        ///
        /// For a beacon condition without a major or minor value, it has the values of the beacon that was heard.
        public let refinement: (any CLCondition)?

        /// The obstacles to monitoring.
        let diagnostics: Diagnostics

        /// Creates an event.
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

        /// The app may not use location services, and the user cannot change that.
        public var authorizationRestricted: Bool { diagnostics.contains(.authorizationRestricted) }

        /// The app is not sufficiently in use for its authorization.
        public var insufficientlyInUse: Bool { diagnostics.contains(.insufficientlyInUse) }

        /// The app has reduced accuracy, which is not enough for the condition.
        public var accuracyLimited: Bool { diagnostics.contains(.accuracyLimited) }

        /// Conditions of this type are not supported here.
        public var conditionUnsupported: Bool { diagnostics.contains(.conditionUnsupported) }

        /// The app has too many conditions.
        public var conditionLimitExceeded: Bool { diagnostics.contains(.conditionLimitExceeded) }

        /// The conditions cannot be stored.
        public var persistenceUnavailable: Bool { diagnostics.contains(.persistenceUnavailable) }

        /// The app requires a service session, but holds none.
        public var serviceSessionRequired: Bool { diagnostics.contains(.serviceSessionRequired) }

        /// A request for authorization is pending.
        public var authorizationRequestInProgress: Bool { diagnostics.contains(.authorizationRequestInProgress) }
    }
}

extension CLMonitor {
    /// The obstacles to monitoring a condition, as a comparable value that can be stored.
    ///
    /// See the property of ``CLMonitor/Event`` with the same name for each.
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

/// The state of a condition. Code uses the name `CLMonitor.Event.State`; the underscores are in Apple's SDK too.
public enum __CLMonitoringState: UInt, Sendable, BitwiseCopyable {
    /// Not determined yet.
    case unknown = 0

    /// The condition is satisfied: for beacons, at least one that matches is heard.
    case satisfied = 1

    /// The condition is not satisfied.
    case unsatisfied = 2

    /// The condition is not monitored. The event's diagnostics show why.
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
    /// Creates the state that the engine assumes for a condition.
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
