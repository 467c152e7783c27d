import CoreBluetooth

/// An app that searches for devices, written as for iOS. It prints each call of its delegate.
final class Finder: NSObject, CBCentralManagerDelegate {
    private var centralManager: CBCentralManager?

    override init() {
        super.init()
        centralManager = CBCentralManager(delegate: self, queue: nil)
    }

    /// Ends the scan.
    func close() { centralManager?.stopScan() }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        Output.line("state \(central.state.rawValue)")
        if central.state == .poweredOn { central.scanForPeripherals(withServices: [CBUUID(string: "180D")]) }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        Output.line("found \(peripheral.name ?? "a device without a name") rssi \(RSSI)")
    }
}
