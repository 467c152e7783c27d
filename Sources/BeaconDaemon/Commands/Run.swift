import ArgumentParser
import BeaconGateway
import BeaconSupport
import BeaconTerminal

/// `beacond run`, the default command: monitors and delivers.
struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Monitor and deliver, until stopped. This is the default command.",
        discussion: """
            SIGTERM or Ctrl-C end it in good order: events so far are stored, requests under way are finished, and the rest \
            is delivered the next time. A receiver that does not answer delays the end by \(DurationText.text(GatewayDaemon.deliveryGrace)) at \
            most. A second signal ends it at once. SIGHUP has the configuration read again; one with faults is reported, and \
            the earlier one stays in use.

            If all sources are files and have been read, it delivers for a while longer (--linger) and ends.
            """)

    @OptionGroup var file: ConfigurationFile

    @OptionGroup var fleet: FleetOption

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
            discussion: "The rest is delivered the next time. Default: 30s.", valueName: "time"),
        transform: TimeSpan.reader(.zero...(.seconds(366 * 86_400))))
    var linger = TimeSpan(.seconds(30))

    func run() async throws {
        // Before anything takes time, so that no signal is lost.
        let loop = DaemonLoop(path: file.path, isDryRun: dryRun, linger: linger.duration) {
            [fleet] in fleet.apply(to: $0)
        }
        let settings = fleet.apply(to: try file.readForRunning())
        // Somebody at a terminal can decide; a service starts, and logs it.
        if !dryRun, Terminal.error.isInteractive, !loop.claimConfiguration() {
            ErrorOutput.shared.write("Error: \(DaemonLoop.inUse(file.path)).")
            throw ExitCode(1)
        }
        if file.isOfService, settings.outbox.path != file.outboxOfService, !dryRun, Terminal.error.isInteractive {
            ErrorOutput.shared.write(
                "This is not the machine's service, and keeps what waits in \(settings.outbox.path).")
        }
        try await loop.run(settings)
    }
}
