import ArgumentParser
import BeaconEngine
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconRelay
import BeaconTerminal

/// The command `beacon relay`, which makes this machine a receiver of others.
struct RelayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay",
        abstract: "Send what is heard here to a broker, as a receiver for others.",
        discussion: """
            Others read it as a source: 'beacon scan --source mqtt://BROKER', or beacond's sources. Adverts go out four \
            times a second, with whether the radio hears; where the broker is behind or away, the oldest are dropped, and \
            those who listen learn that nobody heard meanwhile. With --region, enter and exit are found out here as well, \
            kept while the broker is away, and sent with their own times when it is back.

              beacon relay mqtt://broker.local --name hall
              BEACON_BROKER_PASSWORD=… beacon relay mqtts://hall@broker.local/museum

            Topics: [PREFIX/]beacon-relay/NAME/heard, …/status and …/transitions.
            """)

    @Argument(
        help: ArgumentHelp(
            "The broker, as mqtt://[USER[:PASSWORD]@]HOST[:PORT][/PREFIX], or mqtts: for TLS.", valueName: "broker"))
    var broker: String

    @Option(help: ArgumentHelp("This receiver's name for others. Default: the machine's.", valueName: "name"))
    var name: String?

    @Option(
        name: .customLong("authority"),
        help: ArgumentHelp(
            "For mqtts: a PEM file with the certificates to trust. Default: the system's.", valueName: "file"))
    var authorityFile: String?

    @OptionGroup var source: SourceOptions

    @Option(
        name: .long, parsing: .singleValue,
        help: ArgumentHelp(
            "Send the adverts of these beacons alone, UUID[/MAJOR[/MINOR]]; may be given several times.",
            valueName: "beacons"),
        transform: RegionArgument.init)
    var only: [RegionArgument] = []

    @Option(
        name: .long, parsing: .singleValue,
        help: ArgumentHelp(
            "A region whose enter and exit are sent too; may be given several times.", valueName: "region"),
        transform: RegionArgument.init)
    var region: [RegionArgument] = []

    @OptionGroup var signals: SignalOptions

    @OptionGroup var exits: ExitOptions

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The file in which enter and exit wait for the broker.",
            discussion: "Default: relay-NAME.json in ~/.local/state/swift-beacon.", valueName: "file"))
    var store: String?

    mutating func validate() throws {
        if let factor = source.speed?.factor, factor < 1 {
            throw ValidationError(
                "--speed \(factor) is slower than time, which those who listen take for a broken clock.")
        }
        do {
            _ = try options()
        } catch {
            throw ValidationError("\(error)")
        }
        let names = region.map(\.name)
        if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
            throw ValidationError(
                "two regions have the name \(twice); name them otherwise, with NAME= before the UUID.")
        }
    }

    // On the main thread, which waits for the source; the connection has others.
    @MainActor
    func run() async throws {
        let options = try options()
        let store =
            try region.isEmpty
            ? nil : TransitionStore(path: self.store ?? options.storePath) { ErrorOutput.shared.write($0) }
        let relay = try Relay(options, store: store) { ErrorOutput.shared.write($0) }
        // It disconnects in order, which takes seconds where the broker does not answer.
        Interruption.allow(seconds: 10)
        Interruption.listen()
        let sending = Task.detached { await relay.run() }
        // Who listens takes it for now, and its own messages would come back to it.
        var chosen = source.choose(usualSpeed: SpeedArgument(argument: "1"))
        chosen.specification = chosen.specification.withoutRelays
        let result = Result { try pull(chosen, for: relay, store) }
        // What was recorded is as good later.
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
        var options = try Relay.Options(broker: broker, name: name, authorityFile: authorityFile)
        options.constraints = only.map(\.constraint)
        return options
    }

    /// Pulls the source to its end.
    private func pull(_ source: ChosenSource, for relay: Relay, _ store: TransitionStore?) throws {
        let specification = source.specification
        var configuration = MonitoringSession.Configuration()
        configuration.regions = region.map { argument in
            let known = store?.state(of: argument.name, constraint: argument.constraint)
            return MonitoringSession.Configuration.Region(
                name: argument.name, region: exits.region(argument.constraint, signals),
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
