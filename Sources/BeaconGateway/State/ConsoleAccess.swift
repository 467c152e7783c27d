import BeaconDelivery
package import BeaconEventStore
import BeaconModel
import Foundation

/// An app that was registered in the console and may send events.
package struct RegisteredApp: Hashable, Sendable, Codable {
    package var name: String
    /// The key that identifies the app.
    package var key: String
    /// The hash of the secret that belongs to the key.
    package var secretHash: String

    package init(name: String, key: String, secretHash: String) {
        (self.name, self.key, self.secretHash) = (name, key, secretHash)
    }
}

/// The browsers that may use the console, and the apps that may send events.
package struct ConsoleAccess: Sendable {
    private typealias Namespace = GatewayState.Namespace

    /// How long a browser stays signed in.
    package static let sessionTime = Duration.seconds(30 * 86_400)

    /// How long the link of `beacond open` is valid.
    static let codeTime = Duration.seconds(600)

    /// The most apps that the console registers.
    package static let maximumApps = 1_000

    let store: EventStore

    // MARK: - Browsers

    /// Signs a browser in.
    ///
    /// - Parameters:
    ///   - hash: the hash of the session's id.
    ///   - token: the hash of the console's token. The session ends when the token changes.
    package func addSession(_ hash: String, for token: String?) async throws {
        let token = Data((token ?? "").utf8)
        try await store.update { state, step in
            for row in try state.rows(Namespace.session) where row.value != token {
                step.set(Namespace.session, row.key, to: nil)
            }
            step.set(Namespace.session, hash, to: token)
        }
    }

    /// Returns true if there is a session with this hash for a token.
    package func hasSession(_ hash: String, for token: String?) async throws(EventStoreError) -> Bool {
        guard let row = try await store.state(Namespace.session, hash) else { return false }
        return row.value == Data((token ?? "").utf8) && isWithin(Self.sessionTime, row)
    }

    /// Signs a browser out.
    package func endSession(_ hash: String) async throws(EventStoreError) {
        try await store.append(Step(changes: [StateChange(namespace: Namespace.session, key: hash, value: nil)]))
    }

    /// Uses a code of a ``ConsoleLink``, which makes it invalid.
    ///
    /// - Returns: false if the code is unknown or expired.
    package func use(code hash: String) async throws -> Bool {
        try await store.update { state, step in
            guard let row = try state.row(Namespace.code, hash) else { return false }
            step.set(Namespace.code, hash, to: nil)
            return isWithin(Self.codeTime, row)
        }
    }

    private func isWithin(_ time: Duration, _ row: StateRow) -> Bool {
        row.modified >= store.wallTime.advanced(by: -time.clampedNanoseconds)
    }

    // MARK: - Apps

    /// Returns the apps that were registered in the console.
    package func apps() async throws(EventStoreError) -> [RegisteredApp] {
        try await store.state(Namespace.app).compactMap { $0.decoded() }
    }

    /// Adds an app.
    ///
    /// - Returns: false if the name exists, or there are too many apps.
    package func add(_ app: RegisteredApp) async throws -> Bool {
        try await store.update { state, step in
            let key = GatewayState.key(app.name)
            let known = try state.rows(Namespace.app, limit: Self.maximumApps)
            guard known.count < Self.maximumApps, !known.contains(where: { $0.key == key }) else { return false }
            step.changes.append(try StateChange(Namespace.app, key, app))
            return true
        }
    }

    /// Removes an app. Its events are no longer accepted; its installs stay.
    ///
    /// - Returns: false for an unknown name.
    package func remove(app name: String) async throws -> Bool {
        try await store.update { state, step in
            let key = GatewayState.key(name)
            step.set(Namespace.app, key, to: nil)
            return try state.row(Namespace.app, key) != nil
        }
    }
}
