import CoreBluetooth
import CoreLocation

/// Makes the device of a till a beacon, so that customers' apps know the till in front of them.
class TillBeacon: NSObject, CBPeripheralManagerDelegate {
    private let region: CLBeaconRegion
    private var peripheralManager: CBPeripheralManager?

    /// Creates the beacon of a till. It advertises once Bluetooth is ready, while the app is in the foreground.
    init(shop: CLBeaconMajorValue, till: CLBeaconMinorValue) {
        // swift-format-ignore: NeverForceUnwrap
        let chain = UUID(uuidString: "695C9AD9-34C5-451E-9147-F3D2C4F3F04C")!
        region = CLBeaconRegion(uuid: chain, major: shop, minor: till, identifier: "com.example.till")
        super.init()
        peripheralManager = CBPeripheralManager(delegate: self, queue: nil)
    }

    /// Stops the beacon.
    func close() {
        peripheralManager?.stopAdvertising()
        print("The till is closed.")
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        switch peripheral.state {
        case .poweredOn:
            print("Bluetooth is on; starting to advertise.")
            // Nil means the device's own power at one meter. A till behind a steel counter should pass a measured
            // value.
            let data = region.peripheralData(withMeasuredPower: nil) as? [String: Any]
            peripheral.startAdvertising(data)
        case .poweredOff:
            // Advertising ended with the radio, and must be started again when the radio is back.
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
            print("This till cannot advertise: \(error.localizedDescription)")
        } else {
            print("This till is the beacon \(region.uuid), major \(region.major ?? 0), minor \(region.minor ?? 0).")
        }
    }
}
