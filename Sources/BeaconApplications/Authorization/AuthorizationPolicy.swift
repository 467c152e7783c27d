package import BeaconSupport
package import Foundation

/// An application's permission to know of beacons.
package enum AuthorizationStatus: String, Hashable, Sendable, Codable, CaseIterable {
    /// The application has not asked.
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
}

/// A permission that an application asks for.
package enum AuthorizationRequest: Hashable, Sendable {
    /// To know of beacons while it runs.
    case whenInUse
    /// To know of beacons, and to be started for them.
    case always
}

/// The permissions of applications: an administrator's decisions, else earlier answers, else what they ask for.
///
/// Linux has nobody to ask on the screen, so a request is granted unless the administrator's file says otherwise. The
/// file is JSON, an object from an application (its bundle identifier, its executable's path, or its name as `beacon
/// authorization` lists it), or `*` for all others, to a status.
package struct AuthorizationPolicy: Sendable {
    /// The file in which an administrator decides for the whole machine.
    package static let administratorFile = URL(fileURLWithPath: "/etc/swift-beacon/authorization.json")

    private let directory: StateDirectory
    private let administrator: [String: AuthorizationStatus]

    /// Reads the policy of this machine and user.
    ///
    /// - Throws: ``StateError`` if the administrator's file cannot be read or is damaged: its decisions are unknown
    ///   then, so that nothing may be granted.
    package init(directory: StateDirectory, administratorFile: URL = Self.administratorFile) throws(StateError) {
        self.directory = directory
        let decisions = try directory.read([String: AuthorizationStatus].self, from: administratorFile) ?? [:]
        administrator = Dictionary(
            decisions.map { ($0.key == "*" ? "*" : ApplicationIdentity($0.key).name, $0.value) },
            uniquingKeysWith: { $0.isGranted ? $1 : $0 })
    }

    /// Returns an administrator's decision for an application, if there is one.
    package func decision(for application: ApplicationIdentity) -> AuthorizationStatus? {
        administrator[application.name] ?? administrator["*"]
    }

    /// Returns an application's status. Where its file is damaged, that is set aside, and the application may ask
    /// again.
    ///
    /// - Throws: ``StateError`` if its file cannot be read.
    package func status(of application: ApplicationIdentity) throws(StateError) -> AuthorizationStatus {
        if let decision = decision(for: application) { return decision }
        return try grant(of: application)?.status ?? .notDetermined
    }

    /// Returns the status that follows from a request: it is granted once, from not determined, and "always" once more
    /// from "when in use"; anything else stays as it is, as on Apple's systems.
    package static func answer(
        to request: AuthorizationRequest, from status: AuthorizationStatus
    ) -> AuthorizationStatus {
        switch (request, status) {
        case (.whenInUse, .notDetermined): .whenInUse
        case (.always, .notDetermined), (.always, .whenInUse): .always
        default: status
        }
    }

    /// Stores an application's status, unless an administrator decided.
    ///
    /// - Throws: ``StateError`` if it cannot be written.
    package func record(_ status: AuthorizationStatus, for application: ApplicationIdentity) throws(StateError) {
        guard decision(for: application) == nil else { return }
        let lock = try directory.lock(application)
        defer { withExtendedLifetime(lock) {} }
        try directory.write(Grant(status: status, reason: application.usageDescription), to: file(of: application))
    }

    /// Returns all applications that have asked, with their status and reason.
    ///
    /// - Throws: ``StateError`` if a file cannot be read.
    package func applications() throws(StateError) -> [Application] {
        var result: [Application] = []
        for application in directory.applications {
            guard let grant = try grant(of: application) else { continue }
            result.append(
                Application(
                    name: application.name, status: decision(for: application) ?? grant.status, reason: grant.reason,
                    isDecidedByAdministrator: decision(for: application) != nil))
        }
        return result
    }

    /// An application that has asked.
    package struct Application: Hashable, Sendable {
        /// Its name.
        package var name: String
        /// Its status.
        package var status: AuthorizationStatus
        /// Its reason for asking.
        package var reason: String?
        /// A Boolean value indicating whether the status is an administrator's decision.
        package var isDecidedByAdministrator: Bool
    }

    private struct Grant: Codable {
        var status: AuthorizationStatus
        var reason: String?
    }

    private func grant(of application: ApplicationIdentity) throws(StateError) -> Grant? {
        try directory.state(Grant.self, in: file(of: application), of: application).value
    }

    private func file(of application: ApplicationIdentity) -> URL {
        directory.file("authorization", of: application)
    }
}
