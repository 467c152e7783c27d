package import BeaconApplications
import BeaconModel
import BeaconSupport
import CLibrary
import Foundation

/// The applications of this process's user that monitor regions themselves, as registered in the user's state
/// directory.
///
/// There is no socket between them and the daemon. A registration counts only if no user other than its owner and root
/// can have written it.
package struct ApplicationRegistry: Sendable {
    private let directory: StateDirectory
    private let damaged: Locked<[StateError]>

    /// Creates the registry in a folder, by default the folder in which this user's applications register.
    package init(directory: StateDirectory = .user) {
        let damaged = Locked<[StateError]>([])
        self.damaged = damaged
        self.directory = directory.reporting { error in damaged.withLock { $0.append(error) } }
    }

    /// The result of a scan of all applications.
    struct Found {
        /// The applications that may be started.
        var terminated: [TerminatedApplication] = []
        /// The reasons for not starting others, by the application's name, or by the empty text for all of them.
        var problems: [String: String] = [:]
        /// The damaged files that were set aside since the last scan.
        var damaged: [StateError] = []
    }

    /// Scans all applications.
    func look() -> Found {
        var found = Found()
        do {
            guard FileManager.default.fileExists(atPath: directory.url.path) else { return found }
            let policy = try AuthorizationPolicy(directory: directory, environment: [:])
            for identity in directory.applications {
                do {
                    if let application = try terminated(identity, policy) { found.terminated.append(application) }
                } catch {
                    found.problems[identity.name] = "\(error)"
                }
            }
        } catch {
            found.problems[""] = "\(error)"
        }
        found.damaged = damaged.withLock { damaged in
            defer { damaged = [] }
            return damaged
        }
        return found
    }

    private func terminated(
        _ identity: ApplicationIdentity, _ policy: AuthorizationPolicy
    ) throws -> TerminatedApplication? {
        let folder = directory.folder(of: identity).path
        // Most applications are not registered and need no check.
        guard FileManager.default.fileExists(atPath: folder + "/launch.json") else { return nil }
        try checkOwner(of: folder)
        guard let launch = try directory.launch(of: identity),
            // The authorization may be for a particular executable.
            try policy.status(of: ApplicationIdentity(identity.name, executable: launch.executable)) == .always,
            try !directory.isRunning(identity)
        else { return nil }
        let triggers = try directory.triggers(of: identity)
        guard !triggers.isEmpty else { return nil }
        return TerminatedApplication(identity: identity, launch: launch, triggers: triggers)
    }

    private func checkOwner(of folder: String) throws(LaunchError) {
        let monitors = ((try? FileManager.default.contentsOfDirectory(atPath: folder + "/monitors")) ?? []).sorted()
        for file in ["regions.json", "authorization.json", "waiting.json", "running", "lock"]
            + monitors.map({ "monitors/\($0)" })
        where FileManager.default.fileExists(atPath: "\(folder)/\(file)") {
            try OwnershipCheck.check("\(folder)/\(file)", owner: geteuid())
        }
        try OwnershipCheck.check(folder + "/launch.json", owner: geteuid())
    }

    /// Stores a new state of a region or condition for a terminated application.
    ///
    /// - Parameters:
    ///   - state: the new state.
    ///   - time: the time of the change, by the wall clock.
    ///   - id: the region or condition.
    ///   - constraint: its beacons.
    ///   - identity: the application.
    /// - Returns: the trigger with the previous state; nil if there is nothing to deliver.
    /// - Throws: ``LaunchError`` and `StateError`.
    func store(
        _ state: RegionState, at time: Timestamp, of id: LaunchTrigger.ID, constraint: BeaconConstraint,
        for identity: ApplicationIdentity
    ) throws -> LaunchTrigger? {
        try checkOwner(of: directory.folder(of: identity).path)
        return try directory.store(state, at: time, of: id, constraint: constraint, for: identity)
    }
}

/// A terminated application that is registered for being started.
struct TerminatedApplication: Hashable, Sendable {
    /// The application.
    var identity: ApplicationIdentity

    /// The program, arguments, folder and environment to start it with.
    var launch: ApplicationLaunch

    /// The regions and conditions that start it, with the states that it knows.
    var triggers: [LaunchTrigger]

    /// The same application with unknown states.
    var withoutStates: TerminatedApplication {
        var copy = self
        for place in copy.triggers.indices { copy.triggers[place].state = .unknown }
        return copy
    }
}
