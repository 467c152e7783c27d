/// Whether the app may share data in the background, before iOS 13.
@available(*, deprecated, message: "Use CBManagerAuthorization.")
public enum CBPeripheralManagerAuthorizationStatus: Int, Sendable, BitwiseCopyable {
    /// Nobody has decided yet.
    case notDetermined = 0

    /// Not allowed, and the user could not change that.
    case restricted = 1

    /// Not allowed: the user, here the machine's administrator, said no.
    case denied = 2

    /// Allowed.
    case authorized = 3
}
