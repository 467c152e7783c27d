extension CLMonitor {
    /// A change of a condition's state, or of what stands in the way of telling it.
    public struct Event: Sendable {
        /// Whether the condition holds.
        public typealias State = __CLMonitoringState

        /// The name under which the condition was added.
        public let identifier: String

        /// Whether the condition holds. If it is the same as in the event before, the diagnostics changed.
        public let state: State

        /// When it was so.
        public let date: Date

        /// The most exact condition that the event can be put down to; nil if there is none.
        ///
        /// For a beacon condition without a major or minor value it has those of the beacon that was heard.
        public let refinement: (any CLCondition)?

        /// What stands in the way.
        let diagnostics: Diagnostics

        /// An event from its parts.
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

        /// What is monitored cannot be stored.
        public var persistenceUnavailable: Bool { diagnostics.contains(.persistenceUnavailable) }

        /// The app said that it holds a service session, and holds none.
        public var serviceSessionRequired: Bool { diagnostics.contains(.serviceSessionRequired) }

        /// Somebody is being asked for authorization.
        public var authorizationRequestInProgress: Bool { diagnostics.contains(.authorizationRequestInProgress) }
    }
}
