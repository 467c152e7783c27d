import ArgumentParser
import BeaconEngine
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconRelay
import BeaconTerminal

/// The command `beacon relay`, which makes this machine a receiver for others.
struct RelayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay",
        abstract: "Send adverts to a broker, as a receiver for other machines.",
        discussion: """
            Other machines use it as a source: 'beacon scan --source mqtt://BROKER', or beacond's sources. It sends \
            adverts four times a second, and whether the radio hears. If the broker is slow or unreachable, it drops \
            the oldest adverts, and listeners learn that this receiver was deaf for that time. With --region it also \
            detects enter and exit events. It keeps them while the broker is unreachable, and then sends them with \
            their original times.

              beacon relay mqtt://broker.local --name hall
              BEACON_BROKER_PASSWORD=… beacon relay 'mqtts://hall@hub.local?ca-file=ca.pem'

            Topics: [PREFIX/]beacon-relay/NAME/heard, …/status and …/transitions.
            """)

    @Argument(
        help: ArgumentHelp(
            "The broker, as mqtt://[USER[:PASSWORD]@]HOST[:PORT][/PREFIX][?KEY=VALUE], or mqtts: for TLS.",
            discussion: "'beacon --help' lists the keys.", valueName: "broker"))
    var broker: String

    @Option(help: ArgumentHelp("This receiver's name. Default: the machine's name.", valueName: "name"))
    var name: String?

    @OptionGroup var source: SourceOptions

    @Option(
        name: .long, parsing: .singleValue,
        help: ArgumentHelp(
            "Send only the adverts of these beacons, UUID[/MAJOR[/MINOR]]; may be given several times.",
            valueName: "beacons"),
        transform: RegionArgument.init)
    var only: [RegionArgument] = []

    @Option(
        name: .long, parsing: .singleValue,
        help: ArgumentHelp(
            "A region whose enter and exit events are sent too; may be given several times.", valueName: "region"),
        transform: RegionArgument.init)
    var region: [RegionArgument] = []

    @OptionGroup var signals: SignalOptions

    @OptionGroup var exits: ExitOptions

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The file that keeps enter and exit events for the broker.",
            discussion: "Default: relay-NAME.json in ~/.local/state/swift-beacon.", valueName: "file"))
    var store: String?

    mutating func validate() throws {
        if let factor = source.speed?.factor, factor < 1 {
            throw ValidationError("--speed \(factor) is slower than real time; listeners would see a broken clock.")
        }
        do {
            _ = try options()
        } catch {
            throw ValidationError("\(error)")
        }
        let names = region.map(\.name)
        if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
            throw ValidationError("two regions have the name \(twice); rename one with NAME= before the UUID.")
        }
    }

    // Runs on the main thread, which waits for the source; the connection uses other threads.
    @MainActor
    func run() async throws {
        let options = try options()
        let store =
            try region.isEmpty
            ? nil : TransitionStore(path: self.store ?? options.storePath) { ErrorOutput.shared.write($0) }
        let relay = try Relay(options, store: store) { ErrorOutput.shared.write($0) }
        // A clean disconnect takes seconds if the broker does not answer.
        Interruption.allow(seconds: 10)
        Interruption.listen()
        let sending = Task.detached { await relay.run() }
        // Listeners take every advert as current, so a recording plays in real time. The relay must not read its own
        // messages.
        var chosen = source.choose(usualSpeed: SpeedArgument(argument: "1"))
        chosen.specification = chosen.specification.withoutRelays
        let result = Result { try pull(chosen, for: relay, store) }
        // A recording is useful even if it is sent late.
        while !chosen.specification.isRadio, !relay.isDrained, !Interruption.isRequested {
            try? await Task.sleep(for: .milliseconds(20))
        }
        relay.finish()
        let isSaved = await sending.value
        let counts = relay.counts
        ErrorOutput.shared.write(
            "relayed \(counts.adverts) adverts in \(counts.messages) messages and \(counts.bytes) bytes, "
                + "\(counts.dropped) dropped; \(counts.transitions) transitions, \(store?.count ?? 0) waiting"
                + (isSaved ? "" : ", which could not be saved and are lost"))
        try result.get()
    }

    private func options() throws -> Relay.Options {
        var options = try Relay.Options(broker: broker, name: name)
        options.constraints = only.map(\.constraint)
        return options
    }

    /// Reads the source to its end.
    private func pull(_ source: ChosenSource, for relay: Relay, _ store: TransitionStore?) throws {
        let specification = source.specification
        var configuration = MonitoringSession.Configuration()
        configuration.regions = region.map { argument in
            let known = store?.state(of: argument.name, constraint: argument.constraint)
            return MonitoringSession.Configuration.Region(
                name: argument.name, region: exits.region(argument, signals),
                assuming: known?.state ?? .unknown, heldBy: known?.holder)
        }
        var feed = relay.feed(
            isLive: specification.isRadio, hasOneReceiver: specification.canSend)
        var runner = SessionRunner(source: source, hasOwnDisplay: false)
        runner.radioObserver = { feed.note($0) }
        runner.sourceObserver = (RelayFeed.interval, { feed.relay($0) { Interruption.isRequested } })
        try runner.run(configuration) { event in
            if case .region(let change) = event { relay.note(change) }
        } atEnd: {
            feed.finish { Interruption.isRequested }
        }
    }
}
