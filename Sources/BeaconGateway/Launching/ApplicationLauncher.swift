import BeaconApplications
import BeaconPrograms
import Foundation
import Logging

/// The launcher of one application: one process at a time, with a minimum interval.
///
/// Events wait in the application's state, so that one start delivers any number of them.
actor ApplicationLauncher {
    private let settings: LaunchSettings.Applications
    private let logger: Logger
    private let identity: ApplicationIdentity
    private var schedule: LaunchSchedule
    private var launch: ApplicationLaunch?
    private var worker: Task<Void, Never>?
    private var pause: Task<Void, Never>?
    private var isStopped = false

    /// The number of starts.
    private(set) var started = 0

    /// The reason why the last start failed; nil if it succeeded.
    private(set) var failure: String?

    /// Creates a launcher.
    init(_ identity: ApplicationIdentity, settings: LaunchSettings.Applications, logger: Logger) {
        self.identity = identity
        self.settings = settings
        self.logger = logger
        schedule = LaunchSchedule(interval: settings.interval)
    }

    /// Starts the application as soon as the schedule allows. A pending start serves this request too.
    func start(_ launch: ApplicationLaunch) {
        guard !isStopped else { return }
        self.launch = launch
        if worker == nil { worker = Task { await work() } }
    }

    /// Waits until an application that was started here has ended, if its time is limited; otherwise ends it.
    func finish() async {
        guard settings.timeLimit != nil else { return await stop() }
        isStopped = true
        pause?.cancel()
        await worker?.value
    }

    /// Ends an application that was started here, and does not start it again.
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
                // The events are stored, so a later start delivers them.
                if isStopped { break }
                let pause = Task { _ = try? await Task.sleep(for: wait) }
                self.pause = pause
                await pause.value
                continue
            }
            launch = nil
            schedule.start(at: .now)
            started += 1
            failure = await run(next)
            schedule.end(failure == nil)
        }
        worker = nil
    }

    /// - Returns: what went wrong, as a sentence; nil for success.
    private func run(_ launch: ApplicationLaunch) async -> String? {
        let logger = logger
        let name = identity.name
        do {
            let program = try EventProgram(launch, timeLimit: settings.timeLimit)
            logger.info("starting \(name) for its regions")
            let outcome = try await program.run(input: [], output: .lines { logger.info("\(name): \($0)") })
            if Task.isCancelled { return nil }
            if case .tookTooLong = outcome {
                // An application that waits for more events does not end by itself.
                logger.info("\(name) \(outcome)")
                return nil
            }
            if !outcome.isSuccess { logger.warning("\(name) \(outcome)") }
            return outcome.isSuccess ? nil : "it \(outcome)"
        } catch {
            logger.error("cannot start \(name): \(error)")
            return "\(error)"
        }
    }
}

extension EventProgram {
    /// Creates the program of an application.
    ///
    /// - Throws: ``LaunchError`` if its registration has no usable program.
    init(_ launch: ApplicationLaunch, timeLimit: Duration?) throws(LaunchError) {
        guard launch.executable.hasPrefix("/") else {
            throw LaunchError(
                description: "the registered program \(launch.executable) is not an absolute path; "
                    + "start the application manually once, so that it registers again")
        }
        self.init([launch.executable] + launch.arguments, timeLimit: timeLimit)
        environment = ProgramEnvironment.inherited().merging(launch.environment) { $1 }
        folder = FileManager.default.fileExists(atPath: launch.folder) ? launch.folder : "/"
        isOwnSession = true
    }
}
