package import BeaconSupport
package import Dispatch
package import Foundation

/// The permissions of applications: an administrator's decisions, else earlier answers, else what happens to requests.
///
/// A request is granted, refused, or put to the user. Where nobody decided which, it is put to the user of a terminal
/// that the application runs in, and granted without one: a machine that hears beacons often has nobody to ask.
///
/// The administrator's file is JSON, an object from an application (its bundle identifier, its executable's path, or
/// its name as `beacon authorization` lists it), or `*` for all others, to a rule.
package struct AuthorizationPolicy: Sendable {
    /// The file in which an administrator decides for the whole machine.
    package static let administratorFile = URL(fileURLWithPath: "/etc/swift-beacon/authorization.json")

    /// The variable by which whoever starts an application says what happens to its requests: an answer, and `strict`
    /// behind a comma or alone.
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
    ///   - environment: the environment of the process that asks.
    ///   - canAskInTerminal: whether a terminal is there to ask in; by default, whether this process has one.
    /// - Throws: ``StateError`` if the administrator's file cannot be read or is damaged, or if the variable has
    ///   another value: the decisions are unknown then, so that nothing may be granted.
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
                    "\(variable) has \"\(word.printable)\"; it is one of grant, deny and ask, and \"strict\" behind a comma"
                )
            }
        }
        return rule
    }

    /// Returns the rule for an application alone: that of its identifier, and that of its executable's path.
    private func ownRule(for application: ApplicationIdentity) -> AuthorizationRule {
        let rules = [application.name, application.pathName].compactMap { $0.flatMap { administrator[$0] } }
        return rules.reduce(AuthorizationRule()) { $0.strictest($1) }
    }

    private func administratorRule(for application: ApplicationIdentity) -> AuthorizationRule {
        ownRule(for: application).orElse(administrator["*"] ?? AuthorizationRule())
    }

    /// Returns an administrator's decision for an application, if there is one.
    package func decision(for application: ApplicationIdentity) -> AuthorizationStatus? {
        // A rule for the application that has an answer to its requests is more than a status for all others.
        let own = ownRule(for: application)
        if own.status != nil || own.requests != nil { return own.status }
        return administrator["*"]?.status
    }

    /// Returns what happens to an application's requests.
    package func answer(for application: ApplicationIdentity) -> RequestAnswer {
        administratorRule(for: application).requests ?? ofStarter.requests ?? (canAskInTerminal ? .ask : .grant)
    }

    /// Returns true where an application's Info.plist has to be as on iOS: a request without its reasons is ignored,
    /// and without the background mode `location` the application is not started for its regions.
    package func isStrict(for application: ApplicationIdentity) -> Bool {
        administratorRule(for: application).orElse(ofStarter).isStrict ?? false
    }

    // MARK: - Answers

    /// What an application may, and what its user was asked.
    package struct Permission: Hashable, Sendable, Codable {
        /// The status.
        package var status: AuthorizationStatus
        /// The application's reason for asking.
        package var reason: String?
        /// True where the user refused "always" and allowed the rest: he is not asked for it again. Nil is false.
        package var isAlwaysRefused: Bool?

        /// A permission from its parts.
        package init(status: AuthorizationStatus, reason: String? = nil, isAlwaysRefused: Bool = false) {
            self.status = status
            self.reason = reason
            self.isAlwaysRefused = isAlwaysRefused ? true : nil
        }

        /// Returns true for one that allows the same, whatever the reason was.
        package func isSame(as other: Permission?) -> Bool {
            status == other?.status && (isAlwaysRefused ?? false) == (other?.isAlwaysRefused ?? false)
        }
    }

    /// Returns what an application may; nil where that was never decided. Where its file is damaged, that is set aside,
    /// and the application may ask again.
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

    /// Stores what an application may, unless an administrator decided.
    ///
    /// - Throws: ``StateError`` if it cannot be written.
    package func record(_ permission: Permission, for application: ApplicationIdentity) throws(StateError) {
        guard decision(for: application) == nil else { return }
        let lock = try directory.lock(application)
        defer { withExtendedLifetime(lock) {} }
        try directory.write(permission, to: directory.file("authorization", of: application))
    }

    /// Stores what an application may in place of what it was known to be. Where it is another by now, since its user
    /// or another of its processes decided meanwhile, that stays.
    ///
    /// - Returns: what is stored then; nil where nothing is, since an administrator decided.
    /// - Throws: ``StateError`` if it cannot be read or written.
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

    /// Puts a request to the user: in the terminal of this process, where there is one, and for `beacon authorization`.
    ///
    /// - Parameters:
    ///   - request: what the application asks for.
    ///   - application: the application.
    ///   - status: what it may so far.
    ///   - answer: called once with what the user of the terminal allows, on a thread of its own. An answer by command
    ///     changes the stored permission.
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

    /// Begins to watch what an application may; nil while it has no folder.
    ///
    /// - Parameters:
    ///   - application: the application.
    ///   - queue: the queue on which changes are reported.
    ///   - report: called where the permission may have changed.
    package func watch(
        _ application: ApplicationIdentity, queue: DispatchQueue, report: @escaping @Sendable () -> Void
    ) -> AuthorizationWatch? {
        AuthorizationWatch(of: application, in: directory, queue: queue, report: report)
    }

    // MARK: - All applications

    /// Returns all applications that have asked, with their status and reason.
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
            // What beacond cannot read it does not start either.
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

    /// An application that has asked.
    package struct Application: Hashable, Sendable {
        /// Its name.
        package var name: String
        /// Its status.
        package var status: AuthorizationStatus
        /// Its reason for asking.
        package var reason: String?
        /// What it waits for; nil where it waits for no answer.
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
