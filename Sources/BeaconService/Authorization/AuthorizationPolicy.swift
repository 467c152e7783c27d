public import Foundation

/// Who may know of beacons: what an administrator decided, else what was granted before, else what is asked for.
///
/// Linux has nobody to ask on the screen, so that a request is granted unless the administrator's file says otherwise. The
/// file is JSON, an object from an application's name, or `*` for all others, to a status.
public struct AuthorizationPolicy: Sendable {
    /// Where an administrator decides for the whole machine.
    public static let administratorFile = URL(fileURLWithPath: "/etc/swift-beacon/authorization.json")

    private let directory: StateDirectory
    private let administrator: [String: AuthorizationStatus]

    /// The policy of this machine and user.
    ///
    /// - Throws: ``ServiceError`` if the administrator's file cannot be read or holds something else: then nobody knows
    ///   what was decided, and nothing may be granted.
    public init(directory: StateDirectory, administratorFile: URL = Self.administratorFile) throws(ServiceError) {
        self.directory = directory
        administrator =
            try directory.read([String: AuthorizationStatus].self, from: administratorFile) ?? [:]
    }

    /// What an administrator decided for an application, if anything.
    public func decision(for application: ApplicationIdentity) -> AuthorizationStatus? {
        administrator[application.name] ?? administrator["*"]
    }

    /// An application's status as it stands.
    ///
    /// - Throws: ``ServiceError`` if what was granted before cannot be read.
    public func status(of application: ApplicationIdentity) throws(ServiceError) -> AuthorizationStatus {
        if let decision = decision(for: application) { return decision }
        return try directory.read(Grant.self, from: file(of: application))?.status ?? .notDetermined
    }

    /// What a request makes of a status: it is granted once, from not determined, and "always" once more from "when in
    /// use"; anything else stays as it is, as on Apple's systems.
    public static func answer(to request: AuthorizationRequest, from status: AuthorizationStatus) -> AuthorizationStatus
    {
        switch (request, status) {
        case (.whenInUse, .notDetermined): .whenInUse
        case (.always, .notDetermined), (.always, .whenInUse): .always
        default: status
        }
    }

    /// Remembers an application's status, unless an administrator decided.
    ///
    /// - Throws: ``ServiceError`` if it cannot be written.
    public func record(_ status: AuthorizationStatus, for application: ApplicationIdentity) throws(ServiceError) {
        guard decision(for: application) == nil else { return }
        try directory.write(Grant(status: status, reason: application.usageDescription), to: file(of: application))
    }

    /// All applications that have asked, with what they were told and why they asked.
    ///
    /// - Throws: ``ServiceError`` if what was granted before cannot be read.
    public func applications() throws(ServiceError) -> [Application] {
        let folder = directory.url.appendingPathComponent("applications", isDirectory: true)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        var result: [Application] = []
        for name in names.sorted() {
            let application = ApplicationIdentity(name)
            guard let grant = try directory.read(Grant.self, from: file(of: application)) else { continue }
            result.append(
                Application(
                    name: name, status: decision(for: application) ?? grant.status, reason: grant.reason,
                    isDecidedByAdministrator: decision(for: application) != nil))
        }
        return result
    }

    /// An application that has asked.
    public struct Application: Hashable, Sendable {
        /// Its name.
        public var name: String
        /// What it may.
        public var status: AuthorizationStatus
        /// Why it says that it asks.
        public var reason: String?
        /// Whether the status is an administrator's decision.
        public var isDecidedByAdministrator: Bool
    }

    private struct Grant: Codable {
        var status: AuthorizationStatus
        var reason: String?
    }

    private func file(of application: ApplicationIdentity) -> URL {
        directory.file("authorization", of: application)
    }
}
