internal import BeaconMonitoring

/// An update of the position, or the reason why there is no position; see ``liveUpdates(_:)``.
///
/// Positions are not available here: the only update has ``locationUnavailable`` set.
public struct CLLocationUpdate: Sendable {
    /// The position; always nil here.
    public let location: CLLocation?

    /// A Boolean value indicating whether the device is stationary, which is always false here.
    public let isStationary: Bool

    /// A Boolean value indicating whether no position can be determined.
    public let locationUnavailable: Bool

    /// A Boolean value indicating whether the device is stationary, which is always false here.
    public var stationary: Bool { isStationary }

    /// The obstacles to the app's authorization.
    let obstacles: AuthorizationObstacles

    /// A Boolean value indicating whether the app may not use location services.
    public var authorizationDenied: Bool { obstacles.contains(.denied) }

    /// A Boolean value indicating whether location services are off for all apps, which is always false here.
    public var authorizationDeniedGlobally: Bool { false }

    /// A Boolean value indicating whether the app may not use location services and the user cannot change that.
    public var authorizationRestricted: Bool { obstacles.contains(.restricted) }

    /// A Boolean value indicating whether the app is not sufficiently in use, which is always false here.
    public var insufficientlyInUse: Bool { false }

    /// A Boolean value indicating whether the app has reduced accuracy, which is always false here.
    public var accuracyLimited: Bool { false }

    /// A Boolean value indicating whether a service session is missing, which is always false here.
    public var serviceSessionRequired: Bool { false }

    /// A Boolean value indicating whether a request for permission is pending.
    public var authorizationRequestInProgress: Bool { obstacles.contains(.requestInProgress) }

    /// The kinds of movement for which positions can be optimized. They have no effect here.
    public enum LiveConfiguration: Sendable, Hashable {
        /// No particular movement.
        case `default`

        /// Driving along roads.
        case automotiveNavigation

        /// Traveling by train, boat and similar means.
        case otherNavigation

        /// Walking, running or cycling.
        case fitness

        /// Flying.
        case airborne

        /// On the water.
        case maritime
    }

    /// Returns the updates of the position: a single update without a position, which reports the app's authorization.
    public static func liveUpdates(_ configuration: LiveConfiguration = .default) -> Updates {
        Updates(center: .current)
    }

    /// The updates of the position.
    public struct Updates: AsyncSequence, Sendable {
        /// The type of the elements.
        public typealias Element = CLLocationUpdate

        let center: BeaconCenter

        /// An iterator over the updates.
        public struct Iterator: AsyncIteratorProtocol {
            let center: BeaconCenter
            private var isOver = false

            init(_ center: BeaconCenter) { self.center = center }

            /// Returns an update without a position and with the current authorization, and then nil, since no other
            /// update can follow. Throws nothing.
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

        /// Returns an iterator that starts with the first update.
        public func makeAsyncIterator() -> Iterator { Iterator(center) }
    }
}
