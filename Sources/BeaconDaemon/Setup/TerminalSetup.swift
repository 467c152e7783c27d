import ArgumentParser
import BeaconDelivery
import BeaconGateway
import BeaconModel
import BeaconMonitoring
import BeaconSupport
import BeaconTerminal
import Foundation

/// The guided start at a terminal.
///
/// It asks for the choices that the command line leaves open, and writes the configuration.
struct TerminalSetup {
    /// A beacon and its name.
    struct ChosenBeacon {
        var name: String
        var identity: BeaconIdentity
        /// True if a person carries it, whom Home Assistant tracks by it.
        var isTracker = false
    }

    /// The choices from the command line.
    struct Options {
        var source: String?
        var beacons: [ChosenBeacon] = []
        var broker: GuidedStart.Choice.Broker?
        var triesBroker = true
        var webhook: String?
    }

    /// The environment variables with the broker's password, which replace the question: that of `beacon` comes first.
    private static let passwordVariables = ["BEACON_BROKER_PASSWORD", "MQTT_PASSWORD"]

    let start: GuidedStart
    let web: WebSettings
    let options: Options
    let prompt: Prompt
    /// True to replace an existing configuration.
    let isReplacing: Bool

    private static let nothingWritten = "Nothing was written."

    /// Asks the questions and writes the configuration.
    ///
    /// - Returns: the choice.
    /// - Throws: `ExitCode` if nothing was written, after the reason was printed.
    func run() async throws -> GuidedStart.Choice {
        prompt.farewell = Self.nothingWritten
        // The command line is checked first, before the user answers questions in vain.
        let given = try givenSource()
        _ = try draft(source: given ?? "auto", options.beacons)
        if options.beacons.isEmpty, !Prompt.isInteractive {
            throw ValidationError("There is no terminal to ask at: name the beacons with --beacon.")
        }
        let broker =
            if let broker = options.broker { try await accepted(broker) } else { nil as GuidedStart.Choice.Broker? }
        let source = if let given { given } else { try await heardSource() }
        let beacons = try options.beacons.isEmpty ? tracked(chosen(of: source)) : options.beacons
        let (choice, draft) = try draft(source: source, beacons, broker)
        try start.write(draft, of: choice, replacing: isReplacing)
        prompt.farewell = ""
        return choice
    }

    /// Returns the configuration of a choice.
    ///
    /// - Throws: `ExitCode` if it cannot be used, after its faults were printed.
    private func draft(
        source: String, _ beacons: [ChosenBeacon], _ broker: GuidedStart.Choice.Broker? = nil
    ) throws -> (choice: GuidedStart.Choice, draft: GuidedStart.Draft) {
        var choice = GuidedStart.Choice(source: source)
        choice.broker = broker
        choice.webhook = options.webhook
        choice.beacons = beacons.map(\.settings)
        // One region for each UUID, so that later beacons of the UUID belong to it too.
        var uuids: [ProximityUUID] = []
        for beacon in beacons where !uuids.contains(beacon.identity.uuid) { uuids.append(beacon.identity.uuid) }
        // A region and a beacon are two things, with two names.
        var names = Set(beacons.map(\.name))
        choice.regions = uuids.map { uuid in
            let own = beacons.filter { $0.identity.uuid == uuid }.map(\.name)
            let name = Self.regionName(of: own, heardBy: source, besides: names)
            names.insert(name)
            return .object(["name": .string(name), "uuid": .string("\(uuid)")])
        }
        let draft = try start.draft(of: choice, web: web)
        guard draft.faults.isEmpty else {
            for fault in draft.faults { ErrorOutput.shared.write("Error: \(fault.key): \(fault.detail)") }
            throw ExitCode(1)
        }
        return (choice, draft)
    }

    /// Returns a name for the region of beacons of one UUID: the name of the simulated place, or of a beacon.
    ///
    /// Home Assistant has a zone `home`, so no region gets this name by default.
    ///
    /// - Parameters:
    ///   - beacons: the names of the beacons; empty only to check the source.
    ///   - source: the source, as the configuration names it.
    ///   - known: the names of other regions and of beacons.
    static func regionName(of beacons: [String], heardBy source: String, besides known: Set<String>) -> String {
        let beacon = beacons.first ?? "beacons"
        let derived = beacons.count > 1 ? "\(beacon.prefix(80)) and others" : "\(beacon.prefix(80)) nearby"
        let words = source.prefix { $0 != "?" }.split(separator: ":")
        // The path of a user's scenario is not the name of a place.
        let isPlace =
            words.count == 2 && words[0] == "simulation" && !words[1].contains(where: { $0 == "/" || $0 == "." })
        let place = isPlace ? String(words[1]).replacing("-", with: " ") : nil
        let name = place.flatMap { known.contains($0) ? nil : $0 } ?? derived
        guard known.contains(name) else { return name }
        return (2...).lazy.map { "\(name.prefix(80)) \($0)" }.first { !known.contains($0) } ?? name
    }

    /// Reports that nothing was written, and returns the exit code.
    private func end() -> ExitCode {
        ErrorOutput.shared.write(Self.nothingWritten)
        return ExitCode(1)
    }

    // MARK: - The broker

    /// Returns the broker with its user and password, once it accepts this machine or the user continues anyway.
    private func accepted(_ broker: GuidedStart.Choice.Broker) async throws -> GuidedStart.Choice.Broker {
        var broker = broker
        if broker.user != nil { broker.password = try password(of: broker, again: false) }
        guard options.triesBroker else { return broker }
        ErrorOutput.shared.write("Trying \(broker.host)…")
        while let fault = await broker.fault() {
            // Most brokers ask for both, so this is no fault yet.
            ErrorOutput.shared.write(
                fault.key == "broker.user" && Prompt.isInteractive
                    ? "The broker asks for a user and a password." : "Cannot use the broker: \(fault.detail)")
            guard Prompt.isInteractive else {
                if fault.key == "broker.host" {
                    ErrorOutput.shared.write("To write it without a test, pass --untried.")
                }
                throw end()
            }
            switch fault.key {
            case "broker.user", "broker.password":
                let before = broker.user
                guard let user = prompt.ask("User" + (before.map { " [\($0)]:" } ?? ":")) else { throw end() }
                broker.user = user.isEmpty ? before : user
                if broker.user != nil { broker.password = try password(of: broker, again: before != nil) }
            default:
                guard prompt.agrees("Continue anyway?", byDefault: false) else { throw end() }
                return broker
            }
        }
        ErrorOutput.shared.write("The broker accepts this machine.")
        return broker
    }

    /// Returns the password: from the environment unless the broker refused it, else from the user.
    private func password(of broker: GuidedStart.Choice.Broker, again: Bool) throws -> String? {
        let environment = ProcessInfo.processInfo.environment
        if !again, let variable = Self.passwordVariables.first(where: { environment[$0] != nil }) {
            ErrorOutput.shared.write("Using the password from \(variable).")
            return environment[variable]
        }
        guard Prompt.isInteractive, let user = broker.user else { return nil }
        let question = "Password of \(user) at \(broker.host) (not shown):"
        guard let password = prompt.ask(question, isHidden: true) else { throw end() }
        return password
    }

    // MARK: - The source

    /// The source that the command line names.
    private func givenSource() throws -> String? {
        guard let source = options.source else { return nil }
        do {
            try GuidedStart.validate(source: source)
        } catch {
            throw ValidationError("--source is \(source): \(error)")
        }
        // A service must not end with the last advert, so the scenario repeats.
        return source.hasPrefix("simulation:") && !source.contains("?") ? source + "?loop" : source
    }

    /// Returns this machine's radio, or a replacement.
    private func heardSource() async throws -> String {
        ErrorOutput.shared.write("Looking for a Bluetooth radio…")
        guard let radio = await GuidedStart.sources().first(where: { $0.source == "auto" }), !radio.usable else {
            return "auto"
        }
        ErrorOutput.shared.write("This machine has no usable Bluetooth radio; \"beacon doctor\" finds out why.")
        // The beacons are known, so a radio can be added later.
        guard options.beacons.isEmpty else { return "auto" }
        guard prompt.agrees("Try it with a simulated museum?", byDefault: true) else {
            ErrorOutput.shared.write("To use another source, pass --source.")
            throw end()
        }
        return GuidedStart.museum
    }

    // MARK: - The beacons

    /// Returns the heard beacons that the user names.
    private func chosen(of source: String) throws -> [ChosenBeacon] {
        var named: [ChosenBeacon] = []
        var heard = try listen(source)
        while true {
            let question =
                named.isEmpty
                ? "Enter a number and a name for it, for example 1 Front door; or press Enter to list them again:"
                : "Another one? Press Enter if not:"
            guard let answer = prompt.ask(question) else {
                if named.isEmpty { throw end() }
                return named
            }
            if answer.isEmpty || ["n", "no"].contains(answer.lowercased()) {
                if !named.isEmpty { return named }
                heard = try listen(source)
                continue
            }
            let parts = answer.split(maxSplits: 1, whereSeparator: \.isWhitespace)
            guard let number = parts.first.flatMap({ Int($0) }), number > 0, heard.indices.contains(number - 1) else {
                ErrorOutput.shared.write("Enter a number from 1 to \(heard.count), then a name.")
                continue
            }
            let identity = heard[number - 1].identity
            guard let name = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : self.name(for: number),
                !name.isEmpty
            else {
                continue
            }
            if let other = named.first(where: { $0.identity == identity || $0.name == name }) {
                ErrorOutput.shared.write("\(other.name) is named already; enter another number and name.")
                continue
            }
            let all = named + [ChosenBeacon(name: name, identity: identity)]
            // Its fault was printed; ask again.
            guard (try? draft(source: source, all)) != nil else { continue }
            named = all
        }
    }

    /// Asks whether a person carries each beacon. Without Home Assistant it makes no difference.
    private func tracked(_ beacons: [ChosenBeacon]) -> [ChosenBeacon] {
        guard options.broker != nil else { return beacons }
        return beacons.map { beacon in
            var beacon = beacon
            beacon.isTracker = prompt.agrees(
                "Does a person carry \(beacon.name), so that it shows who is home?", byDefault: false)
            return beacon
        }
    }

    /// Asks for the name of a beacon. The user may repeat the number before it.
    private func name(for number: Int) -> String? {
        guard let name = prompt.ask("Its name:") else { return nil }
        return name.hasPrefix("\(number) ")
            ? name.dropFirst("\(number) ".count).trimmingCharacters(in: .whitespaces) : name
    }

    private func listen(_ source: String) throws -> [HeardBeacons.Beacon] {
        let source = SourceSpecification(source)
        var heard = try HeardBeacons(source: source, prompt: prompt).listen()
        // The person in a simulation walks past all beacons, so their distances mean nothing.
        if !source.isRadio { heard.sort { $0.identity < $1.identity } }
        let count = heard.count.counted("beacon")
        let uuids = Set(heard.map(\.identity.uuid))
        let common = uuids.count == 1 ? uuids.first.map { " of \($0)" } ?? "" : ""
        ErrorOutput.shared.write("\(count)\(common), \(source.isRadio ? "nearest first" : "choose any"):")
        let width = "\(heard.count)".count
        let distances = heard.map(\.distanceText)
        let distanceWidth = max(6, distances.map(\.count).max() ?? 0)
        for (index, beacon) in heard.enumerated() {
            let number = "\(index + 1)"
            let distance =
                String(repeating: " ", count: distanceWidth - distances[index].count) + distances[index]
            let (major, minor) = (beacon.identity.major, beacon.identity.minor)
            ErrorOutput.shared.write(
                "  " + String(repeating: " ", count: width - number.count) + number
                    + (source.isRadio ? "  \(distance)" : "")
                    + "  major \(major), minor \(minor)" + (common.isEmpty ? " of \(beacon.identity.uuid)" : ""))
        }
        return heard
    }
}

extension HeardBeacons.Beacon {
    /// The distance for people; a dash if it is unknown.
    fileprivate var distanceText: String {
        if let leastDistance { return String(format: "more than %.0f m", leastDistance) }
        return accuracy < 0 ? "–" : String(format: "%.1f m", accuracy)
    }
}

extension TerminalSetup.ChosenBeacon {
    /// The beacon in the form of the configuration.
    fileprivate var settings: JSONValue {
        var values: [String: JSONValue] = [
            "name": .string(name), "uuid": .string("\(identity.uuid)"), "major": .integer(Int64(identity.major)),
            "minor": .integer(Int64(identity.minor)),
        ]
        if isTracker { values["tracker"] = .bool(true) }
        return .object(values)
    }
}
