public import BeaconModel

/// How hard a radio should listen.
public enum ScanMode: Hashable, Sendable {
    /// Not at all.
    case off
    /// Passively, for beacons of these UUIDs only, and as seldom as the radio can wake the process.
    case watching(Set<ProximityUUID>)
    /// For every advert, with its signal.
    case ranging
}
