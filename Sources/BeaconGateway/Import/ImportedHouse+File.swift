import BeaconConfiguration
import BeaconModel
import BeaconMonitoring
import BeaconSupport
import Foundation
import Yams

/// The files that an import makes.
package struct ImportedFiles: Sendable {
    /// The configuration.
    package var configuration: String
    /// The secrets by the names of their variables.
    package var secrets: [String: String]
    /// The calibrations of receivers and beacons, as JSON; nil for none.
    package var calibration: String?
    /// The plan of the building, as JSON; nil for none.
    package var plan: String?
    /// The kinds of things that were taken over, as the parts of a sentence.
    package var taken: [String]
    /// The keys of the other programs that were not.
    package var lost: [String]
}

extension ImportedHouse {
    /// The names of the files beside the configuration.
    package struct Names: Sendable {
        package var calibration: String
        package var plan: String

        /// Creates the names for a configuration at a path.
        package init(beside path: String) {
            let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
            (calibration, plan) = (name + ".calibration.json", name + ".plan.json")
        }
    }

    /// Returns the files of the house.
    ///
    /// - Parameters:
    ///   - names: the names of the files beside the configuration; nil if only the configuration is printed. Then it
    ///     has their contents as comments.
    ///   - path: the path of the configuration, whose variables keep their values; nil to look at no file.
    package func files(_ names: Names?, beside path: String? = nil) throws -> ImportedFiles {
        var variables = path.map { SecretVariables(beside: $0) } ?? SecretVariables()
        var writer = ImportWriter()
        let named = namedBeacons()
        let set = calibrations(named)
        let calibration = set.isEmpty ? nil : try Self.json(set)
        let plan = try plan.map { try Self.json($0) }
        writer.comment("Made by \"beacond import\" from \(origins.joined(separator: "; ")).")
        writer.comment(
            "\"beacond check\" checks it. docs/import.md says what is taken over, and docs/beacond.md lists all keys.")
        writer.comments(comments(.head))
        try writer.list("sources", sourceEntries(&variables), comments(.sources), empty: "[auto]")
        try writer.list(
            "regions", regionEntries(), comments(.regions), empty: "[]")
        try writer.list(
            "places",
            places.map { place in
                let receivers = place.receivers.map { JSONValue.string($0) }
                return (.object(["name": .string(place.name), "receivers": .array(receivers)]), [])
            }, comments(.places), empty: nil)
        if let exitTimeout, !places.isEmpty {
            writer.line("place-rules: { exit-timeout: \(exitTimeout)s }")
        }
        try writer.list("beacons", beaconEntries(named, &variables), comments(.beacons), empty: nil)
        writer.part(comments(.calibration))
        if let calibration {
            writer.file("calibration", calibration, names?.calibration, key: "calibration")
        }
        writer.part(comments(.plan))
        if let plan {
            writer.file("the plan", plan, names?.plan, key: nil)
        }
        try writer.list("destinations", destinationEntries(&variables), comments(.destinations), empty: nil)
        writer.gap()
        writer.line("web: true                           # the console at http://127.0.0.1:8099")
        return ImportedFiles(
            configuration: writer.text, secrets: variables.values, calibration: calibration, plan: plan,
            taken: taken(set), lost: lost)
    }

    private static func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
    }

    /// Returns the beacons with unique names.
    private func namedBeacons() -> [(name: String, beacon: Beacon)] {
        var taken: Set<String> = []
        return beacons.map { beacon in
            let base: String
            switch beacon.device {
            case .beacon(let identity): base = beacon.name ?? "Beacon \(identity.major)/\(identity.minor)"
            case .phone: base = beacon.name ?? "Phone"
            case .fixed(let address): base = beacon.name ?? "Device \(address)"
            }
            let unique = Self.unique(Self.cleaned(base, or: "Beacon"), &taken)
            return (unique, beacon)
        }
    }

    private func calibrations(_ named: [(name: String, beacon: Beacon)]) -> CalibrationSet {
        var set = CalibrationSet()
        for (receiver, offset) in offsets where (-60...60).contains(offset) {
            set.receivers[receiver] = CalibrationSet.Receiver(offset: offset)
        }
        for (name, beacon) in named {
            guard let power = beacon.power else { continue }
            let identity: BeaconIdentity? =
                switch beacon.device {
                case .beacon(let identity): identity
                case .phone(let key, _): DeviceTag(name: name, keys: [key], fixedAddress: beacon.address)?.identity
                case .fixed(let address): DeviceTag(name: name, keys: [], fixedAddress: address)?.identity
                }
            if let identity { set[identity] = CalibrationSet.Beacon(power: power) }
        }
        return set
    }

    private func regionEntries() -> [ImportWriter.Entry] {
        var taken: Set<String> = []
        return regions.map { region in
            var region = region
            region.name = Self.unique(Self.cleaned(region.name, or: "region"), &taken)
            return (region.settings, [])
        }
    }

    private func sourceEntries(_ variables: inout SecretVariables) -> [ImportWriter.Entry] {
        var taken: Set<String> = []
        return sources.map { source in
            var settings = source.settings
            settings["name"] = .string(Self.unique(Self.cleaned(source.name, or: "source"), &taken))
            if source.isAtBroker, let broker { settings["mqtt"] = .object(broker.settings(&variables)) }
            if let key = source.key, case .object(var esphome)? = settings["esphome"] {
                esphome["key"] = variables.reference(to: key.reveal(), "ESPHOME_KEY")
                settings["esphome"] = .object(esphome)
            }
            return (.object(settings), source.comments)
        }
    }

    private func beaconEntries(
        _ named: [(name: String, beacon: Beacon)], _ variables: inout SecretVariables
    ) -> [ImportWriter.Entry] {
        var taken: Set<String> = []
        return named.map { name, beacon in
            var settings: [String: JSONValue] = ["name": .string(name)]
            var comments = beacon.comments
            switch beacon.device {
            case .beacon(let identity):
                settings["uuid"] = .string("\(identity.uuid)")
                settings["major"] = .integer(Int64(identity.major))
                settings["minor"] = .integer(Int64(identity.minor))
                if let exitTimeout { settings["exit-timeout"] = .string("\(exitTimeout)s") }
            case .phone(_, let text):
                if hasCompanion, beacon.uniqueIDs.isEmpty {
                    comments.append(
                        "Companion's unique id contains the key of this phone, so that it is not kept: everyone at the broker "
                            + "could read it. Delete the old entity in Home Assistant before beacond starts, and the new one "
                            + "can get its id.")
                }
                settings["irk"] = variables.reference(to: text.reveal(), Self.variable(name))
                beacon.address.map { settings["address"] = .string("\($0)") }
            case .fixed(let address): settings["address"] = .string("\(address)")
            }
            if case .beacon = beacon.device {
            } else if let exitTimeout {
                if exitTimeout > 900 {
                    settings["exit-timeout"] = .string("\(exitTimeout)s")
                } else {
                    comments.append(
                        "The former time-out was \(exitTimeout) s. Phones are silent for minutes, so that beacond waits 15m; for the "
                            + "former one, add exit-timeout: \(exitTimeout)s.")
                }
            }
            if beacon.isTracker { settings["tracker"] = .bool(true) }
            // Two devices with one alias were one device in Home Assistant: the first one is.
            let uniqueIDs = beacon.uniqueIDs.filter { (1...200).contains($0.value.count) && !taken.contains($0.value) }
            taken.formUnion(uniqueIDs.values)
            if !uniqueIDs.isEmpty { settings["unique-ids"] = .object(uniqueIDs.mapValues { .string($0) }) }
            return (.object(settings), comments)
        }
    }

    /// Returns the name of the variable with the key of a phone.
    private static func variable(_ name: String) -> String {
        let words = name.uppercased().split { !$0.isASCII || !$0.isLetter && !$0.isNumber }.joined(separator: "_")
        let isName = words.first.map(\.isLetter) ?? false
        return (isName ? "" : "PHONE_") + (words.isEmpty ? "" : words + "_") + "IRK"
    }

    private func destinationEntries(_ variables: inout SecretVariables) -> [ImportWriter.Entry] {
        guard let broker else { return [] }
        var settings = broker.settings(&variables)
        settings["name"] = "home"
        settings["type"] = "mqtt"
        settings["home-assistant"] =
            discoveryPrefix.map { $0 == "homeassistant" } ?? true
            ? .bool(true) : .object(["discovery-prefix": .string(discoveryPrefix ?? "")])
        return [(.object(settings), [])]
    }

    /// Returns what was taken over, as the parts of a sentence.
    private func taken(_ calibrations: CalibrationSet) -> [String] {
        func count(_ isCounted: (ImportedDevice) -> Bool) -> Int { beacons.count { isCounted($0.device) } }
        let receivers = Set(places.flatMap(\.receivers)).union(offsets.keys).union(
            plan.map { Set($0.receivers.keys) } ?? [])
        let counts = [
            (sources.count, "source"), (receivers.count, "receiver"), (places.count, "place"),
            (count { if case .beacon = $0 { true } else { false } }, "beacon"),
            (count { if case .phone = $0 { true } else { false } }, "phone"),
            (count { if case .fixed = $0 { true } else { false } }, "fixed address"),
            (regions.count, "region"), (calibrations.receivers.count, "offset"),
            (calibrations.beacons.count, "measured power"), (plan == nil ? 0 : 1, "plan"),
            (beacons.count { !$0.uniqueIDs.isEmpty }, "beacon with former entities"),
        ]
        return counts.compactMap { number, word in
            guard number > 0 else { return nil }
            switch (word, number) {
            case (_, 1): return "1 \(word)"
            case ("fixed address", _): return "\(number) fixed addresses"
            case ("beacon with former entities", _): return "\(number) beacons with former entities"
            default: return "\(number) \(word)s"
            }
        }
    }
}

extension ImportedHouse.Region {
    /// The region as the configuration has it.
    fileprivate var settings: JSONValue {
        var values: [String: JSONValue] = ["name": .string(name), "uuid": .string("\(constraint.uuid)")]
        constraint.major.map { values["major"] = .integer(Int64($0)) }
        constraint.minor.map { values["minor"] = .integer(Int64($0)) }
        return .object(values)
    }
}

/// The text of a configuration with comments.
private struct ImportWriter {
    /// An entry of a list, and the comments above it.
    typealias Entry = (settings: JSONValue, comments: [String])

    private(set) var text = ""
    /// The widest line of a comment, and of an entry in one line.
    private static let width = 110

    mutating func line(_ line: String) { text += line + "\n" }

    mutating func gap() { if !text.isEmpty, !text.hasSuffix("\n\n") { text += "\n" } }

    /// Writes a comment in lines that are not too wide.
    mutating func comment(_ comment: String, indent: String = "") {
        var line = indent + "#"
        // A text from outside must not end its comment.
        for word in comment.split(whereSeparator: { $0.isWhitespace || $0.isNewline }) {
            if line.count + word.count + 1 > Self.width, line.count > indent.count + 1 {
                self.line(line)
                line = indent + "#"
            }
            line +=
                " "
                + word.filter { character in character.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 127 } }
        }
        self.line(line)
    }

    mutating func comments(_ comments: [String]?, indent: String = "") {
        for comment in comments ?? [] { self.comment(comment, indent: indent) }
    }

    /// Writes the comments of a part that may have nothing else.
    mutating func part(_ comments: [String]?) {
        guard let comments, !comments.isEmpty else { return }
        gap()
        self.comments(comments)
    }

    /// Writes a list with its comments.
    ///
    /// - Parameter empty: the value of an empty list; nil to leave it out.
    mutating func list(_ key: String, _ entries: [Entry], _ comments: [String]?, empty: String?) throws {
        part(comments)
        if comments?.isEmpty ?? true, !entries.isEmpty || empty != nil { gap() }
        guard !entries.isEmpty else {
            if let empty { line("\(key): \(empty)") }
            return
        }
        line("\(key):")
        for entry in entries {
            self.comments(entry.comments, indent: "  ")
            let flow = try Self.yaml(entry.settings, .flow)
            if flow.count <= Self.width {
                line("  - " + flow)
            } else {
                let lines = try Self.yaml(entry.settings, .block).split(separator: "\n")
                for (index, text) in lines.enumerated() { line((index == 0 ? "  - " : "    ") + text) }
            }
        }
    }

    private static func yaml(_ value: JSONValue, _ style: Node.Mapping.Style) throws -> String {
        let text = try Yams.serialize(node: GuidedStart.node(value, style: style), width: -1, allowUnicode: true)
        return String(text.drop { $0.isNewline }.reversed().drop { $0.isNewline }.reversed())
    }

    /// Writes the reference to a file, or its content as comments if it is not written.
    mutating func file(_ what: String, _ content: String, _ name: String?, key: String?) {
        gap()
        switch (name, key) {
        case (let name?, let key?): line("\(key): \(name)")
        case (let name?, nil):
            comment("\(name) has \(what). The console takes it, once beacond runs:")
            line("#   curl -X PUT -H 'Content-Type: application/json' --data @\(name) http://127.0.0.1:8099/v1/plan")
        case (nil, let key?):
            comment(
                "With --output, this is a file. Without it, write this line to \(key).json, and remove the # below:")
            line("#   " + content.trimmingCharacters(in: .newlines))
            line("#\(key): \(key).json")
        case (nil, nil):
            comment("With --output, \(what) is a file for the console. Without it, this is its content:")
            line("#   " + content.trimmingCharacters(in: .newlines))
        }
    }
}
