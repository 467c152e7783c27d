/// What a `CBPeripheralManager` tells its app.
///
/// As in Apple's SDK only the first method is required. The others have defaults that do nothing, since Swift has optional
/// methods only with the Objective-C runtime. A method in a subclass of the class that declares the conformance, and a
/// method whose signature differs in the least, is not called.
public protocol CBPeripheralManagerDelegate: NSObjectProtocol {
    /// Whether Bluetooth can be used is known, or has changed. Called once soon after a manager is made.
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager)

    /// iOS restores the manager. Never called: nothing is restored here.
    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any])

    /// Advertising began, or could not. The error is nil, or a ``CBError``.
    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?)

    /// A service was taken in, or could not be. The error is nil, or a ``CBError``.
    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?)

    /// A central asked for notifications. Never called: no central connects here.
    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic)

    /// A central wants no more notifications. Never called: no central connects here.
    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic)

    /// There is room for notifications again. Never called: no central connects here.
    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager)

    /// A central wants to read. Never called: no central connects here.
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest)

    /// A central wants to write. Never called: no central connects here.
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest])

    /// A channel is offered, or could not be. Never called.
    func peripheralManager(
        _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?)

    /// A channel is no longer offered. Never called.
    func peripheralManager(
        _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?)

    /// A channel was opened. Never called.
    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?)
}
