package import BeaconEventStore
package import BeaconModel
package import BeaconSupport
import Foundation

/// An install of an app, with its user.
package struct Install: Hashable, Sendable {
    package var id: String
    package var app: String
    package var user: String?
    /// The times of its first and its last event.
    package var first: Timestamp
    package var last: Timestamp
    package var events: Int
    /// The user's attributes, as the app sent them.
    package var attributes: [String: String] = [:]
    /// The number of messages that wait for it.
    package var waiting = 0
}

/// Attributes and messages are stored separately.
extension Install: Codable {
    enum CodingKeys: CodingKey { case id, app, user, first, last, events }
}

/// The installs of apps, with their users and their messages.
package struct StoredPeople: Sendable {
    typealias Namespace = GatewayState.Namespace

    let store: EventStore
    /// Signaled when there are new messages for installs.
    package let newMessages = AsyncSignal()

    // MARK: - Installs

    /// Returns the installs with the most recent events.
    package func installs(limit: Int) async throws(EventStoreError) -> [Install] {
        try await store.readState { state in
            let waiting = try state.counts(Namespace.message)
            return try state.newest(Namespace.install, limit: limit).compactMap { row in
                guard var install = try Self.install(row, in: state) else { return nil }
                install.waiting = waiting[GatewayState.part(install.id)] ?? 0
                return install
            }
        }
    }

    /// Returns installs by their identifiers.
    package func installs(_ ids: Set<String>) async throws(EventStoreError) -> [String: Install] {
        guard !ids.isEmpty else { return [:] }
        return try await store.readState { try Self.installs(ids, in: $0) }
    }

    /// Returns an install with the number of its waiting messages; nil for an unknown one.
    package func install(_ id: String) async throws(EventStoreError) -> Install? {
        try await store.readState { state in
            var install = try Self.installs([id], in: state)[id]
            install?.waiting = try state.rows(Namespace.message, prefix: GatewayState.key(id) + "\n").count
            return install
        }
    }

    /// Returns the number of installs of each app.
    package func installCounts() async throws(EventStoreError) -> [String: Int] {
        try await store.readState { try $0.counts(Namespace.install) }
    }

    static func installs(_ ids: Set<String>, in state: StateReader) throws -> [String: Install] {
        var installs: [String: Install] = [:]
        for id in ids {
            installs[id] = try state.row(Namespace.install, GatewayState.key(id)).flatMap { try install($0, in: state) }
        }
        return installs
    }

    private static func install(_ row: StateRow, in state: StateReader) throws -> Install? {
        guard var install = row.decoded(Install.self) else { return nil }
        if let user = install.user { install.attributes = try attributes(of: user, of: install.app, in: state) }
        return install
    }

    /// Returns the attributes of an app's user.
    static func attributes(of user: String, of app: String, in state: StateReader) throws -> [String: String] {
        try state.row(Namespace.person, GatewayState.key(app, user))?.decoded() ?? [:]
    }

    /// Returns the changes that store an install and the attributes of its user.
    static func changes(saving install: Install) throws -> [StateChange] {
        let app = GatewayState.part(install.app)
        let change = try StateChange(Namespace.install, GatewayState.key(install.id), install, sender: app)
        guard let user = install.user else { return [change] }
        return [change] + (try changes(saving: .attributes(.init(app: install.app, user: user), install.attributes)))
    }

    /// Returns the changes that store what events have changed.
    static func changes(saving change: People.Change) throws -> [StateChange] {
        switch change {
        case .install(let install): try changes(saving: install)
        case .attributes(let name, let attributes):
            [
                try StateChange(
                    Namespace.person, GatewayState.key(name.app, name.user), attributes,
                    sender: GatewayState.part(name.app))
            ]
        }
    }

    /// Deletes an install and its messages, and its user unless another install has the same user.
    ///
    /// - Returns: false for an unknown install.
    package func forget(install id: String) async throws -> Bool {
        try await store.update { state, step in
            let key = GatewayState.key(id)
            for namespace in [Namespace.message, Namespace.taken] {
                for row in try state.rows(namespace, prefix: key + "\n") { step.set(namespace, row.key, to: nil) }
            }
            guard let install = try state.row(Namespace.install, key)?.decoded(Install.self) else { return false }
            step.set(Namespace.install, key, to: nil)
            let app = GatewayState.part(install.app)
            try Self.forgetUsers(of: app, except: id, in: state, &step)
            return true
        }
    }

    /// Deletes the users of an app that no install names as its current user.
    private static func forgetUsers(
        of app: String, except id: String? = nil, in state: StateReader, _ step: inout Step
    ) throws {
        let users = try state.rows(Namespace.install, of: app).lazy.compactMap { $0.decoded(Install.self) }
            .filter { $0.id != id }
            .compactMap { install in install.user.map { GatewayState.key(install.app, $0) } }
        let kept = Set(users)
        for row in try state.rows(Namespace.person, of: app) where !kept.contains(row.key) {
            step.set(Namespace.person, row.key, to: nil)
        }
    }

    /// Deletes the users and messages of installs that the store's limits have removed.
    func forgetOrphans() async throws {
        try await store.update { state, step in
            let installs = Set(
                try state.rows(Namespace.install, limit: .max).compactMap { $0.decoded(Install.self) }
                    .map { GatewayState.part($0.id) })
            for namespace in [Namespace.message, Namespace.taken] {
                for sender in try state.counts(namespace).keys where !installs.contains(sender) {
                    for row in try state.rows(namespace, of: sender) { step.set(namespace, row.key, to: nil) }
                }
            }
            for app in try state.counts(Namespace.person).keys { try Self.forgetUsers(of: app, in: state, &step) }
        }
    }
}
