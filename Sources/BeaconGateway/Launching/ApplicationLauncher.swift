import BeaconApplications
import BeaconPrograms
import Foundation
import Glibc
import Logging

/// The launcher of one application, as its user: one process at a time, and not too often.
///
/// Events wait in the application's state, so that one start delivers any number of them.
actor ApplicationLauncher {
    private let settings: LaunchSettings.Applications
    private let logger: Logger
    private let key: ApplicationKey
    private var schedule: LaunchSchedule
    private var launch: ApplicationLaunch?
    private var worker: Task<Void, Never>?
    private var pause: Task<Void, Never>?
    private var isStopped = false

    /// The number of starts.
    private(set) var started = 0

    /// Creates a launcher.
    init(_ key: ApplicationKey, settings: LaunchSettings.Applications, logger: Logger) {
        self.key = key
        self.settings = settings
        self.logger = logger
        schedule = LaunchSchedule(interval: settings.interval)
    }

    /// Starts the application as soon as the schedule allows. A start that is due already serves this one too.
    func start(_ launch: ApplicationLaunch) {
        guard !isStopped else { return }
        self.launch = launch
        if worker == nil { worker = Task { await work() } }
    }

    /// Waits until the application has ended, if it was started here and its time is limited; else ends it.
    func finish() async {
        guard settings.timeLimit != nil else { return await stop() }
        isStopped = true
        pause?.cancel()
        await worker?.value
    }

    /// Ends the application, if it was started here and runs, and does not start it again.
    func stop() async {
        isStopped = true
        worker?.cancel()
        pause?.cancel()
        await worker?.value
    }

    private func work() async {
        while let next = launch, !Task.isCancelled {
            let wait = schedule.wait(at: .now)
            if wait > .zero {
                // The events are stored, so that a later start delivers them.
                if isStopped { break }
                let pause = Task { _ = try? await Task.sleep(for: wait) }
                self.pause = pause
                await pause.value
                continue
            }
            launch = nil
            schedule.start(at: .now)
            started += 1
            schedule.end(await run(next))
        }
        worker = nil
    }

    private func run(_ launch: ApplicationLaunch) async -> Bool {
        let logger = logger
        let key = key
        do {
            let program = try EventProgram(launch, account: key.account, timeLimit: settings.timeLimit)
            logger.info("starting \(key) for its regions")
            let outcome = try await program.run(input: [], output: .lines { logger.info("\(key): \($0)") })
            if Task.isCancelled { return true }
            if case .tookTooLong = outcome {
                // An application that waits for more events does not end by itself.
                logger.info("\(key) \(outcome)")
                return true
            }
            if !outcome.isSuccess { logger.warning("\(key) \(outcome)") }
            return outcome.isSuccess
        } catch {
            logger.error("cannot start \(key): \(error)")
            return false
        }
    }
}

extension EventProgram {
    /// Creates the program of an application, as its user.
    ///
    /// - Throws: ``LaunchError`` if this process may not start programs as that user.
    init(_ launch: ApplicationLaunch, account: UserAccount, timeLimit: Duration?) throws(LaunchError) {
        let isOther = account.userID != geteuid()
        guard !isOther || geteuid() == 0 else {
            throw LaunchError(
                .notPermitted,
                "only root and \(account.name) can start programs of \(account.name); run beacond as one of them")
        }
        guard launch.executable.hasPrefix("/") else {
            throw LaunchError(
                .notTrusted,
                "the registered program \(launch.executable) is not an absolute path; "
                    + "start the application by hand once, so that it registers again")
        }
        self.init([launch.executable] + launch.arguments, timeLimit: timeLimit)
        var environment = launch.environment
        environment["HOME"] = account.home
        environment["USER"] = account.name
        environment["LOGNAME"] = account.name
        environment["PATH"] = "/usr/local/bin:/usr/bin:/bin"
        self.environment = environment
        // It is entered before the user is changed: the application must not get to where only root may be.
        let isOpen = isOther ? FileManager.default.isOwned(launch.folder, by: account) : true
        folder = isOpen && FileManager.default.fileExists(atPath: launch.folder) ? launch.folder : "/"
        if isOther { self.account = account }
        isOwnSession = true
    }
}

extension FileManager {
    /// Returns whether a folder belongs to a user.
    fileprivate func isOwned(_ path: String, by account: UserAccount) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_uid == account.userID && status.st_mode & S_IFMT == S_IFDIR
    }
}
