import BeaconDelivery
package import BeaconEventStore
package import BeaconModel
import BeaconSupport
import Foundation

/// A message to an install, which is stored until the app has fetched it.
package struct InstallMessage: Hashable, Sendable, Codable {
    /// What an app with Kumulos' own SDK reported about a message.
    package struct Receipts: Hashable, Sendable, Codable {
        /// The installs that have stored it, with the times.
        package var delivered: [String: Timestamp] = [:]
        package var opened: Timestamp?
        /// The time when it was closed, or deleted from the app's inbox.
        package var dismissed: Timestamp?
    }

    /// The id, which the app's acknowledgment names.
    package var id: String
    var install: String
    /// The install's user when it was sent; nil if there was none. Only this user gets it with Kumulos' own SDK.
    var user: String?
    package var time: Timestamp
    package var content: RuleMessage
    /// The rule that sent it; nil for a message from the console.
    package var rule: String?
    /// The time when the app acknowledged it; nil while it waits, and for Kumulos' own SDK.
    package var taken: Timestamp?
    /// The reports of Kumulos' own SDK; nil without any.
    package var receipts: Receipts?

    package init(
        id: String, install: String, user: String? = nil, time: Timestamp, content: RuleMessage, rule: String? = nil,
        taken: Timestamp? = nil
    ) {
        (self.id, self.install, self.user, self.time) = (id, install, user, time)
        (self.content, self.rule, self.taken) = (content, rule, taken)
    }

    /// The number that names it in Kumulos' own SDK, which looks messages up by 32 bits.
    ///
    /// It comes from the id, so that a store that lost its data never gives a number to another message: the app would
    /// take that for an old one, and not show it.
    package var number: Int {
        max(1, SHA256.hash(id.utf8).prefix(4).reduce(0) { $0 << 8 | Int($1) } & 0x7FFF_FFFF)
    }

    /// True if the user has seen it on a phone, or the app has it.
    fileprivate var isDone: Bool { taken != nil || receipts?.opened != nil || receipts?.dismissed != nil }
}

/// The report of an app with Kumulos' own SDK about a message.
struct MessageReceipt: Sendable {
    private enum Change { case delivered, opened, dismissed }

    /// The most phones of a user whose reports are kept: an app can report as any number of installs.
    private static let mostPhones = 100

    private let change: Change
    private let number: Int
    private let time: Timestamp
    fileprivate let install: String
    fileprivate let name: People.Name

    /// Creates the receipt that an event reports; nil if it reports none.
    init?(_ event: BeaconNotification) {
        guard event.kind == .app, let app = event.sender, let install = event.install,
            case .string(let type)? = event.data?["type"], case .integer(let number)? = event.data?["id"],
            // 1 is a push message.
            event.data?["dataType"] == .integer(2)
        else { return nil }
        switch type {
        case "k.message.delivered": change = .delivered
        case "k.message.opened", "k.message.read": change = .opened
        case "k.message.dismissed", "k.message.inbox.deleted": change = .dismissed
        default: return nil
        }
        self.number = Int(number)
        (self.install, time, name) = (install, event.time, .init(app: app, user: event.person ?? install))
    }

    /// Notes the report on a message.
    ///
    /// - Returns: false if it is about another message, or was noted before.
    fileprivate func note(on message: inout InstallMessage) -> Bool {
        guard message.number == number else { return false }
        let before = message
        var receipts = message.receipts ?? .init()
        switch change {
        case .delivered where receipts.delivered.count < Self.mostPhones:
            receipts.delivered[install] = receipts.delivered[install] ?? time
        case .delivered: break
        case .opened: receipts.opened = receipts.opened ?? time
        case .dismissed: receipts.dismissed = receipts.dismissed ?? time
        }
        message.receipts = receipts
        return message != before
    }
}

extension StoredPeople {
    /// Returns the change that queues a message for its install.
    static func change(adding message: InstallMessage) throws -> StateChange {
        try Self.change(saving: message, in: Namespace.message)
    }

    private static func change(saving message: InstallMessage, in namespace: String) throws -> StateChange {
        try StateChange(
            namespace, GatewayState.key(message.install, message.id), message,
            sender: GatewayState.part(message.install))
    }

    /// Queues a message for its install.
    package func add(_ message: InstallMessage) async throws {
        try await store.append(Step(changes: [try Self.change(adding: message)]))
        newMessages.signal()
    }

    /// Returns the messages of an install.
    ///
    /// - Parameters:
    ///   - install: the install.
    ///   - isWaiting: true for messages that it has not fetched, oldest first; false for all, newest first.
    ///   - limit: the most messages to return.
    package func messages(
        of install: String, isWaiting: Bool, limit: Int
    ) async throws(EventStoreError) -> [InstallMessage] {
        try await store.readState { state in
            let messages = try Self.messages(
                of: install, in: state, isWaiting ? [Namespace.message] : [Namespace.message, Namespace.taken]
            ).sorted { ($0.time, $0.id) < ($1.time, $1.id) }
            return Array((isWaiting ? messages : messages.reversed()).prefix(limit))
        }
    }

    private static func messages(
        of install: String, in state: StateReader, _ namespaces: [String] = [Namespace.message, Namespace.taken]
    ) throws -> [InstallMessage] {
        let prefix = GatewayState.key(install) + "\n"
        return try namespaces.flatMap { try state.rows($0, prefix: prefix) }
            .compactMap { $0.decoded(InstallMessage.self) }
    }

    /// Marks messages as fetched by an install. Repeating it is harmless.
    package func take(_ ids: [String], by install: String, at time: Timestamp) async throws {
        try await store.update { state, step in
            for id in Set(ids) {
                let key = GatewayState.key(install, id)
                guard var message = try state.row(Namespace.message, key)?.decoded(InstallMessage.self) else {
                    continue
                }
                message.taken = time
                step.set(Namespace.message, key, to: nil)
                step.changes.append(try Self.change(saving: message, in: Namespace.taken))
            }
        }
    }

    // MARK: - Kumulos' own SDK

    /// Returns the messages for a user of an app with Kumulos' own SDK, oldest first.
    ///
    /// That SDK asks for the messages of a user and does not name its install, so that each phone of the user gets
    /// them. The SDK reports each message that it has stored. Until then, it gets the message with each answer,
    /// whatever its clock says, and recognizes it by its number. A message that was opened on one phone is over.
    ///
    /// - Parameters:
    ///   - user: the user, or the install if it has none.
    ///   - app: the app.
    ///   - isUpdate: true to leave out messages that all phones of the user have stored, except for phones that are no
    ///     longer used; false for a phone that has stored nothing yet.
    ///   - limit: the most messages to return; if there are more, the newest.
    package func messages(
        to user: String, of app: String, isUpdate: Bool, limit: Int
    ) async throws(EventStoreError) -> [InstallMessage] {
        try await store.readState { state in
            let phones = try Self.phones(of: user, of: app, in: state)
            // A phone that was replaced never reports again.
            let newest = phones.map(\.last.seconds).max() ?? 0
            let used = Set(phones.filter { $0.last.seconds >= newest - Self.longestAbsence }.map(\.id))
            let messages = try phones.flatMap { try Self.messages(of: $0.id, in: state) }.filter { message in
                guard !message.isDone, message.user == nil || message.user == user else { return false }
                return !isUpdate || !used.isSubset(of: message.receipts?.delivered.keys.map { $0 } ?? [])
            }
            return messages.sorted { ($0.time, $0.id) < ($1.time, $1.id) }.suffix(limit)
        }
    }

    /// The seconds without an event after which a phone is no longer used, while another of its user is.
    private static let longestAbsence = 30.0 * 24 * 3600

    /// Returns the installs of a user, or the install of that name.
    private static func phones(of user: String, of app: String, in state: StateReader) throws -> [Install] {
        // Decode only rows that contain the name: an app can have thousands of installs.
        let member = try JSONEncoder.sorted.encode(["user": user]).dropFirst().dropLast()
        var found = try state.rows(Namespace.install, of: GatewayState.part(app)).compactMap { row -> Install? in
            guard row.value.range(of: member) != nil, let install = row.decoded(Install.self) else { return nil }
            return install.user == user && install.app == app ? install : nil
        }
        if let install = try state.row(Namespace.install, GatewayState.key(user))?.decoded(Install.self),
            install.app == app, install.user != user
        {
            found.append(install)
        }
        return found
    }

    /// Returns the changes that note what apps reported about messages.
    static func changes(noting receipts: [MessageReceipt], in state: StateReader) throws -> [StateChange] {
        var known: [People.Name: [InstallMessage]] = [:]
        var changes: [StateChange] = []
        for receipt in receipts {
            let name = receipt.name
            if known[name] == nil {
                // The store may not have the install's new user yet.
                let phones = Set(try phones(of: name.user, of: name.app, in: state).map(\.id) + [receipt.install])
                known[name] = try phones.sorted().flatMap { try messages(of: $0, in: state) }
            }
            for index in known[name, default: []].indices where receipt.note(on: &known[name, default: []][index]) {
                guard let message = known[name]?[index] else { continue }
                let isStored = message.receipts?.delivered[message.install] != nil
                let isOver = message.isDone || isStored
                if isOver {
                    let key = GatewayState.key(message.install, message.id)
                    changes.append(StateChange(namespace: Namespace.message, key: key, value: nil))
                }
                changes.append(try change(saving: message, in: isOver ? Namespace.taken : Namespace.message))
            }
        }
        return changes
    }
}
