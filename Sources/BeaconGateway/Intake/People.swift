import BeaconDelivery
import BeaconEventStore
import BeaconModel

/// The installs and users of a batch of events, updated by these.
struct People: Sendable {
    /// A user of an app.
    struct Name: Hashable, Sendable {
        var app: String
        var user: String
    }

    /// A row to store.
    enum Change: Sendable {
        /// An install with its user.
        case install(Install)
        /// The attributes of a user that no changed install has any longer.
        case attributes(Name, [String: String])
    }

    private var installs: [String: Install]
    private var changedInstalls: Set<String> = []
    /// The users whose attributes events have set.
    private var changedUsers: Set<Name> = []
    /// The attributes of users.
    var attributes: [Name: [String: String]] = [:]

    /// The most attributes to keep per user, and the longest attribute in characters.
    private static let maximumAttributes = 50
    private static let longestAttribute = 200

    /// Creates the people from their stored installs.
    init(installs: [String: Install]) { self.installs = installs }

    /// What events have changed. An install can change its user within a batch.
    var changed: [Change] {
        let changed = changedInstalls.sorted().compactMap { installs[$0].map(withAttributes) }
        let users = changed.compactMap { install in install.user.map { Name(app: install.app, user: $0) } }
        return changed.map(Change.install)
            + changedUsers.subtracting(users).map { .attributes($0, attributes[$0] ?? [:]) }
    }

    private func withAttributes(_ install: Install) -> Install {
        var install = install
        install.attributes = install.user.flatMap { attributes[Name(app: install.app, user: $0)] } ?? [:]
        return install
    }

    /// Updates the install of an event.
    ///
    /// - Returns: the updated install that sent it; nil if the event has none.
    mutating func receive(_ event: BeaconNotification, at now: Timestamp) -> Install? {
        guard let id = event.install, let app = event.sender else { return nil }
        var install =
            installs[id] ?? Install(id: id, app: app, user: nil, first: now, last: now, events: 0)
        install.last = now
        install.events = min(install.events, .max - 1) + 1
        // An app that names the install instead of a user has none.
        if event.person != nil || event.data?["userId"] == .string(id) { install.user = event.person }
        if event.kind == .user, let user = install.user, case .object(let given)? = event.data?["attributes"] {
            let name = Name(app: app, user: user)
            attributes[name] = Self.attributes(given)
            changedUsers.insert(name)
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
    func people(of events: [BeaconNotification]) async throws(EventStoreError) -> People {
        let ids = Set(events.compactMap(\.install))
        guard !ids.isEmpty else { return People(installs: [:]) }
        let named = Set(
            events.compactMap { event in
                event.sender.flatMap { app in event.person.map { People.Name(app: app, user: $0) } }
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
