import BeaconConfiguration
import BeaconModel
import BeaconSupport
import Foundation

/// A program whose configuration can be imported.
package enum ImportKind: String, CaseIterable, Sendable {
    // In the order in which files of several kinds are read: the first decides about a name or a room.
    case companion
    case bermuda
    case roomAssistant = "room-assistant"
    case espresense
    case mqttRoom = "mqtt-room"
    case theengs
    case monitor

    /// The name for people.
    package var title: String {
        switch self {
        case .companion: "ESPresense-companion"
        case .bermuda: "Home Assistant (Bermuda, private_ble_device, ibeacon)"
        case .roomAssistant: "room-assistant"
        case .espresense: "ESPresense"
        case .mqttRoom: "Home Assistant's mqtt_room"
        case .theengs: "Theengs Gateway"
        case .monitor: "monitor"
        }
    }

    /// The sign by which a file of this kind is recognized.
    var sign: String {
        switch self {
        case .companion: "a config.yaml with nodes, floors or locators"
        case .bermuda: "the folder .storage with core.config_entries"
        case .roomAssistant: "a local.yml with bluetoothLowEnergy"
        case .espresense: "lines that begin with espresense/, as \"mosquitto_sub -v\" prints them"
        case .mqttRoom: "a YAML list with \"platform: mqtt_room\""
        case .theengs: "a theengsgw.conf with publish_topic"
        case .monitor: "known_beacon_addresses or mqtt_preferences"
        }
    }
}

/// An error of an import.
package struct ImportError: Error, CustomStringConvertible {
    /// The kind of failure.
    package enum Code: Sendable { case cannotRead, unrecognized, damaged }

    package var code: Code
    /// The problem and its remedy.
    package var description: String
    /// The system's error, if there is one.
    package var cause: (any Error)?
}

/// The files of one program.
package struct ImportInput: Sendable {
    /// The path, for messages.
    package var path: String
    /// The texts by the names of the files.
    package var texts: [String: String]

    /// Creates the input of a single file.
    package init(path: String, text: String) {
        (self.path, texts) = (path, [Self.name(of: path): text])
    }

    /// The largest file in bytes: Home Assistant's registry of entities has a few MB in large houses.
    private static let largestFile = 64 << 20

    /// The files of Home Assistant's storage that belong together.
    private static let storage = [
        "core.config_entries", "core.device_registry", "core.area_registry", "core.entity_registry",
    ]
    private static let monitor = [
        "known_beacon_addresses", "known_static_addresses", "mqtt_preferences", "behavior_preferences",
        "address_blacklist",
    ]
    /// The files to look for in a folder, the first that is there, and those beside it.
    private static let candidates: [[String]] =
        [storage, storage.map { ".storage/" + $0 }, monitor]
        + ["config.yaml", "local.yml", "config/local.yml", "local.yaml", "theengsgw.conf", "configuration.yaml"].map {
            [$0]
        }

    private static func name(of path: String) -> String { URL(fileURLWithPath: path).lastPathComponent }

    /// Reads a file, or the files of a folder.
    ///
    /// - Throws: ``ImportError``.
    package init(path: String) throws(ImportError) {
        self.path = path
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw ImportError(code: .cannotRead, description: "cannot read \(path): there is no such file or folder")
        }
        var (folder, names) = (path, [String]())
        if isFolder.boolValue {
            let found = Self.candidates.first { group in
                group.contains { FileManager.default.fileExists(atPath: "\(path)/\($0)") }
            }
            guard let found else {
                throw ImportError(
                    code: .unrecognized,
                    description:
                        "\(path) has none of the files that can be imported: "
                        + Self.candidates.compactMap(\.first).joined(separator: ", "))
            }
            names = found
        } else {
            folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            let name = Self.name(of: path)
            names = [Self.storage, Self.monitor].first { $0.contains(name) } ?? [name]
        }
        texts = [:]
        for name in names where FileManager.default.fileExists(atPath: "\(folder)/\(name)") {
            do {
                let bytes = try SmallFile.contents(path: "\(folder)/\(name)", limit: Self.largestFile)
                texts[Self.name(of: name)] = String(decoding: bytes, as: UTF8.self)
            } catch {
                throw ImportError(code: .cannotRead, description: error.message, cause: error)
            }
        }
    }

    /// The content of the only file, as YAML, which includes JSON; nil for other texts.
    private var content: JSONValue? {
        guard let text = texts.values.first else { return nil }
        return ImportedHouse.json(text) ?? Self.yaml(text)
    }

    /// Reads YAML; nil for other texts.
    static func yaml(_ text: String) -> JSONValue? { YAMLDocument(text).content }

    /// The sensors in a YAML file of Home Assistant: a list, or the list at `sensor`.
    private static func roomSensors(_ content: JSONValue?) -> [JSONValue] {
        let list =
            switch content {
            case .array(let values)?: values
            case .object(let values)?:
                if case .array(let sensors)? = values["sensor"] { sensors } else { [JSONValue]() }
            default: [JSONValue]()
            }
        return list.filter { $0.value(at: ["platform"])?.scalarText == "mqtt_room" }
    }

    /// Returns the kind by the content; nil for an unknown one.
    package func kind() -> ImportKind? {
        if !Set(texts.keys).isDisjoint(with: Self.storage) { return .bermuda }
        if !Set(texts.keys).isDisjoint(with: Self.monitor) { return .monitor }
        if let text = texts.values.first,
            text.split(whereSeparator: \.isNewline).contains(where: { $0.hasPrefix("espresense/") })
        {
            return .espresense
        }
        guard let content else { return nil }
        if content.value(at: ["data", "entries"]) != nil { return .bermuda }
        if !Self.roomSensors(content).isEmpty { return .mqttRoom }
        guard case .object(let values) = content else { return nil }
        func has(_ keys: String...) -> Bool { keys.contains { values[$0] != nil } }
        if has("nodes", "floors", "locators") { return .companion }
        if has("bluetoothLowEnergy") || content.value(at: ["global", "integrations"]) != nil { return .roomAssistant }
        return has("publish_topic", "lwt_topic", "ble_scan_time") ? .theengs : nil
    }

    /// Adds the files to a house.
    fileprivate func add(to house: inout ImportedHouse, as kind: ImportKind) throws(ImportError) {
        house.origins.append("\(kind.title), \(path)")
        switch kind {
        case .espresense:
            let messages = ImportedHouse.messages(in: texts.values.first ?? "")
            house.addESPresense(messages.filter { $0.topic.hasPrefix("espresense/") })
            let others = messages.count { !$0.topic.hasPrefix("espresense/") }
            if others > 0 { house.note(.head, "\(others.counted("message")) of other topics were not looked at.") }
        case .monitor: house.addMonitor(texts)
        case .bermuda:
            var files: [String: JSONValue] = [:]
            for (name, text) in texts {
                guard let content = ImportedHouse.json(text) else { throw damaged(name, "it is not JSON") }
                // A file with another name holds the entries.
                files[Self.storage.contains(name) ? name : "core.config_entries"] = content
            }
            house.addHomeAssistant(files)
        case .companion, .roomAssistant, .theengs, .mqttRoom:
            guard let content else {
                let fault = YAMLDocument(texts.values.first ?? "").diagnostics.first
                throw damaged(Self.name(of: path), fault?.message ?? "it is empty")
            }
            if let text = texts.values.first, ImportedHouse.json(text) == nil {
                for fault in YAMLDocument(text).diagnostics {
                    house.note(.head, "\(Self.name(of: path)): \(fault.message).")
                }
            }
            switch kind {
            case .companion: house.addCompanion(content)
            case .roomAssistant: house.addRoomAssistant(content)
            case .theengs: house.addTheengs(content)
            default: house.addRoomSensors(Self.roomSensors(content))
            }
        }
    }

    private func damaged(_ name: String, _ detail: String) -> ImportError {
        ImportError(code: .damaged, description: "cannot import \(name): \(detail)")
    }
}

extension ImportedHouse {
    /// Reads the files of one or several programs in the same house.
    ///
    /// - Parameters:
    ///   - inputs: the files.
    ///   - kind: the kind of all files; nil to recognize each by its content.
    ///   - broker: the broker, if the user named one.
    /// - Throws: ``ImportError`` if one of them is of no known kind.
    package init(
        _ inputs: [ImportInput], as kind: ImportKind? = nil, broker: GuidedStart.Choice.Broker? = nil
    ) throws(ImportError) {
        self.init()
        var known: [(input: ImportInput, kind: ImportKind)] = []
        for input in inputs {
            guard let kind = kind ?? input.kind() else {
                throw ImportError(
                    code: .unrecognized,
                    description:
                        "cannot recognize \(input.path). It is none of these: "
                        + ImportKind.allCases.map { "\($0.sign) (\($0.rawValue))" }.joined(separator: "; ")
                        + ". Name its kind with --from")
            }
            known.append((input, kind))
        }
        for kind in ImportKind.allCases {
            for (input, own) in known where own == kind { try input.add(to: &self, as: kind) }
        }
        if var broker {
            broker.password = broker.password ?? self.broker?.password
            broker.user = broker.user ?? self.broker?.user
            self.broker = broker
        }
    }
}
