internal import BeaconRadio
internal import BeaconService

/// What the managers have in common: they tell whether Bluetooth can be used.
///
/// Managers belong to the radio that `BEACON_SOURCE` names. They may be called from any thread.
open class CBManager: NSObject {
    let core: ManagerCore

    /// A manager that listens to nothing yet.
    init(core: ManagerCore) {
        self.core = core
        super.init()
    }

    /// Whether Bluetooth can be used: ``CBManagerState/unknown`` at first, and then what the delegate was told last.
    open var state: CBManagerState { CBManagerState(core.state) }

    /// Whether the app may use Bluetooth: on Linux nobody is asked, so that it may unless the radio says otherwise.
    open class var authorization: CBManagerAuthorization { authorization(in: .current) }

    /// Whether the app may use Bluetooth.
    @available(*, deprecated, message: "Use the class property.")
    open var authorization: CBManagerAuthorization { Self.authorization(in: core.center) }

    private static func authorization(in center: BeaconCenter) -> CBManagerAuthorization {
        center.snapshot.radio == .unauthorized ? .denied : .allowedAlways
    }

    /// Whether commands can be taken. Where they cannot, that is logged, as Apple's systems do.
    func acceptsCommands() -> Bool {
        if core.state == .poweredOn { return true }
        BluetoothLog.misuse(of: self)
        return false
    }
}
