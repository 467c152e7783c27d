extension CLServiceSession {
    /// What stands between the app and the authorization that a session needs.
    public struct Diagnostic: Sendable {
        let obstacles: AuthorizationObstacles

        /// The app may not use location services.
        public var authorizationDenied: Bool { obstacles.contains(.denied) }

        /// Location services are off for all apps, which they never are here.
        public var authorizationDeniedGlobally: Bool { obstacles.contains(.deniedGlobally) }

        /// The app may not use location services, and the user could not change that.
        public var authorizationRestricted: Bool { obstacles.contains(.restricted) }

        /// The app is not enough in use for the authorization it has, which does not come up here.
        public var insufficientlyInUse: Bool { obstacles.contains(.insufficientlyInUse) }

        /// The app asked for full accuracy and has reduced accuracy, which does not come up here.
        public var fullAccuracyDenied: Bool { obstacles.contains(.fullAccuracyDenied) }

        /// The session needs "always", and the app may only know while it is in use. Apple's documents do not say whether
        /// this is so after any refusal too; here it is not.
        public var alwaysAuthorizationDenied: Bool { obstacles.contains(.alwaysDenied) }

        /// The app said that it holds a service session and holds none, which is not looked at here.
        public var serviceSessionRequired: Bool { obstacles.contains(.serviceSessionRequired) }

        /// Somebody is being asked for authorization; here the answer comes at once.
        public var authorizationRequestInProgress: Bool { obstacles.contains(.requestInProgress) }
    }

    /// The diagnostics of a session.
    public final class Diagnostics: AsyncSequence, Sendable {
        /// What it gives.
        public typealias Element = CLServiceSession.Diagnostic

        private let changes: Changes<AuthorizationObstacles>

        init(_ changes: Changes<AuthorizationObstacles>) { self.changes = changes }

        /// Gives one diagnostic after another.
        public struct Iterator: AsyncIteratorProtocol {
            private var base: AsyncStream<AuthorizationObstacles>.Iterator

            init(_ changes: Changes<AuthorizationObstacles>) { base = changes.listen().makeAsyncIterator() }

            /// How it is, and then the next change; nil once the session or the task ends. Nothing is thrown at present.
            public mutating func next() async throws -> CLServiceSession.Diagnostic? {
                await base.next().map(CLServiceSession.Diagnostic.init)
            }
        }

        /// Begins to follow.
        public func makeAsyncIterator() -> Iterator { Iterator(changes) }
    }
}
