internal import BeaconApplications

/// A statement of the authorization that a part of the app needs, which asks for it, with diagnostics of the obstacles.
///
/// It lasts until it is invalidated or released. On Linux the user of a terminal is asked, and a request is granted
/// without one, unless the policy says otherwise. Nothing depends on holding a session: the Info.plist key by which an
/// app demands one is not read.
public final class CLServiceSession: Sendable {
    /// The authorization that is needed.
    public enum AuthorizationRequirement: Int, Sendable {
        /// None; nothing is asked for.
        case none = 0
        /// To know while the app is in use.
        case whenInUse = 1
        /// To know, and to be started for events.
        case always = 2
    }

    private let link: AuthorizationLink

    /// The obstacles: those at first, and then each change. The sequence ends with the session.
    public let diagnostics: CLServiceSession.Diagnostics

    /// Creates a session that asks for an authorization.
    public init(authorization: AuthorizationRequirement) {
        let request: AuthorizationRequest? =
            switch authorization {
            case .none: nil
            case .whenInUse: .whenInUse
            case .always: .always
            }
        link = AuthorizationLink(asking: request)
        diagnostics = Diagnostics(link.changes)
    }

    /// Creates a session that asks for an authorization and for full accuracy, which is always given: distances to
    /// beacons are never blurred.
    public convenience init(authorization: AuthorizationRequirement, fullAccuracyPurposeKey: String) {
        self.init(authorization: authorization)
    }

    /// Ends the session. What was granted stays.
    public func invalidate() { link.end() }
}

extension CLServiceSession {
    /// The obstacles between the app and the authorization that a session needs.
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

        /// The session needs "always", and the app may only know while it is in use. Apple's documents do not say
        /// whether this is so after any refusal too; here it is not.
        public var alwaysAuthorizationDenied: Bool { obstacles.contains(.alwaysDenied) }

        /// The app said that it holds a service session and holds none, which is not looked at here.
        public var serviceSessionRequired: Bool { obstacles.contains(.serviceSessionRequired) }

        /// A request for authorization has no answer so far.
        public var authorizationRequestInProgress: Bool { obstacles.contains(.requestInProgress) }
    }

    /// The diagnostics of a session.
    public final class Diagnostics: AsyncSequence, Sendable {
        /// The elements.
        public typealias Element = CLServiceSession.Diagnostic

        private let changes: Changes<AuthorizationObstacles>

        init(_ changes: Changes<AuthorizationObstacles>) { self.changes = changes }

        /// An iterator that delivers one diagnostic after another.
        public struct Iterator: AsyncIteratorProtocol {
            private var base: AsyncStream<AuthorizationObstacles>.Iterator

            init(_ changes: Changes<AuthorizationObstacles>) { base = changes.listen().makeAsyncIterator() }

            /// Returns the present obstacles, and then the next change; nil once the session or the task ends. Nothing
            /// is thrown at present.
            public mutating func next() async throws -> CLServiceSession.Diagnostic? {
                await base.next().map(CLServiceSession.Diagnostic.init)
            }
        }

        /// Returns an iterator, which begins to follow the session.
        public func makeAsyncIterator() -> Iterator { Iterator(changes) }
    }
}
