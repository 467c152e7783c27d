import ArgumentParser
import BeaconConfiguration
import BeaconDelivery
import BeaconGateway
import BeaconSupport
import BeaconTerminal
import CLibrary
import Foundation
import Logging

/// One daemon after another in this process: each with a configuration, until another is to be used, or the process
/// ends.
struct DaemonLoop: Sendable {
    /// The path of the configuration's file.
    let path: String
    /// True to print notifications instead of sending them.
    var isDryRun = false
    /// How long deliveries continue once all sources have ended.
    var linger = Duration.seconds(30)

    /// Changes what is read from the file, as the command line has it.
    private let override: @Sendable (GatewayConfiguration) -> GatewayConfiguration

    /// True to end where another configuration would be read from the file: somebody else goes on with it.
    var endsWithReading = false

    /// True once another configuration was read with which somebody else is to go on.
    let hasHandedOver = Locked(false)

    private let signals = SignalWatch()

    /// The configuration that is in use.
    private let inUse = Locked<GatewayConfiguration?>(nil)

    /// The lock on the configuration's file, by which another beacond knows that it is in use.
    private let claim = Locked<FileLock?>(nil)

    /// A loop that listens to signals from now on.
    init(
        path: String, isDryRun: Bool = false, linger: Duration = .seconds(30),
        override: @escaping @Sendable (GatewayConfiguration) -> GatewayConfiguration = { $0 }
    ) {
        self.path = path
        self.isDryRun = isDryRun
        self.linger = linger
        self.override = override
        signals.listen()
    }

    /// Claims the configuration's file for this process, as long as it runs.
    ///
    /// - Returns: false where another process has it. What is no file, or cannot be locked, is in nobody's way.
    func claimConfiguration() -> Bool {
        claim.withLock { claim in
            // An editor may have put another file in the place of the first, whose lock says nothing.
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
        // Whoever makes a configuration for somebody else does not run with it.
        guard !isDryRun, !endsWithReading, !claimConfiguration() else { return }
        logger.warning("\(Self.inUse(path))")
    }

    /// Returns what to say where another process runs with a configuration.
    static func inUse(_ path: String) -> String {
        "another beacond runs with \(path), and at a broker each of the two would end the other's connection; end one, "
            + "or give one a file of its own with --config"
    }

    /// Runs until the process is to end.
    ///
    /// - Parameter first: the configuration to begin with.
    /// - Throws: what a daemon throws where it cannot be made, and `ExitCode` where anything has failed.
    func run(_ first: GatewayConfiguration) async throws {
        inUse.withLock { $0 = first }
        LoggingSystem.bootstrap { _ in LogWriter() }
        GatewayDaemon.collectMetrics()
        // What is stored here says who was where, and may hold secrets.
        umask(0o077)
        // A reader that ends early, as `head` does, is an error of the write and no signal.
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

    /// Runs a daemon until it ends by itself, or is to end, or another configuration is to be used.
    ///
    /// - Returns: the other configuration, and whether anything has failed.
    private func run(
        _ daemon: GatewayDaemon, _ logger: Logger
    ) async -> (next: GatewayConfiguration?, hasFailed: Bool) {
        let before = await daemon.queues()
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
        let statistics = daemon.statistics
        for line in StatisticsText.summary(
            statistics, before: before, queues: await daemon.queues(), launches: await daemon.launchCount)
        {
            ErrorOutput.shared.write(line)
        }
        await daemon.close()
        let hasFailed = statistics.sources.contains { source in
            if case .failed = source.state { true } else { false }
        }
        return (next, hasFailed || statistics.lost > 0)
    }

    /// Waits for signals and for what the console wants, and has the daemon shut down.
    ///
    /// - Returns: the configuration to go on with; nil where there is none, since the process is to end.
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
    /// - Returns: false where it takes a new start.
    private func reload(_ daemon: GatewayDaemon, _ settings: GatewayConfiguration, _ logger: Logger) async -> Bool {
        do {
            if let reason = try await daemon.reload(settings) {
                logger.notice("the configuration was read again; beacond starts again with it, since \(reason) changed")
                return false
            }
            inUse.withLock { $0 = settings }
            Self.setLevel(settings)
            logger.notice("the configuration was read again; what has not changed continues")
            warnOfOthers(logger)
        } catch {
            logger.notice("cannot use the new configuration: \(error); the earlier one stays in use")
        }
        return true
    }

    /// Reads the configuration again; nil where it cannot be used, after its faults were logged.
    private func read(_ logger: Logger) -> GatewayConfiguration? {
        do {
            let checked = try GatewayConfiguration.check(file: path)
            // Whoever asked is answered each time, so that nothing of this is only counted.
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
