import CoreBluetooth

/// An app that says a name and a service, beside a beacon or alone, as one writes it for iOS.
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
        // The name has no place in the advert, so that it has to be asked for.
        peripheral.startAdvertising([
            CBAdvertisementDataLocalNameKey: "A sensor with a long name",
            CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "180D")],
        ])
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        Output.line("advertising \(error.map { "\($0)" } ?? "begun")")
    }
}
