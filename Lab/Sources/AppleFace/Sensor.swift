import CoreBluetooth

/// An app that advertises a name and a service, alone or beside a beacon, written as for iOS.
final class Sensor: NSObject, CBPeripheralManagerDelegate {
    private var peripheralManager: CBPeripheralManager?

    override init() {
        super.init()
        peripheralManager = CBPeripheralManager(delegate: self, queue: nil)
    }

    /// Ends the advert.
    func close() { peripheralManager?.stopAdvertising() }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        // The name does not fit in the advert, so receivers must request it.
        peripheral.startAdvertising([
            CBAdvertisementDataLocalNameKey: "A sensor with a long name",
            CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "180D")],
        ])
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        Output.line("advertising \(error.map { "\($0)" } ?? "begun")")
    }
}
