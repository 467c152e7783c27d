import CoreBluetooth

/// Lists the nearby iBeacons by their adverts, like tools on macOS, where Core Bluetooth shows them.
class BeaconScanner: NSObject, CBCentralManagerDelegate {
    /// A beacon's identity, from its manufacturer data.
    private struct Beacon: Hashable {
        let uuid: UUID
        let major: UInt16
        let minor: UInt16
        let measuredPower: Int8

        /// Reads manufacturer data; nil for the data of other devices.
        init?(_ data: Data) {
            let bytes = [UInt8](data)
            // Apple, iBeacon, 21 bytes.
            guard bytes.count == 25, bytes.starts(with: [0x4C, 0x00, 0x02, 0x15]) else { return nil }
            uuid = NSUUID(uuidBytes: Array(bytes[4..<20])) as UUID
            major = UInt16(bytes[20]) << 8 | UInt16(bytes[21])
            minor = UInt16(bytes[22]) << 8 | UInt16(bytes[23])
            measuredPower = Int8(bitPattern: bytes[24])
        }
    }

    private var manager: CBCentralManager?
    private var seen: Set<Beacon> = []

    override init() {
        super.init()
        manager = CBCentralManager(delegate: self, queue: nil)
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        central.scanForPeripherals(withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        let data = advertisementData[CBAdvertisementDataManufacturerDataKey] as? Data
        if let beacon = data.flatMap(Beacon.init), seen.insert(beacon).inserted {
            print(
                "\(beacon.uuid) major \(beacon.major) minor \(beacon.minor), \(RSSI) dBm here, "
                    + "\(beacon.measuredPower) dBm at a meter")
        } else if let name = advertisementData[CBAdvertisementDataLocalNameKey] as? String, data == nil {
            report(name, peripheral)
        }
    }

    private var names: Set<UUID> = []

    private func report(_ name: String, _ peripheral: CBPeripheral) {
        if names.insert(peripheral.identifier).inserted { print("a device that is not a beacon: \(name)") }
    }
}
