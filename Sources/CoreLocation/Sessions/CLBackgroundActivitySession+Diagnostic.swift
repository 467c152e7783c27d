extension CLBackgroundActivitySession {
    /// What stands in the way of location services in the background.
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

        /// Somebody is being asked for authorization; here the answer comes at once.
        public var authorizationRequestInProgress: Bool { obstacles.contains(.requestInProgress) }
    }

    /// The diagnostics of a session.
    public final class Diagnostics: AsyncSequence, Sendable {
        /// What it gives.
        public typealias Element = CLBackgroundActivitySession.Diagnostic

        private let changes: Changes<AuthorizationObstacles>

        init(_ changes: Changes<AuthorizationObstacles>) { self.changes = changes }

        /// Gives one diagnostic after another.
        public struct Iterator: AsyncIteratorProtocol {
            private var base: AsyncStream<AuthorizationObstacles>.Iterator

            init(_ changes: Changes<AuthorizationObstacles>) { base = changes.listen().makeAsyncIterator() }

            /// How it is, and then the next change; nil once the session or the task ends. Nothing is thrown at present.
            public mutating func next() async throws -> CLBackgroundActivitySession.Diagnostic? {
                await base.next().map(CLBackgroundActivitySession.Diagnostic.init)
            }
        }

        /// Begins to follow.
        public func makeAsyncIterator() -> Iterator { Iterator(changes) }
    }
}
