/// Whether an application may know of beacons.
public enum AuthorizationStatus: String, Hashable, Sendable, Codable, CaseIterable {
    /// Nobody has been asked yet.
    case notDetermined
    /// It may not, and the user cannot change that.
    case restricted
    /// It may not.
    case denied
    /// It may while it runs.
    case whenInUse
    /// It may, and may be started for an event.
    case always

    /// Whether events may be delivered.
    public var isGranted: Bool { self == .whenInUse || self == .always }
}
