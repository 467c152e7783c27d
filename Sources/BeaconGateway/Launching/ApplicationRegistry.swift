import BeaconEngine
import BeaconPrograms
import BeaconService
import Foundation

/// The applications of one user that monitor regions by themselves, as they are registered in the user's state directory.
///
/// There is no socket between them and the daemon. What is read is believed only where nobody but the user, and root, can
/// have written it; and it is read and written with the user's own rights.
struct ApplicationRegistry: Sendable {
    /// Whose applications these are.
    let account: UserAccount

    private let directory: StateDirectory

    /// The applications of a user.
    ///
    /// - Parameters:
    ///   - account: the user. Only root can serve another user than the one that it is.
    ///   - directory: where they are registered; nil for the place that applications use where nothing else is said.
    init(account: UserAccount, directory: StateDirectory? = nil) {
        self.account = account
        let home = URL(fileURLWithPath: account.home, isDirectory: true)
        self.directory =
            directory ?? StateDirectory(home.appendingPathComponent(".local/state/swift-beacon", isDirectory: true))
    }

    /// The user who runs this process, with the folder that its environment names.
    static var ofThisUser: ApplicationRegistry? {
        UserAccount.current.map { ApplicationRegistry(account: $0, directory: .user) }
    }

    /// What was found.
    struct Found {
        /// Who may be started.
        var sleeping: [SleepingApplication] = []
        /// What is wrong, by the name of the application or, where it is about all of them, the empty text.
        var problems: [String: String] = [:]
    }

    /// Looks at all applications.
    func look() -> Found {
        var found = Found()
        do {
            try FileUser.perform(as: account) {
                guard FileManager.default.fileExists(atPath: directory.url.path) else { return }
                let policy = try AuthorizationPolicy(directory: directory)
                for identity in directory.applications {
                    do {
                        if let application = try sleeping(identity, policy) { found.sleeping.append(application) }
                    } catch {
                        found.problems[identity.name] = "\(error)"
                    }
                }
            }
        } catch {
            found.problems[""] = "\(error)"
        }
        return found
    }

    private func sleeping(
        _ identity: ApplicationIdentity, _ policy: AuthorizationPolicy
    ) throws -> SleepingApplication? {
        let folder = directory.folder(of: identity).path
        // Most have nothing to start, and need not be trusted for that.
        guard FileManager.default.fileExists(atPath: folder + "/launch.json") else { return nil }
        try checkTrust(in: folder)
        guard let launch = try directory.launch(of: identity), try policy.status(of: identity) == .always,
            try !directory.isRunning(identity)
        else { return nil }
        let regions = try directory.regions(of: identity)
        guard !regions.isEmpty else { return nil }
        return SleepingApplication(
            key: ApplicationKey(account: account, identity: identity), launch: launch, regions: regions)
    }

    private func checkTrust(in folder: String) throws(LaunchError) {
        for file in ["launch.json", "regions.json", "authorization.json", "waiting.json", "running"]
        where file == "launch.json" || FileManager.default.fileExists(atPath: "\(folder)/\(file)") {
            try PathTrust.check("\(folder)/\(file)", owner: account.userID)
        }
    }

    /// Keeps a change for an application that does not run.
    ///
    /// - Returns: the region with its new state, and the state before; nil where there is nothing to tell it.
    /// - Throws: ``LaunchError`` and `ServiceError`.
    func keep(
        _ change: WaitingChange, for identity: ApplicationIdentity
    ) throws -> (region: RegisteredRegion, before: RegionState)? {
        try FileUser.perform(as: account) {
            try checkTrust(in: directory.folder(of: identity).path)
            return try directory.keep(change, for: identity)
        }
    }
}
