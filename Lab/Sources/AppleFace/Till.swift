import CoreBluetooth
import CoreLocation

/// An app that turns its device into a beacon, written as for iOS.
final class Till: NSObject, CBPeripheralManagerDelegate {
    private let region: CLBeaconRegion
    private var peripheralManager: CBPeripheralManager?

    init(_ region: CLBeaconRegion) {
        self.region = region
        super.init()
        peripheralManager = CBPeripheralManager(delegate: self, queue: nil)
    }

    /// Ends the beacon.
    func close() { peripheralManager?.stopAdvertising() }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        Output.line("state \(peripheral.state.rawValue)")
        guard peripheral.state == .poweredOn else { return }
        peripheral.startAdvertising(region.peripheralData(withMeasuredPower: nil) as? [String: Any])
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        Output.line("advertising \(error.map { "\($0)" } ?? "begun")")
    }
}
