/// What a `CBCentralManager` tells its app.
///
/// As in Apple's SDK only the first method is required. The others are never called here, since central managers only tell
/// whether Bluetooth is on.
public protocol CBCentralManagerDelegate: NSObjectProtocol {
    /// Whether Bluetooth can be used is known, or has changed. Called once soon after a manager is made.
    func centralManagerDidUpdateState(_ central: CBCentralManager)

    /// iOS restores the manager. Never called.
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any])

    /// A device was found. Never called.
    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber)

    /// A device was connected. Never called.
    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral)

    /// A device could not be connected. Never called.
    func centralManager(
        _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?)

    /// A connection ended. Never called.
    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?)

    /// A connection ended, and may come back by itself. Never called.
    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: (any Error)?)

    /// A connection began or ended. Never called.
    func centralManager(
        _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral)

    /// Whether a device may read the notification centre changed. Never called.
    func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral)
}
