/// What a `CBPeripheral` tells its app. Nothing here connects, so none of it is ever called; the protocol lets classes that
/// conform to it compile.
public protocol CBPeripheralDelegate: NSObjectProtocol {
    /// The device has a new name.
    func peripheralDidUpdateName(_ peripheral: CBPeripheral)

    /// The device's services changed.
    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService])

    /// The signal was read, in dBm.
    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?)

    /// Services were found.
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?)

    /// Services within a service were found.
    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?)

    /// Characteristics were found.
    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?)

    /// A value was read, or changed.
    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)

    /// A value was written.
    func peripheral(
        _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?)

    /// Notifications were switched.
    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?)

    /// Descriptors were found.
    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?)

    /// A descriptor was read.
    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?)

    /// A descriptor was written.
    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?)

    /// Writes without response can be sent again.
    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral)

    /// A channel was opened.
    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?)
}
