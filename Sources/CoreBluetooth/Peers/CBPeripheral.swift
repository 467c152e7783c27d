internal import BeaconSupport

/// A device that a central manager has discovered.
///
/// Nothing connects here: requests to the device do nothing, and no response follows.
open class CBPeripheral: CBPeer {
    /// The object that receives responses. The reference is weak.
    open weak var delegate: (any CBPeripheralDelegate)?

    /// The name that the device advertises; nil if unknown.
    open var name: String? { learnedName.withLock { $0 } }

    private let learnedName = Locked<String?>(nil)

    /// Stores the name from an advert.
    func learn(name: String) { learnedName.withLock { $0 = name } }

    /// The state of the connection. Always disconnected.
    open var state: CBPeripheralState { .disconnected }

    /// The discovered services. Always nil here.
    open var services: [CBService]? { nil }

    /// A Boolean value indicating whether the device may read the notification center. Always false.
    open var ancsAuthorized: Bool { false }

    /// A Boolean value indicating whether a write without response can be sent. Always false.
    open var canSendWriteWithoutResponse: Bool { false }

    /// The signal strength of the connection, in dBm. Always nil.
    @available(*, deprecated, message: "Use readRSSI() and peripheral(_:didReadRSSI:error:).")
    open var rssi: NSNumber? { nil }

    /// Reads the signal strength. Does nothing.
    open func readRSSI() {}

    /// Discovers services. Does nothing.
    open func discoverServices(_ serviceUUIDs: [CBUUID]?) {}

    /// Discovers services within a service. Does nothing.
    open func discoverIncludedServices(_ includedServiceUUIDs: [CBUUID]?, for service: CBService) {}

    /// Discovers characteristics. Does nothing.
    open func discoverCharacteristics(_ characteristicUUIDs: [CBUUID]?, for service: CBService) {}

    /// Discovers descriptors. Does nothing.
    open func discoverDescriptors(for characteristic: CBCharacteristic) {}

    /// Reads a characteristic. Does nothing.
    open func readValue(for characteristic: CBCharacteristic) {}

    /// Reads a descriptor. Does nothing.
    open func readValue(for descriptor: CBDescriptor) {}

    /// Writes a characteristic. Does nothing.
    open func writeValue(_ data: Data, for characteristic: CBCharacteristic, type: CBCharacteristicWriteType) {}

    /// Writes a descriptor. Does nothing.
    open func writeValue(_ data: Data, for descriptor: CBDescriptor) {}

    /// Returns the maximum number of bytes in a write: 20, which fit into the smallest packet.
    open func maximumWriteValueLength(for type: CBCharacteristicWriteType) -> Int { 20 }

    /// Enables or disables notifications. Does nothing.
    open func setNotifyValue(_ enabled: Bool, for characteristic: CBCharacteristic) {}

    /// Opens a channel. Does nothing.
    open func openL2CAPChannel(_ PSM: CBL2CAPPSM) {}

    /// Starts to measure the distance. Does nothing.
    open func startChannelSoundingSession(_ configuration: CBChannelSoundingSessionConfiguration) {}

    /// Ends the measurements. Does nothing.
    open func cancelChannelSoundingSession() {}
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
