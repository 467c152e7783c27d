import BeaconMonitoring

/// The object through which an app learns whether Bluetooth is on.
///
/// Other devices are not met here: beacons are ranged with Core Location. Looking for devices and connecting to them
/// does nothing, which is logged once, and `isScanning` stays false.
open class CBCentralManager: CBManager {
    /// The features that some devices have and others have not.
    public struct Feature: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt

        /// Creates features from their bits.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// Scanning and connecting by extended advertising.
        public static let extendedScanAndConnect = Feature(rawValue: 0x01)
    }

    private let delegates: DelegateBox<any CBCentralManagerDelegate>

    /// The object that receives events. It is not kept alive, and may be set on any thread.
    ///
    /// The first callback, of the state, waits for a delegate: one that is set late receives it, too.
    open weak var delegate: (any CBCentralManagerDelegate)? {
        get { delegates.delegate }
        set {
            guard delegates.setDelegate(newValue) else { return }
            let reference = WeakReference(self)
            core.makeCallback {
                guard let manager = reference.object else { return }
                manager.delegates.delegateForHeldCallback()?.centralManagerDidUpdateState(manager)
            }
        }
    }

    /// Creates a manager whose callbacks come on the main queue, to a delegate that is still to be set.
    public convenience init() {
        self.init(delegate: nil, queue: nil, options: nil)
    }

    /// Creates a manager that calls a delegate on a queue or, if that is nil, on the main queue.
    public convenience init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?) {
        self.init(delegate: delegate, queue: queue, options: nil)
    }

    /// Creates a manager that calls a delegate.
    ///
    /// - Parameters:
    ///   - delegate: receives the state once it is known and whenever it changes.
    ///   - queue: where callbacks are made; nil for the main queue.
    ///   - options: without effect here: no user is alerted, and nothing is restored.
    public init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil) {
        delegates = DelegateBox(delegate)
        super.init(core: ManagerCore(center: .current, queue: queue))
        let reference = WeakReference(self)
        core.begin { _ in
            guard let manager = reference.object else { return }
            manager.delegates.delegateOrHold()?.centralManagerDidUpdateState(manager)
        }
    }

    /// A Boolean value that says that devices are looked for; they are not.
    open var isScanning: Bool { false }

    /// Returns false: this device has none of the features.
    open class func supports(_ features: Feature) -> Bool { false }

    /// Looks for devices. Does nothing, which is logged once.
    open func scanForPeripherals(withServices serviceUUIDs: [CBUUID]?, options: [String: Any]? = nil) {
        refuse("Looking for devices")
    }

    /// Looks for devices no longer. There is nothing to stop.
    open func stopScan() { _ = acceptsCommands() }

    /// Connects to a device. Does nothing, which is logged once.
    open func connect(_ peripheral: CBPeripheral, options: [String: Any]? = nil) { refuse("Connecting to devices") }

    /// Ends a connection. There is none.
    open func cancelPeripheralConnection(_ peripheral: CBPeripheral) { _ = acceptsCommands() }

    /// Returns devices that were met before; there are none.
    open func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [CBPeripheral] { [] }

    /// Returns devices that are connected; there are none.
    open func retrieveConnectedPeripherals(withServices serviceUUIDs: [CBUUID]) -> [CBPeripheral] { [] }

    /// Asks for the events of connections. Does nothing, which is logged once.
    open func registerForConnectionEvents(options: [CBConnectionEventMatchingOption: Any]? = nil) {
        refuse("Connecting to devices")
    }

    private func refuse(_ command: String) {
        guard acceptsCommands() else { return }
        BluetoothLog.once("\(command) is not possible here and does nothing; range beacons with Core Location.")
    }
}

/// The state of a central manager before iOS 10: a type of its own with the cases of ``CBManagerState``.
@available(*, deprecated, message: "Use CBManagerState.")
public enum CBCentralManagerState: Int, Sendable, BitwiseCopyable {
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

/// An option of connection events. Nothing here connects.
public struct CBConnectionEventMatchingOption: RawRepresentable, Hashable, Sendable {
    /// The option's name.
    public let rawValue: String

    /// Creates an option from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Devices that have one of these services: an array of ``CBUUID``.
    public static let serviceUUIDs = CBConnectionEventMatchingOption(rawValue: "serviceUUIDs")

    /// These devices: an array of `UUID`.
    public static let peripheralUUIDs = CBConnectionEventMatchingOption(rawValue: "peripheralUUIDs")
}

/// The events of a connection. Nothing here connects.
public enum CBConnectionEvent: Int, Sendable, BitwiseCopyable {
    /// The connection ended.
    case peerDisconnected = 0

    /// The connection began.
    case peerConnected = 1
}
