package import BeaconGateway

/// The browsers that have shown the token, or came by a link of `beacond open`. They stay signed in over restarts of
/// beacond, for a month or until the token is another.
package struct WebSessions: Sendable {
    /// The hash of the token; nil where none is needed.
    let tokenHash: String?
    let access: ConsoleAccess

    /// Creates the sessions.
    ///
    /// - Parameters:
    ///   - tokenHash: the hash of the token; nil where none is needed.
    ///   - access: the stored sessions.
    package init(tokenHash: String?, access: ConsoleAccess) {
        (self.tokenHash, self.access) = (tokenHash, access)
    }

    /// Begins a session.
    ///
    /// - Returns: its name, which nobody can guess.
    /// - Throws: an error where it cannot be kept.
    func begin() async throws -> String {
        let name = AccessToken()
        try await access.addSession(name.hash, for: tokenHash)
        return name.text
    }

    /// Returns true for the name of a session.
    ///
    /// - Throws: an error where that cannot be looked up.
    func contains(_ name: String) async throws -> Bool {
        try await access.hasSession(AccessToken.hash(of: name), for: tokenHash)
    }

    /// Ends a session.
    func end(_ name: String) async throws { try await access.endSession(AccessToken.hash(of: name)) }
}
