internal import BeaconService

/// States which authorization a part of the app needs, asks for it, and tells what stands in its way.
///
/// It lasts until it is invalidated or let go. On Linux a request is answered at once, by the administrator's decision or
/// else by granting it. Nothing depends on holding a session: the Info.plist key by which an app demands one is not read.
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

    /// What stands in the way: how it is at first, and then each change. It ends with the session.
    public let diagnostics: CLServiceSession.Diagnostics

    /// A session that asks for an authorization.
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

    /// A session that asks for an authorization and for full accuracy, which is always given: distances to beacons are
    /// never blurred.
    public convenience init(authorization: AuthorizationRequirement, fullAccuracyPurposeKey: String) {
        self.init(authorization: authorization)
    }

    /// Ends the session. What was granted stays.
    public func invalidate() { link.end() }
}
