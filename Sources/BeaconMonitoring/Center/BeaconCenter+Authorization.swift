package import BeaconApplications
import BeaconSupport
import Logging

extension BeaconCenter {
    /// The authorization of the application.
    var status: AuthorizationStatus { permission.status }

    /// Asks for an authorization. All clients receive what comes of it: another status, or that the user is asked.
    package func request(_ request: AuthorizationRequest) {
        let application = configuration.application
        let policy = configuration.policy
        // No request changes an administrator's decision, and nobody is asked twice.
        guard policy?.decision(for: application) == nil, status.granting(request) != status,
            !(request == .always && permission.isAlwaysRefused == true), asked.map({ $0 < request }) ?? true
        else { return }
        let missing = policy?.isStrict(for: application) == true ? application.infoPlist.missingKeys(for: request) : []
        guard missing.isEmpty else {
            logger.error(
                """
                the request for permission is ignored, as on iOS: the app's Info.plist lacks \
                \(missing.joined(separator: " and "))
                """)
            return
        }
        switch policy?.answer(for: application) ?? answer {
        case .grant: decide(request) { $0.granting(request) }
        case .deny: decide(request) { $0.refusing(request) }
        case .ask: ask(request)
        }
    }

    /// Answers a request without asking, from what is stored by then: another process or a command may have decided.
    private func decide(
        _ request: AuthorizationRequest, _ decision: @escaping @Sendable (AuthorizationStatus) -> AuthorizationStatus
    ) {
        guard configuration.policy != nil else { return settle(request, as: decision(status)) }
        readPermission { center in
            guard !(request == .always && center.permission.isAlwaysRefused == true) else { return }
            center.settle(request, as: decision(center.status))
        }
    }

    /// Sets the authorization of the application, as its user does. It is an answer to a request that waits, too.
    package func setStatus(_ new: AuthorizationStatus) {
        if let asked { return settle(asked, as: new) }
        guard new != status else { return }
        permission = AuthorizationPolicy.Permission(status: new, reason: permission.reason)
        storePermission()
        deliverAuthorization()
    }

    /// Has a request answered.
    private func settle(_ request: AuthorizationRequest, as new: AuthorizationStatus) {
        let before = permission
        let wasAsking = endAsking(new)
        permission = AuthorizationPolicy.Permission(
            status: new, reason: before.reason, isAlwaysRefused: request == .always && new == .whenInUse)
        if permission != before { storePermission() }
        if permission.status != before.status || wasAsking { deliverAuthorization() }
    }

    private func deliverAuthorization() {
        publish()
        // As with the radio's state, the cause comes before what follows from it.
        deliverToAll(.authorization(status, isAsking: asked != nil))
        update()
    }

    // MARK: - Asking

    private func ask(_ request: AuthorizationRequest) {
        question?.end("It asks for more:")
        question = nil
        asked = request
        deliverAuthorization()
        guard let policy = configuration.policy else { return }
        let (application, status) = (configuration.application, status)
        let logger = logger
        let answered: @Sendable (AuthorizationStatus) -> Void = { [weak self] answer in
            self?.perform { center in
                // It may have been answered elsewhere meanwhile.
                if center.asked == request { center.settle(request, as: answer) }
            }
        }
        performOnDisk { [weak self] in
            do throws(StateError) {
                let question = try policy.ask(for: request, of: application, from: status, answer: answered)
                if let failure = question.failure {
                    logger.warning("only the terminal can answer the request for permission: \(failure)")
                } else if !question.isInTerminal {
                    logger.notice(
                        """
                        the app asks for permission and waits: answer with \
                        "beacon authorization grant \(application)" or "deny"
                        """)
                }
                self?.perform { $0.begin(question, about: request) }
            } catch {
                logger.error("the user cannot be asked for permission: \(error)")
                self?.perform { center in
                    // It may be asked for again, once that is mended.
                    guard center.asked == request else { return }
                    center.asked = nil
                    center.deliverAuthorization()
                }
            }
        }
        watchAuthorization()
    }

    private func begin(_ new: PendingAuthorization, about request: AuthorizationRequest) {
        guard asked == request else { return new.end(asked == nil ? Self.outcome(status) : "It asks for more:") }
        question = new
        // An answer by command may have come before the folder was watched.
        readPermission()
    }

    /// Ends the wait for the user.
    ///
    /// - Returns: true where he was asked.
    private func endAsking(_ status: AuthorizationStatus) -> Bool {
        question?.end(Self.outcome(status))
        question = nil
        defer { asked = nil }
        return asked != nil
    }

    private static func outcome(_ status: AuthorizationStatus) -> String {
        switch status {
        case .always: "Answered elsewhere: always."
        case .whenInUse: "Answered elsewhere: while it runs."
        default: "Answered elsewhere: no."
        }
    }

    // MARK: - The disk

    private func storePermission() {
        guard let policy = configuration.policy else { return }
        storedPermissions += 1
        var permission = permission
        permission.reason = configuration.application.infoPlist.reason(for: .always)
        writer.perform { [weak self, configuration, logger, permission, number = storedPermissions] _ in
            guard let self else { return }
            do throws(StateError) {
                let known = permissionOnDisk.withLock { $0 }
                guard
                    let stored = try policy.record(permission, for: configuration.application, inPlaceOf: known)
                else { return }
                permissionOnDisk.withLock { $0 = stored }
                // Somebody else decided meanwhile.
                if !stored.isSame(as: permission) { perform { $0.take(stored, readAfter: number) } }
            } catch {
                // It counts until something else is stored.
                logger.error("cannot save the authorization of \(configuration.application): \(error)")
            }
        }
        watchAuthorization()
    }

    /// Watches for answers by command, and of other processes of the application, from when it has a folder.
    nonisolated func watchAuthorization() {
        guard let policy = configuration.policy else { return }
        writer.perform { [weak self] _ in
            guard let self else { return }
            authorizationWatch.withLock { watch in
                guard watch == nil else { return }
                watch = policy.watch(configuration.application, queue: queue) { [weak self] in
                    self?.perform { $0.readPermission() }
                }
                // What was decided before the folder was watched.
                if watch != nil { perform { $0.readPermission() } }
            }
        }
    }

    /// Reads the permission again, since another process may have changed it.
    ///
    /// - Parameter then: what is done afterwards; not at all where it cannot be read.
    private func readPermission(then: (@Sendable (isolated BeaconCenter) -> Void)? = nil) {
        guard let policy = configuration.policy else { return }
        let stored = storedPermissions
        writer.perform { [weak self, configuration, logger] _ in
            guard let self else { return }
            do throws(StateError) {
                let new = try policy.permission(of: configuration.application)
                let isChange = permissionOnDisk.withLock { known in
                    defer { known = new }
                    return new.map { !$0.isSame(as: known) } ?? false
                }
                perform { center in
                    // What could not be stored is newer than what has not changed on the disk.
                    if let new, isChange { center.take(new, readAfter: stored) }
                    then?(center)
                }
            } catch {
                logger.error(
                    "cannot read the authorization of \(configuration.application): \(error); it stays as it is")
            }
        }
    }

    private func take(_ new: AuthorizationPolicy.Permission, readAfter stored: Int) {
        // What this process decided meanwhile is newer.
        guard stored == storedPermissions else { return }
        let isAnswer = asked.map {
            new.status.granting($0) == new.status || $0 == .always && new.isAlwaysRefused == true
        }
        let isChange = new.status != status
        permission = new
        let wasAsking = isAnswer == true && endAsking(new.status)
        if isChange || wasAsking { deliverAuthorization() }
    }
}
