import CoreBluetooth
import CoreLocation

/// Makes the device a beacon of a major and a minor value that the user chooses.
class BeaconConfiguration: NSObject, CBPeripheralManagerDelegate {
    private let uuid: UUID
    private var major: CLBeaconMajorValue = 0
    private var minor: CLBeaconMinorValue = 0
    private var isEnabled = false

    private var peripheralManager: CBPeripheralManager?

    /// Tells the user how it goes.
    private let display: (String) -> Void

    init(uuid: UUID, display: @escaping (String) -> Void) {
        self.uuid = uuid
        self.display = display
        super.init()
        peripheralManager = CBPeripheralManager(delegate: self, queue: nil)
    }

    /// Takes what the user typed; what is no number of 16 bits counts as 0.
    func change(major: String, minor: String, isEnabled: Bool) {
        self.major = CLBeaconMajorValue(major) ?? 0
        self.minor = CLBeaconMinorValue(minor) ?? 0
        self.isEnabled = isEnabled
        apply()
    }

    /// The user leaves the screen.
    func leave() {
        isEnabled = false
        if peripheralManager?.state == .poweredOn { peripheralManager?.stopAdvertising() }
    }

    private func apply() {
        guard let peripheralManager, peripheralManager.state == .poweredOn else { return }
        // Always, since a beacon that is on the air does not change.
        peripheralManager.stopAdvertising()
        guard isEnabled else { return }
        let constraint = CLBeaconIdentityConstraint(uuid: uuid, major: major, minor: minor)
        let region = CLBeaconRegion(
            beaconIdentityConstraint: constraint, identifier: Bundle.main.bundleIdentifier ?? "RangingForBeacons")
        peripheralManager.startAdvertising(region.peripheralData(withMeasuredPower: nil) as? [String: Any])
    }

    // MARK: - CBPeripheralManagerDelegate

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        switch peripheral.state {
        case .poweredOn:
            apply()
        case .poweredOff:
            isEnabled = false
            display("Bluetooth is off. Switch it on and try again.")
        case .unsupported, .unauthorized:
            isEnabled = false
            display("This device cannot be a beacon.")
        default:
            break
        }
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        if let error {
            display("This device is no beacon: \(error.localizedDescription)")
        } else {
            display("This device is the beacon \(uuid), major \(major), minor \(minor).")
        }
    }
}
