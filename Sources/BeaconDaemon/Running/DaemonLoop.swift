import ArgumentParser
import BeaconConfiguration
import BeaconDelivery
import BeaconGateway
import BeaconSupport
import BeaconTerminal
import CLibrary
import Dispatch
import Foundation
import Logging

/// A loop that runs one daemon after another in this process, each until another configuration replaces it or the
/// process ends.
struct DaemonLoop: Sendable {
    /// The path of the configuration's file.
    let path: String
    /// True to print notifications instead of sending them.
    var isDryRun = false
    /// How long deliveries continue after all sources have ended.
    var linger = Duration.seconds(30)

    /// Applies the options of the command line to a configuration from the file.
    private let override: @Sendable (GatewayConfiguration) -> GatewayConfiguration

    /// True to end instead of using another configuration from the file, which another process will use.
    var endsWithReading = false

    /// True after such a configuration was read.
    let hasHandedOver = Locked(false)

    private let signals = SignalWatch()

    /// The configuration in use.
    private let inUse = Locked<GatewayConfiguration?>(nil)

    /// The lock on the configuration's file, which shows other processes that the file is in use.
    private let claim = Locked<FileLock?>(nil)

    /// Creates a loop that catches signals from now on.
    init(
        path: String, isDryRun: Bool = false, linger: Duration = .seconds(30),
        override: @escaping @Sendable (GatewayConfiguration) -> GatewayConfiguration = { $0 }
    ) {
        self.path = path
        self.isDryRun = isDryRun
        self.linger = linger
        self.override = override
        signals.listen()
        // Dispatch opens a descriptor for each of its clocks at the first use, and never again if that fails.
        DispatchQueue.global().asyncAfter(deadline: .now()) {}
        DispatchQueue.global().asyncAfter(wallDeadline: .now()) {}
    }

    /// Claims the configuration's file for this process until it ends.
    ///
    /// - Returns: false if another process has claimed it. A path that is not a file, or cannot be locked, needs no
    ///   claim.
    func claimConfiguration() -> Bool {
        claim.withLock { claim in
            // An editor may have replaced the file, and a lock on the old file means nothing.
            claim = nil
            do throws(StateError) {
                claim = try FileLock(existing: path)
                return claim != nil
            } catch {
                claim = nil
                return true
            }
        }
    }

    private func warnOfOthers(_ logger: Logger) {
        // A setup for the service does not use the configuration itself.
        guard !isDryRun, !endsWithReading, !claimConfiguration() else { return }
        logger.warning("\(Self.inUse(path))")
    }

    /// Returns the message for a configuration that another process uses.
    static func inUse(_ path: String) -> String {
        "another beacond uses \(path), and the two would end each other's connections to a broker; stop one of them, "
            + "or use another file with --config"
    }

    /// Runs until the process must end.
    ///
    /// - Parameter first: the first configuration.
    /// - Throws: the error of a daemon that cannot be created, and `ExitCode` after a failure or an interruption.
    func run(_ first: GatewayConfiguration) async throws {
        inUse.withLock { $0 = first }
        LoggingSystem.bootstrap { _ in LogWriter() }
        GatewayDaemon.collectMetrics()
        // The stored state shows who was where, and may hold secrets.
        umask(0o077)
        // If a reader ends early, as `head` does, the write fails instead of raising a signal.
        signal(SIGPIPE, SIG_IGN)
        let repetitions = Task { await LogRepetitions.shared.run() }
        defer {
            repetitions.cancel()
            LogRepetitions.shared.finish()
        }
        let logger = Logger(label: "beacond")
        Self.setLevel(first)
        warnOfOthers(logger)
        var daemon = try daemon(first)
        while true {
            let result = await run(daemon, logger)
            guard let next = result.next else {
                if signals.wasInterrupted { throw ExitCode(130) }
                if result.hasFailed { throw ExitCode(1) }
                return
            }
            do {
                daemon = try self.daemon(next)
                inUse.withLock { $0 = next }
                Self.setLevel(next)
                warnOfOthers(logger)
            } catch {
                logger.notice("cannot use the new configuration: \(error); the earlier one stays in use")
                daemon = try self.daemon(inUse.withLock { $0 } ?? first)
            }
        }
    }

    private static func setLevel(_ settings: GatewayConfiguration) {
        LogWriter.commonLevel.withLock { $0 = settings.log.level }
    }

    private func daemon(_ settings: GatewayConfiguration) throws -> GatewayDaemon {
        try GatewayDaemon(
            settings, mode: isDryRun ? .dryRun(Self.print) : .deliver, logger: Logger(label: "beacond"),
            reload: { [signals] in signals.ask(for: $0) })
    }

    /// Runs a daemon until it ends by itself, must end, or another configuration replaces it.
    ///
    /// - Returns: the next configuration, and whether anything has failed.
    private func run(
        _ daemon: GatewayDaemon, _ logger: Logger
    ) async -> (next: GatewayConfiguration?, hasFailed: Bool) {
        let before = daemon.queues
        let isLive = Terminal.error.isInteractive && !(isDryRun && isatty(STDOUT_FILENO) == 1)
        let next = await withTaskGroup(of: GatewayConfiguration?.self) { group in
            group.addTask { await nextConfiguration(of: daemon, logger) }
            do {
                try await daemon.run(
                    linger: linger, signals: [], companions: isLive ? [LiveStatistics(daemon: daemon)] : [])
            } catch {
                logger.error("\(error)")
            }
            group.cancelAll()
            return await group.next() ?? nil
        }
        // It may write the last events, or lose them.
        await daemon.close()
        let statistics = daemon.statistics
        for line in StatisticsText.summary(
            statistics, before: before, queues: daemon.queues, launches: await daemon.launchCount)
        {
            ErrorOutput.shared.write(line)
        }
        let hasFailed = statistics.sources.contains { source in
            if case .failed = source.state { true } else { false }
        }
        return (next, hasFailed || statistics.lost > 0)
    }

    /// Waits for signals and for requests from the console, and shuts the daemon down.
    ///
    /// - Returns: the configuration to continue with; nil if the process must end.
    private func nextConfiguration(
        of daemon: GatewayDaemon, _ logger: Logger
    ) async -> GatewayConfiguration? {
        while let request = await signals.next() {
            switch request {
            case .end:
                await daemon.requestShutdown()
                return nil
            case .reload:
                guard let settings = read(logger) else { continue }
                if endsWithReading {
                    hasHandedOver.withLock { $0 = true }
                    await daemon.requestShutdown()
                    return nil
                }
                if await reload(daemon, settings, logger) { continue }
                await daemon.requestShutdown()
                return settings
            case .use(let settings):
                await daemon.requestShutdown()
                return settings
            }
        }
        return nil
    }

    /// Continues a daemon with another configuration.
    ///
    /// - Returns: false if that needs a restart.
    private func reload(_ daemon: GatewayDaemon, _ settings: GatewayConfiguration, _ logger: Logger) async -> Bool {
        do {
            if let reason = try await daemon.reload(settings) {
                logger.notice("the configuration was read again; beacond restarts because \(reason) changed")
                return false
            }
            inUse.withLock { $0 = settings }
            Self.setLevel(settings)
            logger.notice("the configuration was read again; unchanged parts continue")
            warnOfOthers(logger)
        } catch {
            logger.notice("cannot use the new configuration: \(error); the earlier one stays in use")
        }
        return true
    }

    /// Reads the configuration again; nil if it cannot be used, after its faults were logged.
    private func read(_ logger: Logger) -> GatewayConfiguration? {
        do {
            let checked = try GatewayConfiguration.check(file: path)
            // Printed without the log, which would only count repetitions: each reload must show all faults.
            for diagnostic in checked.diagnostics { ErrorOutput.shared.write(diagnostic.text(file: path)) }
            if checked.isUsable { return override(checked.configuration) }
            logger.notice("the configuration has faults; the earlier one stays in use")
        } catch {
            logger.notice("\(error); the earlier configuration stays in use")
        }
        return nil
    }

    /// Writes a whole line of results.
    @Sendable private static func print(_ line: [UInt8]) {
        var rest = line[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            // The reader has ended, so that there is nothing left to do.
            guard written > 0 else { ProcessEnd.exit(errno == EPIPE ? 0 : 1) }
            rest = rest.dropFirst(written)
        }
    }
}
