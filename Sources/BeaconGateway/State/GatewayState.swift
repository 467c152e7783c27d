import BeaconDelivery
import BeaconEngine
package import BeaconEventStore
import BeaconModel
import BeaconSupport
package import Foundation

/// The state beside the configuration, in the event store: items and sessions of the console, installs with their
/// messages, and past runs of rules. It is written in one transaction with the events that lead to it.
package struct GatewayState: Sendable {
    package let store: EventStore
    package let items: StoredItems
    package let people: StoredPeople
    package let trail: RuleTrail
    package let access: ConsoleAccess

    /// Creates the state in a store.
    package init(_ store: EventStore) {
        self.store = store
        (items, people) = (StoredItems(store: store), StoredPeople(store: store))
        (trail, access) = (RuleTrail(store: store), ConsoleAccess(store: store))
    }

    /// A kind of value.
    enum Namespace {
        static let region = "region"
        static let whereabouts = "whereabouts"
        static let setting = "setting"
        static let item = "item"
        static let app = "app"
        static let session = "session"
        static let code = "code"
        static let install = "install"
        static let person = "person"
        static let message = "message"
        static let taken = "taken-message"
        static let run = "run"
        static let firing = "firing"
        static let held = "held-run"
        /// The configuration file, in a backup.
        static let configuration = "configuration"

        /// True for values that belong in a backup. Sessions and codes would grant access to browsers of another
        /// machine.
        static func isPortable(_ namespace: String) -> Bool { ![session, code, configuration].contains(namespace) }
    }

    /// The limits of each kind of value. Beyond them, the least recently changed values are deleted.
    static let limits: [String: StateLimits] = {
        // As large as the configuration and the engine's tables.
        let large = StateLimits(rows: 200_000, bytes: 64 << 20)
        // The console rejects more items and apps long before.
        let configured = StateLimits(rows: 100_000, bytes: 1 << 30)
        let year = Duration.seconds(400 * 86_400)
        return [
            Namespace.region: large, Namespace.whereabouts: large,
            Namespace.setting: configured, Namespace.item: configured, Namespace.app: configured,
            Namespace.session: StateLimits(rows: 100, age: ConsoleAccess.sessionTime),
            Namespace.code: StateLimits(rows: 100, age: ConsoleAccess.codeTime),
            // The sender is the app.
            Namespace.install: StateLimits(
                rows: 100_000, bytes: 64 << 20, age: year, rowsPerSender: 5_000, bytesPerSender: 8 << 20),
            Namespace.person: StateLimits(
                rows: 100_000, bytes: 128 << 20, age: year, rowsPerSender: 5_000, bytesPerSender: 32 << 20),
            // The sender is the install.
            Namespace.message: StateLimits(rows: 50_000, bytes: 64 << 20, age: year, rowsPerSender: 100),
            Namespace.taken: StateLimits(rows: 50_000, bytes: 64 << 20, age: year, rowsPerSender: 200),
            // The sender is the rule.
            Namespace.run: StateLimits(rows: 50_000, bytes: 64 << 20, rowsPerSender: 20_000, bytesPerSender: 16 << 20),
            Namespace.firing: StateLimits(
                rows: 200_000, bytes: 64 << 20, rowsPerSender: 10_000, bytesPerSender: 8 << 20),
            Namespace.held: StateLimits(
                rows: 200_000, bytes: 256 << 20, rowsPerSender: 20_000, bytesPerSender: 64 << 20),
        ]
    }()

    /// Returns a key made of texts of any length and content.
    static func key(_ parts: String...) -> String { parts.map(part).joined(separator: "\n") }

    /// Returns a text as part of a key, or as a sender: the text itself, or its hash. Texts outside ASCII are hashed,
    /// since Swift treats some as equal that SQLite does not.
    package static func part(_ text: String) -> String {
        text.utf8.count <= 200 && text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
            ? text : "\(EventID(hashing: text))"
    }

    // MARK: - Single values

    /// The key of a single value.
    package enum Key: String, Sendable {
        /// The beacon that this machine advertises.
        case advertising
        /// The plan of the building, and its picture.
        case plan, planPicture
        /// The position in a fleet's log up to which the history has its events.
        case fleet
        /// The position in a fleet's log up to which this machine's destinations have its events.
        case fleetDelivered
        /// The learned offsets, with the levels that they come from.
        case offsets
        /// The names of receivers that need a number.
        case receivers
        /// The newest known configuration of a fleet.
        case fleetConfiguration
    }

    /// Returns the value of a key; nil if it has no value.
    package func value(of key: Key) async throws(EventStoreError) -> Data? {
        try await store.state(Namespace.setting, key.rawValue)?.value
    }

    /// Sets the value of a key. nil removes it.
    package func set(_ key: Key, to value: Data?) async throws(EventStoreError) {
        try await store.append(
            Step(changes: [StateChange(namespace: Namespace.setting, key: key.rawValue, value: value)]))
    }
}

extension GatewayState {
    /// Sets the value of a key with the next write.
    func setSoon(_ key: Key, to value: Data) {
        store.enqueue(Step(changes: [StateChange(namespace: Namespace.setting, key: key.rawValue, value: value)]))
    }

    /// Returns the learned offsets; nil without any, or if another version wrote them.
    func learnedOffsets() async throws(EventStoreError) -> OffsetLearner? {
        try await value(of: .offsets).flatMap { try? JSONDecoder().decode(OffsetLearner.self, from: $0) }
    }
}

extension EventStoreSettings {
    /// The settings of beacond's store, without a console.
    package static var gateway: EventStoreSettings {
        var settings = EventStoreSettings()
        settings.retention = .none
        settings.state = GatewayState.limits
        return settings
    }
}

extension StateChange {
    /// Creates a change to a value that is stored as JSON.
    init(_ namespace: String, _ key: String, _ value: some Encodable, sender: String? = nil) throws {
        self.init(namespace: namespace, key: key, value: try JSONEncoder.sorted.encode(value), sender: sender)
    }
}

extension StateRow {
    /// Returns the value that was stored as JSON; nil if another version wrote it in another form.
    func decoded<Value: Decodable>(_ type: Value.Type = Value.self) -> Value? {
        try? JSONDecoder().decode(type, from: value)
    }
}
