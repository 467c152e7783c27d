internal import BeaconModel
internal import BeaconMonitoring
internal import BeaconRadio

/// The object through which an app learns whether Bluetooth is on, and which devices are nearby.
///
/// It scans over the source that `BEACON_SOURCE` names: a radio, a capture, a simulation, or the air that processes
/// share. Connecting to devices does nothing, which is logged once.
///
/// iOS hides the data of iBeacons from Core Bluetooth, which reports such a device without its manufacturer data, and
/// macOS does not. It is as on iOS unless the environment has `BEACON_CORE_BLUETOOTH=macos`. Core Location finds
/// beacons in both cases.
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
    private let scanner: Scanner

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
        let core = ManagerCore(center: .current, queue: queue)
        scanner = Scanner(center: core.center, context: core.context)
        super.init(core: core)
        let reference = WeakReference(self)
        core.begin { state in
            guard let manager = reference.object else { return }
            // Below powered on, a scan is over (Core Bluetooth, centralManagerDidUpdateState(_:)).
            if state != .poweredOn { manager.scanner.stop() }
            manager.delegates.delegateOrHold()?.centralManagerDidUpdateState(manager)
        }
    }

    /// A Boolean value that says that devices are looked for.
    open var isScanning: Bool { scanner.isScanning }

    /// Returns false: this device has none of the features.
    open class func supports(_ features: Feature) -> Bool { false }

    /// Looks for devices from now on. The scan before, if any, is over. Each device is reported by
    /// `centralManager(_:didDiscover:advertisementData:rssi:)`.
    ///
    /// Devices are asked for their scan responses, so that names come that are not in the adverts themselves. The RSSI
    /// of an advert without one is 127. A key is missing where the source does not know its value: bluetoothd does not
    /// say whether a device can be connected to.
    ///
    /// - Parameters:
    ///   - serviceUUIDs: the services of which a device has to have one; nil or none for every device.
    ///   - options: ``CBCentralManagerScanOptionAllowDuplicatesKey`` reports each advert; without it, a device is
    ///     reported once, and again when it says what it did not say before.
    ///     ``CBCentralManagerScanOptionSolicitedServiceUUIDsKey`` finds devices that look for these services.
    open func scanForPeripherals(withServices serviceUUIDs: [CBUUID]?, options: [String: Any]? = nil) {
        guard acceptsCommands() else { return }
        scanner.start(ScanRequest(services: serviceUUIDs, options: options), for: self)
    }

    /// Looks for devices no longer.
    open func stopScan() {
        guard acceptsCommands() else { return }
        scanner.stop()
    }

    /// Connects to a device. Does nothing, which is logged once.
    open func connect(_ peripheral: CBPeripheral, options: [String: Any]? = nil) { refuse("Connecting to devices") }

    /// Ends a connection. There is none.
    open func cancelPeripheralConnection(_ peripheral: CBPeripheral) { _ = acceptsCommands() }

    /// Returns the devices of identifiers that scans have given, in this launch or another. Identifiers of other
    /// systems are passed over.
    open func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [CBPeripheral] {
        identifiers.compactMap { DeviceAddress(identifier: $0) }.map { scanner.peripheral(at: $0) }
    }

    /// Returns devices that are connected; there are none.
    open func retrieveConnectedPeripherals(withServices serviceUUIDs: [CBUUID]) -> [CBPeripheral] { [] }

    /// Asks for the events of connections. Does nothing, which is logged once.
    open func registerForConnectionEvents(options: [CBConnectionEventMatchingOption: Any]? = nil) {
        refuse("Connecting to devices")
    }

    private func refuse(_ command: String) {
        guard acceptsCommands() else { return }
        BluetoothLog.once("\(command) is not possible here and does nothing.")
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
