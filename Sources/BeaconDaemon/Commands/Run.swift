import ArgumentParser
import BeaconGateway
import BeaconSupport
import BeaconTerminal

/// `beacond run`, the default command: monitors and delivers.
struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Monitor and deliver, until stopped. This is the default command.",
        discussion: """
            SIGTERM or Ctrl-C end it cleanly: it stores all events, finishes requests in progress, and delivers the \
            rest after the next start. A destination that does not answer delays the end by at most \
            \(DurationText.text(GatewayDaemon.deliveryGrace)). A second signal ends it at once. SIGHUP makes it read \
            the configuration again. If the new configuration has faults, it reports them and keeps the earlier one.

            If all sources are files, it ends after it has read them and delivered for a while longer (--linger).
            """)

    @OptionGroup var file: ConfigurationFile

    @OptionGroup var fleet: FleetOption

    @Flag(
        help: ArgumentHelp(
            "Print notifications instead of sending them.",
            discussion: """
                Each notification is a line of JSON with its destination. beacond creates no outbox, starts no \
                programs, and begins with all regions unknown.
                """))
    var dryRun = false

    @Option(
        help: ArgumentHelp(
            "How long to continue delivering after all sources have ended.",
            discussion: "The rest is delivered after the next start. Default: 30s.", valueName: "time"),
        transform: TimeSpan.reader(.zero...(.seconds(366 * 86_400))))
    var linger = TimeSpan(.seconds(30))

    func run() async throws {
        // First, so that no signal is lost while other steps take time.
        let loop = DaemonLoop(path: file.path, isDryRun: dryRun, linger: linger.duration) {
            [fleet] in fleet.apply(to: $0)
        }
        let settings = fleet.apply(to: try file.readForRunning())
        // A user at a terminal can decide; a service starts anyway and logs a warning.
        if !dryRun, Terminal.error.isInteractive, !loop.claimConfiguration() {
            ErrorOutput.shared.write("Error: \(DaemonLoop.inUse(file.path)).")
            throw ExitCode(1)
        }
        if file.isOfService, settings.outbox.path != file.outboxOfService, !dryRun, Terminal.error.isInteractive {
            ErrorOutput.shared.write(
                "This is not the machine's service; it keeps its notifications in \(settings.outbox.path).")
        }
        try await loop.run(settings)
    }
}
