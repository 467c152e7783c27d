internal import BeaconService

/// States that the app goes on with location services in the background, and tells what stands in the way.
///
/// It lasts until it is invalidated or let go. A process on Linux goes on as long as it runs, so that nothing depends on it.
/// It asks for no authorization.
public final class CLBackgroundActivitySession: Sendable {
    private let link: AuthorizationLink

    /// What stands in the way: how it is at first, and then each change. It ends with the session.
    public let diagnostics: CLBackgroundActivitySession.Diagnostics

    /// Begins a session.
    public init() {
        link = AuthorizationLink(asking: nil)
        diagnostics = Diagnostics(link.changes)
    }

    /// Ends the session.
    public func invalidate() { link.end() }
}
