/// The status of an application's permission to detect beacons.
package enum AuthorizationStatus: String, Hashable, Sendable, Codable, CaseIterable {
    /// The application has not asked, or has not received an answer yet.
    case notDetermined
    /// Not permitted, and the user cannot change that.
    case restricted
    /// Not permitted.
    case denied
    /// Permitted while the application runs.
    case whenInUse
    /// Permitted at any time: beacond may start the application for an event.
    case always

    /// A Boolean value indicating whether events may be delivered.
    package var isGranted: Bool { self == .whenInUse || self == .always }

    /// Returns the status after a request is granted: from not determined, or from "when in use" to "always". Any other
    /// status stays the same, as on Apple's systems.
    package func granting(_ request: AuthorizationRequest) -> AuthorizationStatus {
        switch (request, self) {
        case (.whenInUse, .notDetermined): .whenInUse
        case (.always, .notDetermined), (.always, .whenInUse): .always
        default: self
        }
    }

    /// Returns the status after a request is refused. A granted status stays.
    package func refusing(_ request: AuthorizationRequest) -> AuthorizationStatus {
        self == .notDetermined ? .denied : self
    }
}

/// A permission that an application requests.
package enum AuthorizationRequest: String, Hashable, Sendable, Codable, Comparable {
    /// Detects beacons while the application runs.
    case whenInUse
    /// Detects beacons at any time, including launches by beacond.
    case always

    /// Returns true if the left request asks for less than the right one.
    package static func < (left: AuthorizationRequest, right: AuthorizationRequest) -> Bool {
        left == .whenInUse && right == .always
    }
}
