import BeaconModel
import BeaconMonitoring
import BeaconSupport
import Foundation

/// A house as the configurations of other programs describe it, in the terms of beacond's configuration.
///
/// Each importer adds the settings that it understands. Nothing is dropped silently: a setting that has no counterpart
/// becomes a comment at the part of the file where it belongs.
package struct ImportedHouse {
    /// A part of the file, with its own comments.
    enum Part {
        case head, sources, regions, places, beacons, calibration, plan, destinations
    }

    /// A source of adverts, without its broker if it is the house's.
    struct Source {
        var name: String
        var settings: [String: JSONValue] = [:]
        /// True if its receivers publish to the house's broker.
        var isAtBroker = false
        /// The key of its devices, and the start of the name of its variable.
        var key: Secret?
        var comments: [String] = []
    }

    /// A beacon, a phone or another device with a name.
    struct Beacon {
        var device: ImportedDevice
        /// The name; nil if the other program has none.
        var name: String?
        /// The address of a phone that another program resolves.
        var address: DeviceAddress?
        /// The signal at one meter in dBm.
        var power: Double?
        var isTracker = false
        /// The unique ids of its former entities.
        var uniqueIDs: [String: String] = [:]
        var comments: [String] = []
    }

    /// A region without a named beacon.
    struct Region {
        var name: String
        var constraint: BeaconConstraint
    }

    /// A comment: what was not taken over, and why; or a sentence alone.
    private struct Comment: Hashable {
        var keys: [String] = []
        var text: String
    }

    /// A room with its receivers.
    struct Place {
        var name: String
        var receivers: [String]
    }

    /// The files that were read, in words.
    var origins: [String] = []
    var sources: [Source] = []
    var beacons: [Beacon] = []
    var regions: [Region] = []
    var places: [Place] = []
    /// The decibels by which the readings of receivers are too high.
    var offsets: [String: Double] = [:]
    /// The silence in seconds after which a beacon has left; nil for the default.
    var exitTimeout: Int?
    var plan: BuildingPlan?
    /// The broker, and the prefix of Home Assistant's discovery topics.
    var broker: GuidedStart.Choice.Broker?
    var discoveryPrefix: String?
    /// True if ESPresense-companion announced the devices before.
    var hasCompanion = false
    private var comments: [Part: [Comment]] = [:]
    /// The keys of the other programs that were not taken over, in order.
    private(set) var lost: [String] = []

    init() {}
}

extension ImportedHouse {
    /// Returns the comments of a part of the file.
    func comments(_ part: Part) -> [String] {
        (comments[part] ?? []).map { comment in
            comment.keys.isEmpty
                ? comment.text : "Not taken over: \(comment.keys.joined(separator: ", ")). \(comment.text)"
        }
    }

    /// Adds a comment to a part of the file.
    mutating func note(_ part: Part, _ text: String) {
        let comment = Comment(text: text)
        if comments[part]?.contains(comment) != true { comments[part, default: []].append(comment) }
    }

    /// Adds the comment that something was not taken over. Keys with the same reason share a comment.
    ///
    /// - Parameters:
    ///   - keys: the keys in the other program's file.
    ///   - part: the part of the file that the comment belongs to.
    ///   - why: the reason and the remedy, as sentences that follow the keys.
    mutating func lose(_ keys: [String], _ part: Part, _ why: String) {
        let new = keys.filter { !lost.contains($0) }
        guard !new.isEmpty else { return }
        lost += new
        let own = comments[part] ?? []
        if let index = own.firstIndex(where: { !$0.keys.isEmpty && $0.text == why }) {
            comments[part]?[index].keys += new
        } else {
            comments[part, default: []].append(Comment(keys: new, text: why))
        }
    }

    /// Names the keys that no importer asked for.
    mutating func finish(_ keys: ImportedKeys) {
        lose(keys.unknown, .head, "The import does not know these keys; docs/beacond.md lists beacond's.")
    }

    /// Adds a device, or what another file says about one that is already there.
    mutating func add(_ beacon: Beacon) {
        guard let index = beacons.firstIndex(where: { $0.device.isSame(as: beacon.device) }) else {
            return beacons.append(beacon)
        }
        beacons[index].name = beacons[index].name ?? beacon.name
        beacons[index].address = beacons[index].address ?? beacon.address
        beacons[index].power = beacons[index].power ?? beacon.power
        beacons[index].isTracker = beacons[index].isTracker || beacon.isTracker
        // ESPresense is read after its companion, and knows by which alias the device was announced.
        beacons[index].uniqueIDs.merge(beacon.uniqueIDs) { _, second in second }
        beacons[index].comments += beacon.comments.filter { !beacons[index].comments.contains($0) }
    }

    /// Adds a receiver to a room. A receiver belongs to one place, so that the first file decides.
    mutating func place(_ receiver: String, in room: String) {
        guard !receiver.isEmpty, !places.contains(where: { $0.receivers.contains(receiver) }) else { return }
        let name = Self.placeName(room)
        if let index = places.firstIndex(where: { $0.name == name }) {
            places[index].receivers.append(receiver)
        } else {
            places.append(Place(name: name, receivers: [receiver]))
        }
    }

    /// The states of a place in Home Assistant, which no room can have as its name.
    private static let states: Set = ["away", "none", "unknown", "unavailable", "home", "not_home"]

    static func placeName(_ room: String) -> String {
        let name = cleaned(room, or: "room")
        return states.contains(name.lowercased().filter { !$0.isWhitespace }) ? name + " room" : name
    }

    /// Returns a name without control characters and of a length that beacond accepts.
    static func cleaned(_ name: String, or other: String) -> String {
        let text = String(
            String.UnicodeScalarView(
                name.unicodeScalars.map { scalar in
                    scalar.properties.generalCategory == .control || scalar == "\u{FFFD}" ? " " : scalar
                })
        ).trimmingCharacters(in: .whitespacesAndNewlines)
        return text.isEmpty ? other : String(text.prefix(90))
    }

    /// Returns a name that is not taken yet, and takes it.
    static func unique(_ name: String, _ taken: inout Set<String>) -> String {
        var (result, number) = (name, 2)
        while !taken.insert(result).inserted {
            result = "\(name) \(number)"
            number += 1
        }
        return result
    }

    /// Reads a port; a value that cannot be one is named, and left out.
    mutating func port(_ keys: inout ImportedKeys, _ key: String = "port") -> Int? {
        guard let text = keys.text(key) else { return nil }
        let number = JSONValue.string(text).importedNumber.flatMap { Int(exactly: $0.rounded()) }
        if let number, (1...65_535).contains(number) { return number }
        lose(["port (\(text))"], .destinations, "It is no port.")
        return nil
    }

    /// Sets the broker. A host that cannot be one is named, and left out.
    mutating func use(_ found: GuidedStart.Choice.Broker) {
        var found = found
        if found.host.wholeMatch(of: /[A-Za-z0-9._-]{1,200}|[0-9A-Fa-f:.]{2,45}/) == nil {
            lose(
                ["host (\(found.host))"], .destinations,
                "It is no name and no address. Write that of the broker at both \"host\".")
            found.host = "homeassistant.local"
        }
        // A password without a user opens nothing.
        if found.user == nil { found.password = nil }
        broker = found
    }

    /// Takes over a silence in seconds.
    mutating func useTimeout(_ seconds: Double?) {
        guard let seconds, (1...86_400).contains(seconds) else { return }
        exitTimeout = max(exitTimeout ?? 0, Int(seconds))
    }

    /// Returns a name as ESPresense and its companion make ids of it: small letters and digits, with underscores.
    static func slug(_ name: String) -> String {
        name.lowercased().split { !$0.isLetter && !$0.isNumber }.joined(separator: "_")
    }
}

/// A device, as other programs identify it.
enum ImportedDevice {
    case beacon(BeaconIdentity)
    case phone(IdentityResolvingKey, text: Secret)
    case fixed(DeviceAddress)

    /// Returns true if both are the same device. Programs write a key in both orders of its bytes.
    func isSame(as other: Self) -> Bool {
        switch (self, other) {
        case (.beacon(let one), .beacon(let two)): one == two
        case (.phone(let one, _), .phone(let two, _)): one == two || one == two.reversed
        case (.fixed(let one), .fixed(let two)): one == two
        default: false
        }
    }

    /// Reads the ids of ESPresense (`iBeacon:UUID-MAJOR-MINOR`, `irk:KEY`, `known:ADDRESS`), room-assistant
    /// (`UUID-MAJOR-MINOR`, an address without colons), Home Assistant (`UUID_MAJOR_MINOR`), and bare keys and
    /// addresses.
    init?(_ id: String) {
        var text = id.trimmingCharacters(in: .whitespaces)
        if let prefix = ["ibeacon:", "known:"].first(where: { text.lowercased().hasPrefix($0) }) {
            text = String(text.dropFirst(prefix.count))
        }
        if let key = IdentityResolvingKey(text) {
            self = .phone(key, text: Secret(text.lowercased().hasPrefix("irk:") ? String(text.dropFirst(4)) : text))
        } else if let identity = Self.constraint(text)?.identity {
            self = .beacon(identity)
        } else if let address = Self.address(text) {
            self = .fixed(address)
        } else {
            return nil
        }
    }

    /// Returns the beacons that `UUID`, `UUID-MAJOR` or `UUID-MAJOR-MINOR` names, also with underscores.
    static func constraint(_ text: String) -> BeaconConstraint? {
        var parts = text.split(separator: "_").map(String.init)
        if parts.count == 1 {
            parts = text.split(separator: "-").map(String.init)
            // The hyphens of the UUID itself.
            if parts.count >= 5, parts[0].count == 8 {
                parts = [parts.prefix(5).joined(separator: "-")] + parts.dropFirst(5)
            }
        }
        guard (1...3).contains(parts.count), let uuid = ProximityUUID(parts[0]) else { return nil }
        let numbers = parts.dropFirst().compactMap { UInt16($0) }
        guard numbers.count == parts.count - 1 else { return nil }
        switch numbers.count {
        case 0: return BeaconConstraint(uuid: uuid)
        case 1: return BeaconConstraint(uuid: uuid, major: numbers[0])
        default: return BeaconConstraint(uuid: uuid, major: numbers[0], minor: numbers[1])
        }
    }

    private static func address(_ text: String) -> DeviceAddress? {
        guard text.count == 12, text.allSatisfy(\.isHexDigit) else { return DeviceAddress(text) }
        let digits = Array(text)
        return DeviceAddress(
            stride(from: 0, to: 12, by: 2).map { String(digits[$0...($0 + 1)]) }.joined(separator: ":"))
    }
}
