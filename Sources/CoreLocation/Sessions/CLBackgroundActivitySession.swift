/// A statement that the app continues with location services in the background, with diagnostics of the obstacles.
///
/// It lasts until it is invalidated or released. A process on Linux continues as long as it runs, so that nothing
/// depends on it. It asks for no authorization.
public final class CLBackgroundActivitySession: Sendable {
    private let link: AuthorizationLink

    /// The obstacles: those at first, and then each change. The sequence ends with the session.
    public let diagnostics: CLBackgroundActivitySession.Diagnostics

    /// Creates a session, which begins at once.
    public init() {
        link = AuthorizationLink(asking: nil)
        diagnostics = Diagnostics(link.changes)
    }

    /// Ends the session.
    public func invalidate() { link.end() }
}

extension CLBackgroundActivitySession {
    /// The obstacles to location services in the background.
    public struct Diagnostic: Sendable {
        let obstacles: AuthorizationObstacles

        /// The app may not use location services.
        public var authorizationDenied: Bool { obstacles.contains(.denied) }

        /// Location services are off for all apps, which they never are here.
        public var authorizationDeniedGlobally: Bool { obstacles.contains(.deniedGlobally) }

        /// The app may not use location services, and the user could not change that.
        public var authorizationRestricted: Bool { obstacles.contains(.restricted) }

        /// The session was begun in the background, which does not come up here.
        public var insufficientlyInUse: Bool { obstacles.contains(.insufficientlyInUse) }

        /// The app said that it holds a service session and holds none, which is not looked at here.
        public var serviceSessionRequired: Bool { obstacles.contains(.serviceSessionRequired) }

        /// A request for authorization has no answer so far.
        public var authorizationRequestInProgress: Bool { obstacles.contains(.requestInProgress) }
    }

    /// The diagnostics of a session.
    public final class Diagnostics: AsyncSequence, Sendable {
        /// The elements.
        public typealias Element = CLBackgroundActivitySession.Diagnostic

        private let changes: Changes<AuthorizationObstacles>

        init(_ changes: Changes<AuthorizationObstacles>) { self.changes = changes }

        /// An iterator that delivers one diagnostic after another.
        public struct Iterator: AsyncIteratorProtocol {
            private var base: AsyncStream<AuthorizationObstacles>.Iterator

            init(_ changes: Changes<AuthorizationObstacles>) { base = changes.listen().makeAsyncIterator() }

            /// Returns the present obstacles, and then the next change; nil once the session or the task ends. Nothing
            /// is thrown at present.
            public mutating func next() async throws -> CLBackgroundActivitySession.Diagnostic? {
                await base.next().map(CLBackgroundActivitySession.Diagnostic.init)
            }
        }

        /// Returns an iterator, which begins to follow the session.
        public func makeAsyncIterator() -> Iterator { Iterator(changes) }
    }
}
