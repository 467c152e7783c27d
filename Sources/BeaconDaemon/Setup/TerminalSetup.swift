import ArgumentParser
import BeaconDelivery
import BeaconGateway
import BeaconModel
import BeaconMonitoring
import Foundation

/// The guided start at a terminal: what the command line leaves open is asked, as little as possible, and the
/// configuration is written.
struct TerminalSetup {
    /// A beacon and its name.
    struct NamedBeacon {
        var name: String
        var identity: BeaconIdentity
    }

    /// What the command line has.
    struct Wishes {
        var source: String?
        var beacons: [NamedBeacon] = []
        var broker: GuidedStart.Choice.Broker?
        var webhook: String?
    }

    /// The variable of the environment that has the broker's password, where nobody can be asked.
    static let passwordVariable = "MQTT_PASSWORD"

    let start: GuidedStart
    let web: WebSettings
    let wishes: Wishes
    private let prompt = Prompt()

    /// Asks, and writes the configuration.
    ///
    /// - Returns: what was chosen.
    /// - Throws: `ExitCode` where it could not be written, after it was said why.
    func run() async throws -> GuidedStart.Choice {
        var choice = GuidedStart.Choice(source: "auto")
        choice.webhook = wishes.webhook
        if let broker = wishes.broker { choice.broker = try await accepted(broker) }
        choice.source = try await source()
        let beacons = try wishes.beacons.isEmpty ? chosen(of: choice.source) : wishes.beacons
        choice.beacons = beacons.map { Self.settings($0.name, $0.identity) }
        // One for each UUID, to which those that come later belong as well.
        var uuids: [ProximityUUID] = []
        for beacon in beacons where !uuids.contains(beacon.identity.uuid) { uuids.append(beacon.identity.uuid) }
        choice.regions = uuids.enumerated().map { index, uuid in
            .object(["name": .string(index == 0 ? "home" : "home \(index + 1)"), "uuid": .string("\(uuid)")])
        }
        let draft = try start.draft(of: choice, web: web)
        guard draft.faults.isEmpty else {
            for fault in draft.faults { ErrorOutput.shared.write("Error: \(fault.key): \(fault.detail)") }
            throw ExitCode(1)
        }
        try start.write(draft, of: choice)
        return choice
    }

    private static func settings(_ name: String, _ identity: BeaconIdentity) -> JSONValue {
        .object([
            "name": .string(name), "uuid": .string("\(identity.uuid)"), "major": .integer(Int64(identity.major)),
            "minor": .integer(Int64(identity.minor)),
        ])
    }

    // MARK: - The broker

    /// Returns the broker with what it asks for, once it has taken this machine, or whoever is asked goes on without.
    private func accepted(_ broker: GuidedStart.Choice.Broker) async throws -> GuidedStart.Choice.Broker {
        var broker = broker
        let given = ProcessInfo.processInfo.environment[Self.passwordVariable]
        if broker.user != nil, broker.password == nil { broker.password = given ?? askForPassword(broker) }
        while let fault = await broker.fault() {
            ErrorOutput.shared.write("\(broker.host) cannot be used: \(fault.detail)")
            guard Prompt.isInteractive else { throw ExitCode(1) }
            switch fault.key {
            case "broker.user":
                guard let user = prompt.ask("User:"), !user.isEmpty else { throw ExitCode(1) }
                broker.user = user
                broker.password = askForPassword(broker)
            case "broker.password":
                guard let password = askForPassword(broker) else { throw ExitCode(1) }
                broker.password = password
            default:
                guard prompt.agrees("Go on with it all the same?", byDefault: false) else { throw ExitCode(1) }
                return broker
            }
        }
        ErrorOutput.shared.write("\(broker.host) takes this machine.")
        return broker
    }

    private func askForPassword(_ broker: GuidedStart.Choice.Broker) -> String? {
        guard Prompt.isInteractive, let user = broker.user else { return nil }
        return prompt.ask("Password of \(user) at \(broker.host), which is not shown:", isHidden: true)
    }

    // MARK: - The source

    private func source() async throws -> String {
        if let source = wishes.source {
            do {
                try GuidedStart.validate(source: source)
            } catch {
                throw ValidationError("--source is \(source): \(error)")
            }
            // A service does not end with the last of its adverts.
            return source.hasPrefix("simulation:") && !source.contains("?") ? source + "?loop" : source
        }
        guard let radio = await GuidedStart.sources().first(where: { $0.source == "auto" }), !radio.usable else {
            return "auto"
        }
        ErrorOutput.shared.write("No radio can be used. \(radio.reason ?? "")")
        if wishes.beacons.isEmpty, Prompt.isInteractive,
            prompt.agrees("Try it with a simulated museum, until there is one?", byDefault: true)
        {
            return GuidedStart.museum
        }
        // A radio may come later, for beacons that are known.
        guard !wishes.beacons.isEmpty else { throw ExitCode(1) }
        return "auto"
    }

    // MARK: - The beacons

    /// Returns the beacons that the user names, of those that are heard.
    private func chosen(of source: String) throws -> [NamedBeacon] {
        guard Prompt.isInteractive else {
            throw ValidationError("Without a terminal nobody can be asked: name the beacons with --beacon.")
        }
        var named: [NamedBeacon] = []
        var heard = try listen(source)
        while true {
            let question =
                named.isEmpty
                ? "Which is yours? Its number and a name for it, as 1 Front door; or Enter to listen again:"
                : "Another one? Enter, if not:"
            guard let answer = prompt.ask(question) else { throw ExitCode(1) }
            if answer.isEmpty {
                if !named.isEmpty { return named }
                heard = try listen(source)
                continue
            }
            let parts = answer.split(maxSplits: 1, whereSeparator: \.isWhitespace)
            guard let number = Int(parts[0]), heard.indices.contains(number - 1) else {
                ErrorOutput.shared.write("Write a number from 1 to \(heard.count), and a name behind it.")
                continue
            }
            let identity = heard[number - 1].identity
            guard let name = parts.count > 1 ? String(parts[1]) : prompt.ask("Its name:"), !name.isEmpty else {
                continue
            }
            if let other = named.first(where: { $0.identity == identity || $0.name == name }) {
                ErrorOutput.shared.write("\(other.name) is named already; write another number and name.")
                continue
            }
            named.append(NamedBeacon(name: name, identity: identity))
        }
    }

    private func listen(_ source: String) throws -> [HeardBeacons.Beacon] {
        let heard = try HeardBeacons(source: SourceSpecification(source), prompt: prompt).listen()
        ErrorOutput.shared.write("\(StatisticsText.count(heard.count, "beacon")), nearest first:")
        let width = "\(heard.count)".count
        for (index, beacon) in heard.enumerated() {
            let number = "\(index + 1)"
            ErrorOutput.shared.write(
                "  " + String(repeating: " ", count: width - number.count) + number + "  \(Self.distance(of: beacon))  "
                    + "\(beacon.proximity)".padding(toLength: 9, withPad: " ", startingAt: 0) + "  \(beacon.identity)")
        }
        return heard
    }

    private static func distance(of beacon: HeardBeacons.Beacon) -> String {
        beacon.accuracy < 0 ? "     –" : String(format: "%4.1f m", min(beacon.accuracy, 99.9))
    }
}
