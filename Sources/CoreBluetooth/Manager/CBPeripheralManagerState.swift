/// The state of a peripheral manager before iOS 10: a type of its own with the cases of ``CBManagerState``.
@available(*, deprecated, message: "Use CBManagerState.")
public enum CBPeripheralManagerState: Int, Sendable, BitwiseCopyable {
    /// Not known yet: the state is told soon after a manager is made.
    case unknown = 0

    /// The connection to the system broke off; a new state follows.
    case resetting = 1

    /// There is no Bluetooth Low Energy here.
    case unsupported = 2

    /// The app may not use Bluetooth.
    case unauthorized = 3

    /// Bluetooth is off.
    case poweredOff = 4

    /// Bluetooth is on.
    case poweredOn = 5
}
