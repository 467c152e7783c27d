import BeaconPrograms
import BeaconService
import Foundation
import Glibc
import Logging

/// Starts one application for what happened to its regions, as its user: never twice at once, and not too often.
///
/// What happened waits in the application's state, so that one start tells of any number of events.
actor ApplicationLauncher {
    private let settings: LaunchSettings.Applications
    private let logger: Logger
    private let key: ApplicationKey
    private var times: LaunchTimes
    private var launch: ApplicationLaunch?
    private var worker: Task<Void, Never>?
    private var pause: Task<Void, Never>?
    private var isStopped = false

    /// How often it was started.
    private(set) var started = 0

    /// A launcher that has started nothing yet.
    init(_ key: ApplicationKey, settings: LaunchSettings.Applications, logger: Logger) {
        self.key = key
        self.settings = settings
        self.logger = logger
        times = LaunchTimes(interval: settings.interval)
    }

    /// Starts the application as soon as that may be. Where it is about to be started already, nothing more is needed.
    func start(_ launch: ApplicationLaunch) {
        guard !isStopped else { return }
        self.launch = launch
        if worker == nil { worker = Task { await work() } }
    }

    /// Waits until the application has ended, if it was started here and its time is limited; else it is ended.
    func finish() async {
        guard settings.timeLimit != nil else { return await stop() }
        isStopped = true
        pause?.cancel()
        await worker?.value
    }

    /// Ends the application, if it was started here and runs, and starts it no more.
    func stop() async {
        isStopped = true
        worker?.cancel()
        pause?.cancel()
        await worker?.value
    }

    private func work() async {
        while let next = launch, !Task.isCancelled {
            let wait = times.wait(at: .now)
            if wait > .zero {
                // What happened is kept, so that a later start tells it.
                if isStopped { break }
                let pause = Task { _ = try? await Task.sleep(for: wait) }
                self.pause = pause
                await pause.value
                continue
            }
            launch = nil
            times.start(at: .now)
            started += 1
            times.end(await run(next))
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
                // It had its time. An application that waits for more events does not end by itself.
                logger.info("\(key) \(outcome)")
                return true
            }
            if !outcome.isSuccess { logger.warning("\(key) \(outcome)") }
            return outcome.isSuccess
        } catch {
            logger.error("\(key) could not be started: \(error)")
            return false
        }
    }
}

extension EventProgram {
    /// An application as it was started before, for its user.
    ///
    /// - Throws: ``LaunchError`` if this process may not start programs as that user.
    init(_ launch: ApplicationLaunch, account: UserAccount, timeLimit: Duration?) throws(LaunchError) {
        let isOther = account.userID != geteuid()
        guard !isOther || geteuid() == 0 else {
            throw LaunchError(
                .notPermitted,
                "only root can start programs of \(account.name); run beacond as root or as \(account.name)")
        }
        guard launch.executable.hasPrefix("/") else {
            throw LaunchError(.notTrusted, "\(launch.executable) is not the full path of a program")
        }
        self.init([launch.executable] + launch.arguments, timeLimit: timeLimit)
        var environment = launch.environment
        environment["HOME"] = account.home
        environment["USER"] = account.name
        environment["LOGNAME"] = account.name
        environment["PATH"] = "/usr/local/bin:/usr/bin:/bin"
        self.environment = environment
        // Entered before the user is changed: where only root may be, the application must not get to.
        let isOpen = isOther ? FileManager.default.isOwned(launch.folder, by: account) : true
        folder = isOpen && FileManager.default.fileExists(atPath: launch.folder) ? launch.folder : "/"
        if isOther { self.account = account }
        isOwnSession = true
    }
}

extension FileManager {
    /// Whether a folder belongs to a user.
    fileprivate func isOwned(_ path: String, by account: UserAccount) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_uid == account.userID && status.st_mode & S_IFMT == S_IFDIR
    }
}
