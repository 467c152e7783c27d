extension CLMonitor {
    /// What stands in the way of telling a condition's state, as one value that can be compared and stored.
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
