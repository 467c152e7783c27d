/// Whether the app may use Bluetooth.
public enum CBManagerAuthorization: Int, Sendable, BitwiseCopyable {
    /// Nobody has decided yet.
    case notDetermined = 0

    /// Not allowed, and the user could not change that.
    case restricted = 1

    /// Not allowed: the user, here the machine's administrator, said no.
    case denied = 2

    /// Allowed at all times.
    case allowedAlways = 3
}
