/// What an application asks for.
public enum AuthorizationRequest: Hashable, Sendable {
    /// To know of beacons while it runs.
    case whenInUse
    /// To know of beacons, and to be started for them.
    case always
}
