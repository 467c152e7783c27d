internal import BeaconSupport

/// A device that a central manager has found.
///
/// Nothing here connects: all that asks the device for something does nothing, and no answer comes.
open class CBPeripheral: CBPeer {
    /// The object that receives the answers. It is not kept alive.
    open weak var delegate: (any CBPeripheralDelegate)?

    /// The name that the device gives itself; nil if not known.
    open var name: String? { learnedName.withLock { $0 } }

    private let learnedName = Locked<String?>(nil)

    /// Notes the name in an advert.
    func learn(name: String) { learnedName.withLock { $0 = name } }

    /// The state of the connection: there is none.
    open var state: CBPeripheralState { .disconnected }

    /// The services found so far; nil before any search.
    open var services: [CBService]? { nil }

    /// A Boolean value that says that the device may read the notification centre. Always false.
    open var ancsAuthorized: Bool { false }

    /// A Boolean value that says that a write without response would be sent.
    open var canSendWriteWithoutResponse: Bool { false }

    /// The signal of a connection, in dBm; nil, since there is none.
    @available(*, deprecated, message: "Use readRSSI() and peripheral(_:didReadRSSI:error:).")
    open var rssi: NSNumber? { nil }

    /// Asks for the signal. Does nothing.
    open func readRSSI() {}

    /// Looks for services. Does nothing.
    open func discoverServices(_ serviceUUIDs: [CBUUID]?) {}

    /// Looks for services within a service. Does nothing.
    open func discoverIncludedServices(_ includedServiceUUIDs: [CBUUID]?, for service: CBService) {}

    /// Looks for characteristics. Does nothing.
    open func discoverCharacteristics(_ characteristicUUIDs: [CBUUID]?, for service: CBService) {}

    /// Looks for descriptors. Does nothing.
    open func discoverDescriptors(for characteristic: CBCharacteristic) {}

    /// Reads a characteristic. Does nothing.
    open func readValue(for characteristic: CBCharacteristic) {}

    /// Reads a descriptor. Does nothing.
    open func readValue(for descriptor: CBDescriptor) {}

    /// Writes a characteristic. Does nothing.
    open func writeValue(_ data: Data, for characteristic: CBCharacteristic, type: CBCharacteristicWriteType) {}

    /// Writes a descriptor. Does nothing.
    open func writeValue(_ data: Data, for descriptor: CBDescriptor) {}

    /// Returns the most bytes in one write: 20, what the smallest packet leaves.
    open func maximumWriteValueLength(for type: CBCharacteristicWriteType) -> Int { 20 }

    /// Asks for notifications. Does nothing.
    open func setNotifyValue(_ enabled: Bool, for characteristic: CBCharacteristic) {}

    /// Opens a channel. Does nothing.
    open func openL2CAPChannel(_ PSM: CBL2CAPPSM) {}
}

/// The states of a peripheral's connection.
public enum CBPeripheralState: Int, Sendable, BitwiseCopyable {
    /// Not connected.
    case disconnected = 0

    /// Being connected.
    case connecting = 1

    /// Connected.
    case connected = 2

    /// The connection is being ended.
    case disconnecting = 3
}
