import ArgumentParser
import BeaconDelivery
import BeaconGateway
import Foundation
import Glibc
import Logging

/// `beacond run`, the default command: monitors and delivers.
struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Monitor and deliver, until stopped. This is the default command.",
        discussion: """
            SIGTERM or Ctrl-C end it in good order: events so far are stored, requests under way are finished, and the rest \
            is delivered the next time. A second signal ends it at once.

            If all sources are files and have been read, it delivers for a while longer (--linger) and ends.
            """)

    @OptionGroup var file: ConfigurationFile

    @Flag(
        help: ArgumentHelp(
            "Print notifications instead of sending them.",
            discussion: """
                Each notification is a line of JSON with its destination. No outbox is made, nothing is started, and \
                all regions begin as unknown.
                """))
    var dryRun = false

    @Option(
        help: ArgumentHelp(
            "The time to go on delivering once all sources have ended.",
            discussion: "The rest is delivered the next time.", valueName: "time"),
        transform: { text in
            guard let time = DurationText.duration(text) else {
                throw ValidationError("--linger is \(text); write a span of time, as 30s or 5m.")
            }
            return time
        })
    var linger = Duration.seconds(30)

    func run() async throws {
        let settings = try file.read()
        LoggingSystem.bootstrap { _ in LogWriter() }
        var logger = Logger(label: "beacond")
        logger.logLevel = settings.logLevel
        // What is stored here says who was where, and may hold secrets.
        umask(0o077)
        // A reader that ends early, as `head` does, is an error of the write and no signal.
        signal(SIGPIPE, SIG_IGN)
        let daemon = try GatewayDaemon(settings, mode: dryRun ? .dryRun(Self.print) : .deliver, logger: logger)
        let before = await daemon.queues()
        let signals = ForcedShutdown()
        signals.listen()
        let isLive = ErrorOutput.isTerminal && !(dryRun && isatty(STDOUT_FILENO) == 1)
        do {
            try await daemon.run(linger: linger, companions: isLive ? [LiveStatistics(daemon: daemon)] : [])
        } catch {
            logger.error("\(error)")
        }
        let statistics = daemon.statistics
        for line in StatisticsText.summary(
            statistics, before: before, queues: await daemon.queues(), launches: await daemon.launchCount)
        {
            ErrorOutput.shared.write(line)
        }
        await daemon.close()
        if signals.wasInterrupted { throw ExitCode(130) }
        let hasFailed = statistics.sources.contains { source in
            if case .failed = source.state { true } else { false }
        }
        if hasFailed || statistics.lost > 0 { throw ExitCode(1) }
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
