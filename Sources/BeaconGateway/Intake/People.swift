import BeaconDelivery
import BeaconEventStore
package import BeaconModel
import Foundation

/// The installs and users of a batch of events, updated by these.
struct People: Sendable {
    /// A user of an app.
    struct Name: Hashable, Sendable {
        var app: String
        var user: String
    }

    private var installs: [String: Install]
    private var changedInstalls: Set<String> = []
    /// The attributes of users.
    var attributes: [Name: [String: String]] = [:]

    /// The most attributes to keep per user, and the longest attribute in characters.
    private static let maximumAttributes = 50
    private static let longestAttribute = 200

    /// Creates the people from their stored installs.
    init(installs: [String: Install]) { self.installs = installs }

    /// The installs that events have changed, with the attributes of their users.
    var changed: [Install] { changedInstalls.sorted().compactMap { installs[$0].map(withAttributes) } }

    private func withAttributes(_ install: Install) -> Install {
        var install = install
        install.attributes = install.user.flatMap { attributes[Name(app: install.app, user: $0)] } ?? [:]
        return install
    }

    /// Updates the install of an event.
    ///
    /// - Returns: the updated install that sent it; nil if the event has none.
    mutating func receive(_ event: HistoryEvent, at now: Timestamp) -> Install? {
        guard let id = event.install, let app = event.sender else { return nil }
        var install =
            installs[id] ?? Install(id: id, app: app, user: nil, first: now, last: now, events: 0)
        install.last = now
        install.events = min(install.events, .max - 1) + 1
        if event.user != nil { install.user = event.person }
        if let user = install.user, let given = event.userAttributes {
            attributes[Name(app: app, user: user)] = given
        }
        installs[id] = install
        changedInstalls.insert(id)
        return withAttributes(install)
    }

    /// Returns attributes in the form to store: short texts, limited in number.
    static func attributes(_ values: [String: JSONValue]) -> [String: String] {
        var result: [String: String] = [:]
        for (key, value) in values.sorted(by: { $0.key < $1.key }).prefix(maximumAttributes) {
            let text: String
            switch value {
            case .string(let value): text = value
            case .integer(let value): text = "\(value)"
            case .number(let value): text = "\(value)"
            case .bool(let value): text = "\(value)"
            case .null, .array, .object: continue
            }
            result[String(key.prefix(longestAttribute))] = String(text.prefix(longestAttribute))
        }
        return result
    }
}

extension StoredPeople {
    /// Returns the installs that sent events, with their users.
    func people(of events: [HistoryEvent]) async throws(EventStoreError) -> People {
        let ids = Set(events.compactMap(\.install))
        guard !ids.isEmpty else { return People(installs: [:]) }
        let named = Set(
            events.compactMap { event in
                event.sender.flatMap { app in event.user.map { People.Name(app: app, user: $0) } }
            })
        return try await store.readState { state in
            let installs = try Self.installs(ids, in: state)
            var people = People(installs: installs)
            for install in installs.values {
                guard let user = install.user else { continue }
                people.attributes[.init(app: install.app, user: user)] = install.attributes
            }
            for name in named where people.attributes[name] == nil {
                people.attributes[name] = try Self.attributes(of: name.user, of: name.app, in: state)
            }
            return people
        }
    }
}

extension HistoryEvent {
    private var values: [String: JSONValue] {
        guard case .object(let values) = try? JSONDecoder().decode(JSONValue.self, from: Data(detail.utf8)) else {
            return [:]
        }
        return values
    }

    /// The proximity in the event; nil for none.
    package var proximity: Proximity? {
        guard case .string(let word)? = values["proximity"] else { return nil }
        return Proximity.allCases.first { $0.description == word }
    }

    /// True for a place event that moves a beacon to another place, or out of all places.
    var isChangeOfPlace: Bool {
        let values = values
        if case .string("unknown")? = values["state"] { return false }
        return values["place"] != values["before"]
    }

    /// The attributes of the user in the event; nil if it has none.
    var userAttributes: [String: String]? {
        guard kind == .user, case .object(let given)? = values["attributes"] else { return nil }
        return People.attributes(given)
    }

    /// The line of JSON that programs receive. Events of apps and other gateways include their sender.
    var line: [UInt8] {
        if sender == nil { return Array(detail.utf8) + [UInt8(ascii: "\n")] }
        var values = values
        if let sender { values["sender"] = .string(sender) }
        if let install { values["install"] = .string(install) }
        if let person { values["user"] = .string(person) }
        values["time"] = .number(time.seconds)
        values["event"] = values["event"] ?? .string(kind.rawValue)
        if let region { values["region"] = values["region"] ?? .string(region) }
        if let beacon {
            values["beacon"] =
                values["beacon"]
                ?? .object([
                    "uuid": .string(beacon.uuid.description), "major": .integer(Int64(beacon.major)),
                    "minor": .integer(Int64(beacon.minor)),
                ])
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array((try? encoder.encode(values)) ?? Data("{}".utf8)) + [UInt8(ascii: "\n")]
    }
}
