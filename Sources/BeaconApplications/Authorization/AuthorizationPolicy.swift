package import BeaconSupport
package import Dispatch
package import Foundation

/// The policy for applications' permissions: an administrator's decisions, else earlier answers, else the rule for
/// requests.
///
/// A request is granted, refused, or put to the user. Without a rule, the policy asks the user of the terminal in which
/// the application runs, and grants the request if there is no terminal: a machine that hears beacons often has no user
/// to ask.
///
/// The administrator's file is a JSON object that maps applications to rules. An application is named by its bundle
/// identifier, its executable's path, or its name as listed by `beacon authorization`; `*` stands for all others.
package struct AuthorizationPolicy: Sendable {
    /// The file with an administrator's decisions for the whole machine.
    package static let administratorFile = URL(fileURLWithPath: "/etc/swift-beacon/authorization.json")

    /// The environment variable that sets how an application's requests are answered: an answer, `strict`, or both with
    /// a comma between them.
    package static let variable = "BEACON_AUTHORIZATION"

    private let directory: StateDirectory
    private let administrator: [String: AuthorizationRule]
    private let ofStarter: AuthorizationRule
    private let canAskInTerminal: Bool

    /// Reads the policy of this machine and user.
    ///
    /// - Parameters:
    ///   - directory: the folder of state.
    ///   - administratorFile: the file of the administrator's decisions.
    ///   - environment: the environment of the requesting process.
    ///   - canAskInTerminal: true if a terminal is available for questions; by default, if this process has one.
    /// - Throws: ``StateError`` if the administrator's file cannot be read or is damaged, or if the variable has an
    ///   invalid value. The decisions are then unknown, so that nothing may be granted.
    package init(
        directory: StateDirectory, administratorFile: URL = Self.administratorFile,
        environment: [String: String] = ProcessInfo.processInfo.environment, canAskInTerminal: Bool? = nil
    ) throws(StateError) {
        self.directory = directory
        self.canAskInTerminal = canAskInTerminal ?? TerminalQuestion.hasTerminal
        let rules = try directory.read([String: AuthorizationRule].self, from: administratorFile) ?? [:]
        administrator = Dictionary(
            rules.map { ($0.key == "*" ? "*" : ApplicationIdentity($0.key).name, $0.value) },
            uniquingKeysWith: { $0.strictest($1) })
        ofStarter = try Self.rule(environment[Self.variable] ?? "")
    }

    private static func rule(_ text: String) throws(StateError) -> AuthorizationRule {
        var rule = AuthorizationRule()
        for word in text.split(separator: ",").map({ $0.trimmingCharacters(in: .whitespaces) }) {
            if word == "strict" {
                rule.isStrict = true
            } else if let answer = RequestAnswer(rawValue: word) {
                rule.requests = answer
            } else {
                throw StateError(
                    .damagedState,
                    "\(variable) has \"\(word.printable)\"; use grant, deny or ask, and add \",strict\" if needed"
                )
            }
        }
        return rule
    }

    /// Returns the application's own rule: the stricter of the rules for its identifier and for its executable's path.
    private func ownRule(for application: ApplicationIdentity) -> AuthorizationRule {
        let rules = [application.name, application.pathName].compactMap { $0.flatMap { administrator[$0] } }
        return rules.reduce(AuthorizationRule()) { $0.strictest($1) }
    }

    private func administratorRule(for application: ApplicationIdentity) -> AuthorizationRule {
        ownRule(for: application).orElse(administrator["*"] ?? AuthorizationRule())
    }

    /// Returns an administrator's decision for an application, if there is one.
    package func decision(for application: ApplicationIdentity) -> AuthorizationStatus? {
        // An application's own rule with an answer to requests takes precedence over a status for all others.
        let own = ownRule(for: application)
        if own.status != nil || own.requests != nil { return own.status }
        return administrator["*"]?.status
    }

    /// Returns how an application's requests are answered.
    package func answer(for application: ApplicationIdentity) -> RequestAnswer {
        administratorRule(for: application).requests ?? ofStarter.requests ?? (canAskInTerminal ? .ask : .grant)
    }

    /// Returns true if an application's Info.plist must be complete as on iOS. Then a request without a reason is
    /// ignored, and without the background mode `location` the application is not started for its regions.
    package func isStrict(for application: ApplicationIdentity) -> Bool {
        administratorRule(for: application).orElse(ofStarter).isStrict ?? false
    }

    // MARK: - Answers

    /// An application's permission, and the result of earlier questions to the user.
    package struct Permission: Hashable, Sendable, Codable {
        /// The status.
        package var status: AuthorizationStatus
        /// The application's reason for asking.
        package var reason: String?
        /// True if the user refused "always" after allowing "when in use": the user is not asked again. Nil means
        /// false.
        package var isAlwaysRefused: Bool?

        /// Creates a permission.
        package init(status: AuthorizationStatus, reason: String? = nil, isAlwaysRefused: Bool = false) {
            self.status = status
            self.reason = reason
            self.isAlwaysRefused = isAlwaysRefused ? true : nil
        }

        /// Returns true if another permission allows the same, whatever its reason.
        package func isSame(as other: Permission?) -> Bool {
            status == other?.status && (isAlwaysRefused ?? false) == (other?.isAlwaysRefused ?? false)
        }
    }

    /// Returns an application's permission; nil if it was never decided. A damaged file is set aside, and the
    /// application may ask again.
    ///
    /// - Throws: ``StateError`` if its file cannot be read.
    package func permission(of application: ApplicationIdentity) throws(StateError) -> Permission? {
        if let decision = decision(for: application) { return Permission(status: decision) }
        return try stored(application)
    }

    /// Returns an application's status.
    ///
    /// - Throws: ``StateError`` if its file cannot be read.
    package func status(of application: ApplicationIdentity) throws(StateError) -> AuthorizationStatus {
        try permission(of: application)?.status ?? .notDetermined
    }

    /// Stores an application's permission, unless an administrator decided.
    ///
    /// - Throws: ``StateError`` if it cannot be written.
    package func record(_ permission: Permission, for application: ApplicationIdentity) throws(StateError) {
        guard decision(for: application) == nil else { return }
        let lock = try directory.lock(application)
        defer { withExtendedLifetime(lock) {} }
        try directory.write(permission, to: directory.file("authorization", of: application))
    }

    /// Stores an application's permission if the stored one is still the known one. If the user or another process has
    /// changed it in the meantime, that change stays.
    ///
    /// - Returns: the permission that is stored now; nil if an administrator decided.
    /// - Throws: ``StateError`` if the permission cannot be read or written.
    package func record(
        _ permission: Permission, for application: ApplicationIdentity, inPlaceOf known: Permission?
    ) throws(StateError) -> Permission? {
        guard decision(for: application) == nil else { return nil }
        let lock = try directory.lock(application)
        defer { withExtendedLifetime(lock) {} }
        let file = directory.file("authorization", of: application)
        let content = try directory.state(Permission.self, in: file, of: application, isLocked: true)
        if let stored = content.value, !stored.isSame(as: known), !stored.isSame(as: permission) { return stored }
        try directory.write(permission, to: file)
        return permission
    }

    // MARK: - Asking

    /// Asks the user about a request: in the terminal of this process, if there is one, and through `beacon
    /// authorization`.
    ///
    /// - Parameters:
    ///   - request: the permission that the application requests.
    ///   - application: the application.
    ///   - status: its present status.
    ///   - answer: called once with the answer of the terminal's user, on a separate thread. An answer by command
    ///     changes the stored permission instead.
    /// - Throws: ``StateError`` if the request cannot be stored.
    package func ask(
        for request: AuthorizationRequest, of application: ApplicationIdentity, from status: AuthorizationStatus,
        answer: @escaping @Sendable (AuthorizationStatus) -> Void
    ) throws(StateError) -> PendingAuthorization {
        let reason = application.infoPlist.reason(for: request)
        let question =
            canAskInTerminal
            ? TerminalQuestion(of: application.displayName, asking: request, from: status, reason: reason) : nil
        let pending = try PendingAuthorization(request, of: application, reason: reason, in: directory, question)
        question?.ask(answer)
        return pending
    }

    /// Starts to watch an application's permission; returns nil while the application has no folder.
    ///
    /// - Parameters:
    ///   - application: the application.
    ///   - queue: the queue on which changes are reported.
    ///   - report: called when the permission may have changed.
    package func watch(
        _ application: ApplicationIdentity, queue: DispatchQueue, report: @escaping @Sendable () -> Void
    ) -> AuthorizationWatch? {
        AuthorizationWatch(of: application, in: directory, queue: queue, report: report)
    }

    // MARK: - All applications

    /// Returns all applications that have requested a permission, with their status and reason.
    ///
    /// - Throws: ``StateError`` if a file cannot be read.
    package func applications() throws(StateError) -> [Application] {
        var result: [Application] = []
        for application in directory.applications {
            let stored = try stored(application)
            let pending = try PendingAuthorization.content(of: application, in: directory)
            guard stored != nil || pending != nil else { continue }
            let decision = decision(for: application)
            let status = decision ?? stored?.status ?? .notDetermined
            // beacond does not start applications whose files it cannot read.
            let hasLaunch = (try? directory.launch(of: application)) != nil
            let triggers = try? directory.triggers(of: application)
            result.append(
                Application(
                    name: application.name, status: status,
                    reason: pending?.reason ?? stored?.reason, asksFor: decision == nil ? pending?.request : nil,
                    isDecidedByAdministrator: decision != nil,
                    isStarted: status == .always && hasLaunch && triggers?.isEmpty == false))
        }
        return result
    }

    /// An application that has requested a permission.
    package struct Application: Hashable, Sendable {
        /// Its name.
        package var name: String
        /// Its status.
        package var status: AuthorizationStatus
        /// Its reason for asking.
        package var reason: String?
        /// The request that waits for an answer, or nil.
        package var asksFor: AuthorizationRequest?
        /// A Boolean value indicating whether the status is an administrator's decision.
        package var isDecidedByAdministrator: Bool
        /// A Boolean value indicating whether beacond starts it for its regions.
        package var isStarted = false
    }

    private func stored(_ application: ApplicationIdentity) throws(StateError) -> Permission? {
        try directory.state(Permission.self, in: directory.file("authorization", of: application), of: application)
            .value
    }
}
