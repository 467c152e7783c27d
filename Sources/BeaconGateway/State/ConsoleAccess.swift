import BeaconDelivery
package import BeaconEventStore
import BeaconModel
import Foundation

/// An app whose events are taken, as the console made it.
package struct RegisteredApp: Hashable, Sendable, Codable {
    package var name: String
    /// The key by which it is known.
    package var key: String
    /// The hash of the secret that goes with it.
    package var secretHash: String

    package init(name: String, key: String, secretHash: String) {
        (self.name, self.key, self.secretHash) = (name, key, secretHash)
    }
}

/// The browsers that may use the console, and the apps that may send events.
package struct ConsoleAccess: Sendable {
    private typealias Namespace = GatewayState.Namespace

    /// The time for which a browser is signed in.
    package static let sessionTime = Duration.seconds(30 * 86_400)

    /// The time within which the link of `beacond open` has to be used.
    static let codeTime = Duration.seconds(600)

    /// The most apps that the console makes.
    package static let mostApps = 1_000

    let store: EventStore

    // MARK: - Browsers

    /// Signs a browser in.
    ///
    /// - Parameters:
    ///   - hash: the hash of the session's name.
    ///   - token: the hash of the console's token, with which the session ends.
    package func addSession(_ hash: String, for token: String?) async throws {
        let token = Data((token ?? "").utf8)
        try await store.update { state, step in
            for row in try state.rows(Namespace.session) where row.value != token {
                step.set(Namespace.session, row.key, to: nil)
            }
            step.set(Namespace.session, hash, to: token)
        }
    }

    /// Returns true for the hash of a session's name, of a token.
    package func hasSession(_ hash: String, for token: String?) async throws(EventStoreError) -> Bool {
        guard let row = try await store.state(Namespace.session, hash) else { return false }
        return row.value == Data((token ?? "").utf8) && isWithin(Self.sessionTime, row)
    }

    /// Signs a browser out.
    package func endSession(_ hash: String) async throws(EventStoreError) {
        try await store.append(Step(changes: [StateChange(namespace: Namespace.session, key: hash, value: nil)]))
    }

    /// Uses a code that ``ConsoleLink`` made, which then is used up.
    ///
    /// - Returns: false where there is no such code, or its time is over.
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

    /// Returns the apps that the console made.
    package func apps() async throws(EventStoreError) -> [RegisteredApp] {
        try await store.state(Namespace.app).compactMap { $0.decoded() }
    }

    /// Adds an app.
    ///
    /// - Returns: false where there is one of this name, or there are too many.
    package func add(_ app: RegisteredApp) async throws -> Bool {
        try await store.update { state, step in
            let key = GatewayState.key(app.name)
            let known = try state.rows(Namespace.app, limit: Self.mostApps)
            guard known.count < Self.mostApps, !known.contains(where: { $0.key == key }) else { return false }
            step.changes.append(try StateChange(Namespace.app, key, app))
            return true
        }
    }

    /// Removes an app, whose events are taken no longer. Its installs stay.
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
