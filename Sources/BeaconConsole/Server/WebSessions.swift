package import BeaconGateway

/// The browsers that are signed in with the token or with a link of `beacond open`.
///
/// They stay signed in across restarts of beacond, for a month or until the token changes.
package struct WebSessions: Sendable {
    /// The hash of the token, or nil if no token is needed.
    let tokenHash: String?
    let access: ConsoleAccess

    /// Creates the sessions.
    ///
    /// - Parameters:
    ///   - tokenHash: the hash of the token, or nil if no token is needed.
    ///   - access: the stored sessions.
    package init(tokenHash: String?, access: ConsoleAccess) {
        (self.tokenHash, self.access) = (tokenHash, access)
    }

    /// Begins a session and saves it.
    ///
    /// - Returns: The session's name, which cannot be guessed.
    /// - Throws: An error if the session cannot be saved.
    func begin() async throws -> String {
        let name = AccessToken()
        try await access.addSession(name.hash, for: tokenHash)
        return name.text
    }

    /// Returns true if a session has this name.
    ///
    /// - Throws: An error if the sessions cannot be read.
    func contains(_ name: String) async throws -> Bool {
        try await access.hasSession(AccessToken.hash(of: name), for: tokenHash)
    }

    /// Ends a session.
    func end(_ name: String) async throws { try await access.endSession(AccessToken.hash(of: name)) }
}
