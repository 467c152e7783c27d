internal import BeaconModel
internal import BeaconMonitoring
internal import BeaconRadio

/// A manager that reports whether Bluetooth is on, and which devices are nearby.
///
/// It scans over the source in `BEACON_SOURCE`: a radio, a capture, a simulation, or the shared air. Connecting to
/// devices does nothing, which is logged once.
///
/// iOS hides the data of iBeacons from Core Bluetooth, and reports such devices without manufacturer data; macOS does
/// not. The default here is iOS's behavior; set `BEACON_CORE_BLUETOOTH=macos` in the environment for the other. Core
/// Location finds beacons in both cases.
open class CBCentralManager: CBManager {
    /// Features that some devices have.
    public struct Feature: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt

        /// Creates features from their bits.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// Scanning and connecting with extended advertising.
        public static let extendedScanAndConnect = Feature(rawValue: 0x01)

        /// Measuring distances to connected devices.
        public static let channelSounding = Feature(rawValue: 0x02)
    }

    private let delegates: DelegateBox<any CBCentralManagerDelegate>
    private let part: AppPart<Scanner>

    /// The object that receives events. The reference is weak, and any thread may set it.
    ///
    /// The first callback, for the state, waits until a delegate is set.
    open weak var delegate: (any CBCentralManagerDelegate)? {
        get { delegates.delegate }
        set {
            guard delegates.setDelegate(newValue.map { new in { [weak new] in new } }) else { return }
            let reference = WeakReference(self)
            core.makeCallback {
                guard let manager = reference.object else { return }
                manager.delegates.delegateForHeldCallback()?.centralManagerDidUpdateState(manager)
            }
        }
    }

    /// Creates a manager that makes callbacks on the main queue, without a delegate.
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
    ///   - queue: the queue for callbacks; nil for the main queue.
    ///   - options: no effect here: no user is alerted, and nothing is restored.
    public init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil) {
        delegates = DelegateBox(delegate.map { new in { [weak new] in new } })
        part = AppPart(of: "a CBCentralManager") { Scanner(ManagerCore(center: $0, queue: queue)) }
        super.init(())
        let reference = WeakReference(self)
        part.begin { scanner in
            scanner.core.begin { [weak scanner] state in
                guard let manager = reference.object else { return }
                // Below powered on, a scan has ended (Core Bluetooth, centralManagerDidUpdateState(_:)).
                if state != .poweredOn { scanner?.stop() }
                manager.delegates.delegateOrHold()?.centralManagerDidUpdateState(manager)
            }
        }
    }

    private var scanner: Scanner { part.current }

    override var core: ManagerCore { scanner.core }

    /// A Boolean value indicating whether the manager is scanning.
    open var isScanning: Bool { scanner.isScanning }

    /// Returns false: this device has none of the features.
    open class func supports(_ features: Feature) -> Bool { false }

    /// Starts a scan, which replaces the previous one. `centralManager(_:didDiscover:advertisementData:rssi:)` reports
    /// each device.
    ///
    /// The radio requests scan responses, which may contain names that the adverts lack. The RSSI is 127 if the advert
    /// has none. A key is missing if the source does not know its value: bluetoothd does not report whether a device is
    /// connectable.
    ///
    /// - Parameters:
    ///   - serviceUUIDs: the services of which a device must have one; nil or empty for every device.
    ///   - options: ``CBCentralManagerScanOptionAllowDuplicatesKey`` reports each advert. Without it, a device is
    ///     reported once, and again if it advertises additional data.
    ///     ``CBCentralManagerScanOptionSolicitedServiceUUIDsKey`` finds devices that solicit these services.
    open func scanForPeripherals(withServices serviceUUIDs: [CBUUID]?, options: [String: Any]? = nil) {
        guard acceptsCommands() else { return }
        scanner.start(ScanRequest(services: serviceUUIDs, options: options), for: self)
    }

    /// Stops the scan.
    open func stopScan() {
        guard acceptsCommands() else { return }
        scanner.stop()
    }

    /// Connects to a device. Does nothing, which is logged once.
    open func connect(_ peripheral: CBPeripheral, options: [String: Any]? = nil) { refuse("Connecting to devices") }

    /// Ends a connection. Does nothing, since there are no connections.
    open func cancelPeripheralConnection(_ peripheral: CBPeripheral) { _ = acceptsCommands() }

    /// Returns the devices for identifiers from scans, in this launch or another. Identifiers from other systems are
    /// ignored.
    open func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [CBPeripheral] {
        identifiers.compactMap { DeviceAddress(identifier: $0) }.map { scanner.peripheral(at: $0) }
    }

    /// Returns connected devices. Always empty.
    open func retrieveConnectedPeripherals(withServices serviceUUIDs: [CBUUID]) -> [CBPeripheral] { [] }

    /// Requests connection events. Does nothing, which is logged once.
    open func registerForConnectionEvents(options: [CBConnectionEventMatchingOption: Any]? = nil) {
        refuse("Connecting to devices")
    }

    private func refuse(_ command: String) {
        guard acceptsCommands() else { return }
        BluetoothLog.once("\(command) is not possible here and does nothing.")
    }
}

/// The state of a central manager before iOS 10: a separate type with the cases of ``CBManagerState``.
@available(*, deprecated, message: "Use CBManagerState.")
public enum CBCentralManagerState: Int, Sendable, BitwiseCopyable {
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

/// An option for connection events. Nothing connects here.
public struct CBConnectionEventMatchingOption: RawRepresentable, Hashable, Sendable {
    /// The option's name.
    public let rawValue: String

    /// Creates an option from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Devices with one of these services: an array of ``CBUUID``.
    public static let serviceUUIDs = CBConnectionEventMatchingOption(rawValue: "serviceUUIDs")

    /// These devices: an array of `UUID`.
    public static let peripheralUUIDs = CBConnectionEventMatchingOption(rawValue: "peripheralUUIDs")
}

/// The events of a connection. Nothing connects here.
public enum CBConnectionEvent: Int, Sendable, BitwiseCopyable {
    /// The connection ended.
    case peerDisconnected = 0

    /// The connection started.
    case peerConnected = 1
}
