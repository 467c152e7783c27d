internal import BeaconMonitoring

/// A position among the updates that ``liveUpdates(_:)`` delivers, or the reason why there is none.
///
/// No position is known here: the only update says ``locationUnavailable``.
public struct CLLocationUpdate: Sendable {
    /// The position; there is none.
    public let location: CLLocation?

    /// A Boolean value that says that the device does not move, which is not known here.
    public let isStationary: Bool

    /// A Boolean value that says that no position can be determined.
    public let locationUnavailable: Bool

    /// A Boolean value that says that the device does not move, which is not known here.
    public var stationary: Bool { isStationary }

    /// The obstacles to the app's authorization.
    let obstacles: AuthorizationObstacles

    /// A Boolean value that says that the app may not use location services.
    public var authorizationDenied: Bool { obstacles.contains(.denied) }

    /// A Boolean value that says that location services are off for all apps, which they never are here.
    public var authorizationDeniedGlobally: Bool { false }

    /// A Boolean value that says that the app may not use location services, and that the user cannot change that.
    public var authorizationRestricted: Bool { obstacles.contains(.restricted) }

    /// A Boolean value that says that the app is not enough in use, which does not come up here.
    public var insufficientlyInUse: Bool { false }

    /// A Boolean value that says that the app has reduced accuracy, which does not come up here.
    public var accuracyLimited: Bool { false }

    /// A Boolean value that says that a service session is missing, which is not looked at here.
    public var serviceSessionRequired: Bool { false }

    /// A Boolean value that says that a request for permission has no answer yet.
    public var authorizationRequestInProgress: Bool { obstacles.contains(.requestInProgress) }

    /// The movements for which positions can be tuned. None has an effect here.
    public enum LiveConfiguration: Sendable, Hashable {
        /// Nothing in particular.
        case `default`

        /// Driving along roads.
        case automotiveNavigation

        /// Travelling by train, boat and the like.
        case otherNavigation

        /// Walking, running, cycling.
        case fitness

        /// Flying.
        case airborne
    }

    /// Returns the updates of the position: a single one without a position. It reports the app's authorization.
    public static func liveUpdates(_ configuration: LiveConfiguration = .default) -> Updates {
        Updates(center: .current)
    }

    /// The updates of the position.
    public struct Updates: AsyncSequence, Sendable {
        /// The elements.
        public typealias Element = CLLocationUpdate

        let center: BeaconCenter

        /// Delivers one update after another.
        public struct Iterator: AsyncIteratorProtocol {
            let center: BeaconCenter
            private var isOver = false

            init(_ center: BeaconCenter) { self.center = center }

            /// Returns an update without a position, with the authorization of the moment, and then nil: none can ever
            /// follow. Nothing is thrown.
            public mutating func next() async throws -> CLLocationUpdate? {
                defer { isOver = true }
                guard !isOver, !Task.isCancelled else { return nil }
                let snapshot = center.snapshot
                return CLLocationUpdate(
                    location: nil, isStationary: false, locationUnavailable: true,
                    obstacles: AuthorizationObstacles(
                        snapshot.authorization, isAsking: snapshot.isAsking, wantsAlways: false))
            }
        }

        /// Returns an iterator from the first update on.
        public func makeAsyncIterator() -> Iterator { Iterator(center) }
    }
}
