public import BeaconRadio

/// What can be asked of a center without waiting: how things stood when it last did something.
public struct CenterSnapshot: Sendable {
    /// The regions that the application monitors, in the order in which they were added.
    public var regions: [RegisteredRegion] = []

    /// What the application may know.
    public var authorization = AuthorizationStatus.notDetermined

    /// What the radio can do.
    public var radio = RadioState.unknown
}
