internal import BeaconApplications

/// A declaration of the authorization that a part of the app needs. It requests that authorization and reports
/// obstacles.
///
/// It lasts until it is invalidated or released. On Linux, a request is put to the user of the terminal, or granted if
/// there is no terminal, unless the policy specifies otherwise. Nothing depends on holding a session: the Info.plist
/// key by which an app requires one is ignored. On a simulated device, an app that held a session must make it again
/// soon after its next launch.
public final class CLServiceSession: Sendable {
    /// The required authorization.
    public enum AuthorizationRequirement: Int, Sendable {
        /// No authorization; nothing is requested.
        case none = 0
        /// Access while the app is in use.
        case whenInUse = 1
        /// Access at any time, including launches for events.
        case always = 2
    }

    private let link: AuthorizationLink

    /// The diagnostics: the present obstacles, then each change. The sequence ends with the session.
    public let diagnostics: CLServiceSession.Diagnostics

    /// Creates a session that requests an authorization.
    public init(authorization: AuthorizationRequirement) {
        let request: AuthorizationRequest? =
            switch authorization {
            case .none: nil
            case .whenInUse: .whenInUse
            case .always: .always
            }
        link = AuthorizationLink(.service(request))
        diagnostics = Diagnostics(link.changes)
    }

    /// Creates a session that requests an authorization and full accuracy. Full accuracy is always granted, since
    /// distances to beacons are never reduced.
    public convenience init(authorization: AuthorizationRequirement, fullAccuracyPurposeKey: String) {
        self.init(authorization: authorization)
    }

    /// Ends the session. Granted authorizations stay.
    public func invalidate() { link.end() }
}

extension CLServiceSession {
    /// The obstacles between the app and the authorization that a session needs.
    public struct Diagnostic: Sendable {
        let obstacles: AuthorizationObstacles

        /// The app may not use location services.
        public var authorizationDenied: Bool { obstacles.contains(.denied) }

        /// Location services are off for all apps. Always false here.
        public var authorizationDeniedGlobally: Bool { obstacles.contains(.deniedGlobally) }

        /// The app may not use location services, and the user cannot change that.
        public var authorizationRestricted: Bool { obstacles.contains(.restricted) }

        /// The app is not sufficiently in use for its authorization. Always false for a service session here.
        public var insufficientlyInUse: Bool { obstacles.contains(.insufficientlyInUse) }

        /// The app has reduced accuracy, as only a simulated device can have.
        public var fullAccuracyDenied: Bool { obstacles.contains(.fullAccuracyDenied) }

        /// The session needs "always", but the app is authorized only while it is in use. Apple's documentation does
        /// not state whether this is also true after any other refusal; here it is not.
        public var alwaysAuthorizationDenied: Bool { obstacles.contains(.alwaysDenied) }

        /// The app requires a service session but holds none, which only a simulated device checks.
        public var serviceSessionRequired: Bool { obstacles.contains(.serviceSessionRequired) }

        /// A request for authorization is pending.
        public var authorizationRequestInProgress: Bool { obstacles.contains(.requestInProgress) }
    }

    /// The diagnostics of a session.
    public final class Diagnostics: AsyncSequence, Sendable {
        /// The type of the elements.
        public typealias Element = CLServiceSession.Diagnostic

        private let changes: Changes<AuthorizationObstacles>

        init(_ changes: Changes<AuthorizationObstacles>) { self.changes = changes }

        /// An iterator over the diagnostics.
        public struct Iterator: AsyncIteratorProtocol {
            private var base: AsyncStream<AuthorizationObstacles>.Iterator

            init(_ changes: Changes<AuthorizationObstacles>) { base = changes.listen().makeAsyncIterator() }

            /// Returns the present obstacles, then the next change; nil once the session or the task ends. Throws
            /// nothing at present.
            public mutating func next() async throws -> CLServiceSession.Diagnostic? {
                await base.next().map(CLServiceSession.Diagnostic.init)
            }
        }

        /// Returns an iterator, which starts to follow the session.
        public func makeAsyncIterator() -> Iterator { Iterator(changes) }
    }
}
