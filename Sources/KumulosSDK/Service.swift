/// The services of Kumulos, each at an address of its own. Only ``events`` is used here.
public enum Service: CaseIterable, Sendable {
    /// Data and code of an app's own.
    case backend
    /// Reports of crashes.
    case crash
    /// Installations and their users.
    case crm
    /// Deep links.
    case ddl
    /// Events, those about beacons among them.
    case events
    /// Messages in apps.
    case iar
    /// Pictures.
    case media
    /// Push messages.
    case push
}
