package import BeaconApplications
import BeaconSupport
import Logging

extension BeaconCenter {
    /// The authorization of the application.
    var status: AuthorizationStatus { permission.status }

    /// Requests an authorization. All clients receive the result: a new status, or that the user is being asked.
    package func request(_ request: AuthorizationRequest) {
        let application = configuration.application
        let policy = configuration.policy
        // A request cannot change an administrator's decision, and the user is not asked twice.
        guard policy?.decision(for: application) == nil, status.granting(request) != status,
            !(request == .always && permission.isAlwaysRefused == true), asked.map({ $0 < request }) ?? true
        else { return }
        let missing = policy?.isStrict(for: application) == true ? application.infoPlist.missingKeys(for: request) : []
        guard missing.isEmpty else {
            logger.error(
                """
                ignoring the request for permission, as on iOS: the app's Info.plist lacks \
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

    /// Answers a request from the stored permission, without asking: another process or a command may have decided.
    private func decide(
        _ request: AuthorizationRequest, _ decision: @escaping @Sendable (AuthorizationStatus) -> AuthorizationStatus
    ) {
        guard configuration.policy != nil else { return settle(request, as: decision(status)) }
        readPermission { center in
            guard !(request == .always && center.permission.isAlwaysRefused == true) else { return }
            center.settle(request, as: decision(center.status))
        }
    }

    /// Sets the authorization of the application, as its user does. This also answers a pending request.
    package func setStatus(_ new: AuthorizationStatus) {
        if let asked { return settle(asked, as: new) }
        guard new != status else { return }
        permission = AuthorizationPolicy.Permission(status: new, reason: permission.reason)
        storePermission()
        deliverAuthorization()
    }

    /// Answers the pending request.
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
        // The authorization is delivered before the events that follow from it, as with the radio's state.
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
                // Another process or a command may have answered it by now.
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
                logger.error("cannot ask the user for permission: \(error)")
                self?.perform { center in
                    // The app may ask again once the error is fixed.
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
        // A command may have answered before the folder was watched.
        readPermission()
    }

    /// Ends the pending request to the user.
    ///
    /// - Returns: true if a request was pending.
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
                // Another process decided in the meantime.
                if !stored.isSame(as: permission) { perform { $0.take(stored, readAfter: number) } }
            } catch {
                // The decision stays in effect until another one is stored.
                logger.error("cannot save the authorization of \(configuration.application): \(error)")
            }
        }
        watchAuthorization()
    }

    /// Watches for answers by commands and by other processes of the application, once the application has a folder.
    nonisolated func watchAuthorization() {
        guard let policy = configuration.policy else { return }
        writer.perform { [weak self] _ in
            guard let self else { return }
            authorizationWatch.withLock { watch in
                guard watch == nil else { return }
                watch = policy.watch(configuration.application, queue: queue) { [weak self] in
                    self?.perform { $0.readPermission() }
                }
                // Reads any decision that was made before the folder was watched.
                if watch != nil { perform { $0.readPermission() } }
            }
        }
    }

    /// Reads the permission again, since another process may have changed it.
    ///
    /// - Parameter then: called afterwards; not called if the permission cannot be read.
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
                    // A decision that could not be stored is newer than an unchanged permission on the disk.
                    if let new, isChange { center.take(new, readAfter: stored) }
                    then?(center)
                }
            } catch {
                logger.error(
                    "cannot read the authorization of \(configuration.application): \(error); keeping the present one")
            }
        }
    }

    private func take(_ new: AuthorizationPolicy.Permission, readAfter stored: Int) {
        // A later decision of this process is newer.
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
