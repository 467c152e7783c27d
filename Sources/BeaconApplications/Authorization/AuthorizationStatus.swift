/// An application's permission to know of beacons.
package enum AuthorizationStatus: String, Hashable, Sendable, Codable, CaseIterable {
    /// The application has not asked, or has no answer so far.
    case notDetermined
    /// It may not, and the user cannot change that.
    case restricted
    /// It may not.
    case denied
    /// It may while it runs.
    case whenInUse
    /// It may, and beacond may start it for an event.
    case always

    /// A Boolean value indicating whether events may be delivered.
    package var isGranted: Bool { self == .whenInUse || self == .always }

    /// Returns the status where a request is granted: once from not determined, and "always" once more from "when in
    /// use"; anything else stays as it is, as on Apple's systems.
    package func granting(_ request: AuthorizationRequest) -> AuthorizationStatus {
        switch (request, self) {
        case (.whenInUse, .notDetermined): .whenInUse
        case (.always, .notDetermined), (.always, .whenInUse): .always
        default: self
        }
    }

    /// Returns the status where a request is refused: what is granted already stays so.
    package func refusing(_ request: AuthorizationRequest) -> AuthorizationStatus {
        self == .notDetermined ? .denied : self
    }
}

/// A permission that an application asks for.
package enum AuthorizationRequest: String, Hashable, Sendable, Codable, Comparable {
    /// To know of beacons while it runs.
    case whenInUse
    /// To know of beacons, and to be started for them.
    case always

    /// Returns true where one asks for less than another.
    package static func < (left: AuthorizationRequest, right: AuthorizationRequest) -> Bool {
        left == .whenInUse && right == .always
    }
}
