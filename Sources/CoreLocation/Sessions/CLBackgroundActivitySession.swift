/// A declaration that the app uses location services in the background, with diagnostics of the obstacles.
///
/// It lasts until it is invalidated or released. A process on Linux always continues, so that the session has no other
/// effect. On a simulated device, a session that began in the foreground keeps the app awake and in use. It requests no
/// authorization.
public final class CLBackgroundActivitySession: Sendable {
    private let link: AuthorizationLink

    /// The diagnostics: the present obstacles, then each change. The sequence ends with the session.
    public let diagnostics: CLBackgroundActivitySession.Diagnostics

    /// Creates a session, which starts at once.
    public init() {
        link = AuthorizationLink(.backgroundActivity)
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

        /// Location services are off for all apps. Always false here.
        public var authorizationDeniedGlobally: Bool { obstacles.contains(.deniedGlobally) }

        /// The app may not use location services, and the user cannot change that.
        public var authorizationRestricted: Bool { obstacles.contains(.restricted) }

        /// The session was started in the background, which only a simulated device has.
        public var insufficientlyInUse: Bool { obstacles.contains(.insufficientlyInUse) }

        /// The app requires a service session but holds none, which only a simulated device checks.
        public var serviceSessionRequired: Bool { obstacles.contains(.serviceSessionRequired) }

        /// A request for authorization is pending.
        public var authorizationRequestInProgress: Bool { obstacles.contains(.requestInProgress) }
    }

    /// The diagnostics of a session.
    public final class Diagnostics: AsyncSequence, Sendable {
        /// The type of the elements.
        public typealias Element = CLBackgroundActivitySession.Diagnostic

        private let changes: Changes<AuthorizationObstacles>

        init(_ changes: Changes<AuthorizationObstacles>) { self.changes = changes }

        /// An iterator over the diagnostics.
        public struct Iterator: AsyncIteratorProtocol {
            private var base: AsyncStream<AuthorizationObstacles>.Iterator

            init(_ changes: Changes<AuthorizationObstacles>) { base = changes.listen().makeAsyncIterator() }

            /// Returns the present obstacles, then the next change; nil once the session or the task ends. Throws
            /// nothing at present.
            public mutating func next() async throws -> CLBackgroundActivitySession.Diagnostic? {
                await base.next().map(CLBackgroundActivitySession.Diagnostic.init)
            }
        }

        /// Returns an iterator, which starts to follow the session.
        public func makeAsyncIterator() -> Iterator { Iterator(changes) }
    }
}
