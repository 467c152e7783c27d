package import BeaconDelivery
package import BeaconEventStore
import BeaconModel
package import Foundation

extension BeaconNotification.Kind {
    /// The kinds of events that the history shows.
    package static let shown: [Self] = [
        .enter, .exit, .state, .place, .proximity, .gone, .receiver, .suspicious, .app, .refused,
        .user,
    ]

    /// The kinds that rules process from the store when they are this machine's. Proximity is decided from ranging
    /// reports instead.
    static let forRules: Set<Self> = [.enter, .exit, .place, .suspicious]
}

extension Event {
    /// The name of the consumer for rules.
    package static let rules = ".rules"

    /// True if the history shows it.
    package var isShown: Bool { Self.shownKinds.contains(kind) }
    private static let shownKinds = Set(BeaconNotification.Kind.shown.map(\.rawValue))

    /// Returns the event as the console and the interface get it: its attributes, the members of its private part, and
    /// its body as `detail`.
    ///
    /// - Parameter number: its number in the history; nil while it waits for the disk.
    package func head(_ number: Int64?) -> Data {
        let id = "\"id\":\(number.map(String.init) ?? "null"),\"eventId\":\"\(id)\",\"time\":\(time.decimalSeconds)"
        var json = [UInt8]("{\(id)".utf8)
        for (key, value) in [
            ("kind", kind), ("receiver", receiver), ("region", region), ("place", place), ("sender", sender),
            ("install", install),
        ] as [(String, String?)] {
            json += ",\"\(key)\":".utf8
            if let value { json.append(jsonText: value) } else { json += "null".utf8 }
        }
        json += ",\"beacon\":".utf8
        json += body.member("beacon") ?? Data("null".utf8)
        json +=
            `private`.isEmpty
            ? Data(",\"summary\":\"\",\"user\":null".utf8) : Data(",".utf8) + `private`.dropFirst().dropLast()
        return Data(json) + Data(",\"detail\":".utf8) + self.json + Data("}".utf8)
    }

    /// Returns the line of JSON that programs get: the body with the kind as `event`, and with the sender. Of events of
    /// this machine, it has the keys of the command line's line, those without a value as well.
    ///
    /// - Parameter notification: the event, decoded.
    func line(of notification: BeaconNotification) -> [UInt8] {
        guard case .object(var line)? = try? JSONDecoder().decode(JSONValue.self, from: json) else { return [] }
        line["event"] = .string(kind)
        if let sender {
            line["sender"] = .string(sender)
            line["install"] = install.map(JSONValue.string)
            line["user"] = notification.person.map(JSONValue.string)
            line["type"] = notification.data?["type"]
        } else {
            let none =
                (notification.kind == .place ? ["place", "before", "level", "margin", "runnerUp"] : []) + ["receiver"]
            line.merge(none.map { ($0, JSONValue.null) }) { own, _ in own }
        }
        if case .object(let region)? = line["region"] {
            line["region"] = .object(region.merging(["major": .null, "minor": .null]) { own, _ in own })
        }
        if case .object(let grounds)? = line["suspicion"] {
            line.merge(grounds.merging(["distance": .null, "speed": .null]) { own, _ in own }) { own, _ in own }
        }
        return Array((try? JSONEncoder.sorted.encode(line)) ?? Data()) + [UInt8(ascii: "\n")]
    }
}
