import CoreBluetooth
import CoreLocation

/// Makes the device a beacon with values that the user chooses.
class BeaconConfiguration: NSObject, CBPeripheralManagerDelegate {
    /// The values of the adverts.
    struct Values: Equatable {
        var uuid: UUID
        var major: CLBeaconMajorValue = 0
        var minor: CLBeaconMinorValue = 0
        /// The signal at one meter in dBm; nil for the device's own value.
        var measuredPower: Int?
    }

    private(set) var values: Values
    private(set) var isEnabled = false

    /// The state of the beacon, in words.
    private(set) var status = "Off"

    /// Called when the status has changed.
    private let didChange: () -> Void

    private var peripheralManager: CBPeripheralManager?

    init(uuid: UUID, didChange: @escaping () -> Void) {
        values = Values(uuid: uuid)
        self.didChange = didChange
        super.init()
        peripheralManager = CBPeripheralManager(delegate: self, queue: nil)
    }

    /// Applies the user's choice.
    func change(_ values: Values, isEnabled: Bool) {
        self.values = values
        self.isEnabled = isEnabled
        apply()
    }

    /// Stops the beacon when the user leaves the screen.
    func leave() {
        isEnabled = false
        if peripheralManager?.state == .poweredOn { peripheralManager?.stopAdvertising() }
        status = "Off"
    }

    private func apply() {
        guard let peripheralManager, peripheralManager.state == .poweredOn else { return }
        // Always, since the adverts of a running beacon cannot change.
        peripheralManager.stopAdvertising()
        guard isEnabled else { return show("Off") }
        let constraint = CLBeaconIdentityConstraint(uuid: values.uuid, major: values.major, minor: values.minor)
        let region = CLBeaconRegion(
            beaconIdentityConstraint: constraint, identifier: Bundle.main.bundleIdentifier ?? "RangingForBeacons")
        let power = values.measuredPower.map { NSNumber(value: $0) }
        peripheralManager.startAdvertising(region.peripheralData(withMeasuredPower: power) as? [String: Any])
    }

    private func show(_ status: String) {
        self.status = status
        didChange()
    }

    // MARK: - CBPeripheralManagerDelegate

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        switch peripheral.state {
        case .poweredOn:
            apply()
        case .poweredOff:
            isEnabled = false
            show("Bluetooth is off. Switch it on and try again.")
        case .unsupported, .unauthorized:
            isEnabled = false
            show("This device cannot be a beacon.")
        default:
            break
        }
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        if let error {
            isEnabled = false
            show("This device cannot advertise: \(error.localizedDescription)")
        } else {
            show("This device is the beacon \(values.uuid), major \(values.major), minor \(values.minor).")
        }
    }
}
