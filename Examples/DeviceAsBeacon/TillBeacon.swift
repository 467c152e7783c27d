import CoreBluetooth
import CoreLocation

/// Makes a beacon of the device that a till runs on, so that customers' apps know which till they stand at.
class TillBeacon: NSObject, CBPeripheralManagerDelegate {
    private let region: CLBeaconRegion
    private var peripheralManager: CBPeripheralManager?

    /// A till of a shop; it is a beacon as soon as Bluetooth is ready, and as long as the app is in the foreground.
    init(shop: CLBeaconMajorValue, till: CLBeaconMinorValue) {
        // swift-format-ignore: NeverForceUnwrap
        let chain = UUID(uuidString: "695C9AD9-34C5-451E-9147-F3D2C4F3F04C")!
        region = CLBeaconRegion(uuid: chain, major: shop, minor: till, identifier: "com.example.till")
        super.init()
        peripheralManager = CBPeripheralManager(delegate: self, queue: nil)
    }

    /// Ends the beacon.
    func close() {
        peripheralManager?.stopAdvertising()
        print("The till is closed.")
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        switch peripheral.state {
        case .poweredOn:
            print("Bluetooth is on; starting to advertise.")
            // Nil is the device's own strength at one metre. A till behind a steel counter would measure and give its
            // own.
            let data = region.peripheralData(withMeasuredPower: nil) as? [String: Any]
            peripheral.startAdvertising(data)
        case .poweredOff:
            // It has ended with the radio, and has to be started again when that is back.
            print("Switch Bluetooth on, so that customers find this till.")
        case .unauthorized:
            print("The app may not use Bluetooth.")
        case .unsupported:
            print("This device cannot be a beacon.")
        default:
            print("Waiting for Bluetooth.")
        }
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        if let error {
            print("This till is no beacon: \(error.localizedDescription)")
        } else {
            print("This till is the beacon \(region.uuid), major \(region.major ?? 0), minor \(region.minor ?? 0).")
        }
    }
}
