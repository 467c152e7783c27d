internal import BeaconMonitoring
internal import BeaconRadio
@_exported public import Foundation

/// The base class of the managers, which reports the state of Bluetooth.
///
/// Managers use the radio in `BEACON_SOURCE`. They may be called from any thread.
open class CBManager: NSObject {
    /// The manager's client of the center, which each subclass has in its part.
    var core: ManagerCore { preconditionFailure("Use CBCentralManager or CBPeripheralManager.") }

    /// Creates a part of a manager of this module; no other class is a manager.
    init(_: Void) { super.init() }

    /// The state of Bluetooth: initially ``CBManagerState/unknown``, then the state that was last reported to the
    /// delegate.
    open var state: CBManagerState { CBManagerState(core.state) }

    /// The app's permission to use Bluetooth. On Linux the user is not asked: it is allowed unless the radio refuses.
    open class var authorization: CBManagerAuthorization { authorization(in: .current) }

    /// The app's permission to use Bluetooth.
    @available(*, deprecated, message: "Use the class property.")
    open var authorization: CBManagerAuthorization { Self.authorization(in: core.center) }

    private static func authorization(in center: BeaconCenter) -> CBManagerAuthorization {
        center.snapshot.radio == .unauthorized ? .denied : .allowedAlways
    }

    /// Returns true if commands are accepted. If not, that is logged, as on Apple's systems.
    func acceptsCommands() -> Bool {
        if core.state == .poweredOn { return true }
        BluetoothLog.misuse(of: self)
        return false
    }
}

/// The state of Bluetooth. Managers accept commands only in ``poweredOn``.
public enum CBManagerState: Int, Sendable, BitwiseCopyable {
    /// Not known yet: the state is reported soon after a manager is created.
    case unknown = 0

    /// The connection to the system was lost; a new state follows.
    case resetting = 1

    /// Bluetooth Low Energy is not available.
    case unsupported = 2

    /// The app may not use Bluetooth.
    case unauthorized = 3

    /// Bluetooth is off.
    case poweredOff = 4

    /// Bluetooth is on.
    case poweredOn = 5
}

/// The app's permission to use Bluetooth.
public enum CBManagerAuthorization: Int, Sendable, BitwiseCopyable {
    /// Not decided yet.
    case notDetermined = 0

    /// Not allowed, and the user cannot change that.
    case restricted = 1

    /// Not allowed: the user, or on Linux the machine's administrator, refused.
    case denied = 2

    /// Allowed at all times.
    case allowedAlways = 3
}

extension CBManagerState {
    /// Converts a radio's state, which has the same cases.
    init(_ state: RadioState) {
        self =
            switch state {
            case .unknown: .unknown
            case .resetting: .resetting
            case .unsupported: .unsupported
            case .unauthorized: .unauthorized
            case .poweredOff: .poweredOff
            case .poweredOn: .poweredOn
            }
    }
}

// Core Bluetooth's header includes Foundation, and much code never imports it itself. Foundation includes Dispatch.
