internal import BeaconService

/// The object through which an app learns whether Bluetooth is on.
///
/// Other devices are not met here: beacons are ranged with Core Location. Looking for devices and connecting to them does
/// nothing, which is logged once, and `isScanning` stays false.
open class CBCentralManager: CBManager {
    /// What some devices can do and others cannot.
    public struct Feature: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt

        /// Features from their bits.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// Scanning and connecting by extended advertising.
        public static let extendedScanAndConnect = Feature(rawValue: 0x01)
    }

    private let delegates: DelegateBox<any CBCentralManagerDelegate>

    /// The object that is told of events. It is not kept alive.
    open weak var delegate: (any CBCentralManagerDelegate)? {
        get { delegates.delegate }
        set { delegates.delegate = newValue }
    }

    /// A manager whose callbacks come on the main queue, to a delegate that is still to be set.
    public convenience init() {
        self.init(delegate: nil, queue: nil, options: nil)
    }

    /// A manager that tells a delegate, on a queue or, if that is nil, on the main queue.
    public convenience init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?) {
        self.init(delegate: delegate, queue: queue, options: nil)
    }

    /// A manager that tells a delegate.
    ///
    /// - Parameters:
    ///   - delegate: is told the state once it is known and whenever it changes.
    ///   - queue: where callbacks are made; nil for the main queue.
    ///   - options: without effect here: nobody is alerted, and nothing is restored.
    public init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil) {
        delegates = DelegateBox(delegate)
        super.init(core: ManagerCore(center: .current, queue: queue))
        let reference = WeakReference(self)
        core.begin { _ in
            guard let manager = reference.object else { return }
            manager.delegate?.centralManagerDidUpdateState(manager)
        }
    }

    /// Whether devices are looked for; they are not.
    open var isScanning: Bool { false }

    /// Whether this device can do that; it cannot.
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

    /// Devices that were met before; there are none.
    open func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [CBPeripheral] { [] }

    /// Devices that are connected; there are none.
    open func retrieveConnectedPeripherals(withServices serviceUUIDs: [CBUUID]) -> [CBPeripheral] { [] }

    private func refuse(_ command: String) {
        guard acceptsCommands() else { return }
        BluetoothLog.once("\(command) is not possible here and does nothing; range beacons with Core Location.")
    }
}
