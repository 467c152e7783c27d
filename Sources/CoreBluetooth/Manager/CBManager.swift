internal import BeaconMonitoring
internal import BeaconRadio
@_exported public import Foundation

/// The common base of the managers, which report the state of Bluetooth.
///
/// Managers belong to the radio that `BEACON_SOURCE` names. They may be called from any thread.
open class CBManager: NSObject {
    let core: ManagerCore

    /// Creates a manager that receives nothing so far.
    init(core: ManagerCore) {
        self.core = core
        super.init()
    }

    /// The state of Bluetooth: ``CBManagerState/unknown`` at first, and then the last that was delivered to the
    /// delegate.
    open var state: CBManagerState { CBManagerState(core.state) }

    /// The app's permission to use Bluetooth: on Linux the user is not asked, so that it may unless the radio refuses.
    open class var authorization: CBManagerAuthorization { authorization(in: .current) }

    /// The app's permission to use Bluetooth.
    @available(*, deprecated, message: "Use the class property.")
    open var authorization: CBManagerAuthorization { Self.authorization(in: core.center) }

    private static func authorization(in center: BeaconCenter) -> CBManagerAuthorization {
        center.snapshot.radio == .unauthorized ? .denied : .allowedAlways
    }

    /// Returns true where commands can be accepted. Where they cannot, that is logged, as Apple's systems do.
    func acceptsCommands() -> Bool {
        if core.state == .poweredOn { return true }
        BluetoothLog.misuse(of: self)
        return false
    }
}

/// The state of Bluetooth. Only in ``poweredOn`` do managers accept commands.
public enum CBManagerState: Int, Sendable, BitwiseCopyable {
    /// Not known so far: the state is reported soon after a manager is made.
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

/// The app's permission to use Bluetooth.
public enum CBManagerAuthorization: Int, Sendable, BitwiseCopyable {
    /// Not decided so far.
    case notDetermined = 0

    /// Not allowed, and the user could not change that.
    case restricted = 1

    /// Not allowed: the user, here the machine's administrator, said no.
    case denied = 2

    /// Allowed at all times.
    case allowedAlways = 3
}

extension CBManagerState {
    /// Creates a state from a radio's. The two have the same cases.
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

// Core Bluetooth's header brings Foundation with it, and much code never imports it itself. Foundation brings Dispatch.
