import BeaconSupport
import BeaconTestKit
import CoreBluetooth
import CoreLocation
import Testing

/// An app that scans for devices as soon as it can.
private final class Finder: NSObject, CBCentralManagerDelegate, Sendable {
    let found = Locked<[String]>([])

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        let data = advertisementData[CBAdvertisementDataManufacturerDataKey] as? Data
        let services = advertisementData[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] ?? []
        let words = [peripheral.name, data.map { "\($0.count) bytes" }] + services.map(\.uuidString)
        found.withLock { $0.append(words.compactMap(\.self).joined(separator: " ")) }
    }
}

/// An app that advertises a name and a service as soon as it can.
private final class Sensor: NSObject, CBPeripheralManagerDelegate, Sendable {
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        peripheral.startAdvertising([
            CBAdvertisementDataLocalNameKey: "Sensor",
            CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "180D")],
        ])
    }
}

@Suite("Scanning for devices in the simulated air")
struct ScanningTests {
    @Test("Advertising devices are found, and beacons with or without their data", arguments: [true, false])
    func finding(hidesBeacons: Bool) async {
        let air = SimulatedAir()
        air.device.hidesBeaconsFromScans = hidesBeacons
        let finder = Finder()
        let manager = air.device.run { CBCentralManager(delegate: finder, queue: .main) }
        let sensor = Sensor()
        let peripheral = air.makeDevice("sensor", at: .distance(2)).run {
            CBPeripheralManager(delegate: sensor, queue: .main)
        }
        air.place(SimulatedBeacon(uuid: museum, major: 1, minor: 1, at: .distance(3)))
        await air.advance(by: .seconds(2))
        #expect(Set(finder.found.withLock { $0 }) == ["Sensor 180D", hidesBeacons ? "" : "25 bytes"])
        withExtendedLifetime((manager, peripheral)) {}
    }

    @Test("Monitoring and ranging continue while an app scans for devices")
    func besideCoreLocation() async {
        let air = SimulatedAir()
        let finder = Finder()
        let (manager, diary) = air.device.run { (CBCentralManager(delegate: finder, queue: .main), Ranger()) }
        air.place(SimulatedBeacon(uuid: museum, major: 1, minor: 5, at: .distance(1)))
        await air.advance(by: .seconds(5))
        #expect(diary.minors.withLock { $0 } == [5])
        #expect(finder.found.withLock { $0.count } == 1)
        manager.stopScan()
        await air.advance(by: .seconds(5))
        #expect(diary.reports.withLock { $0 } == 10)
    }
}

/// An app that ranges.
private final class Ranger: NSObject, CLLocationManagerDelegate {
    let minors = Locked<Set<Int>>([])
    let reports = Locked(0)
    private let manager = CLLocationManager()

    override init() {
        super.init()
        manager.delegate = self
        manager.requestWhenInUseAuthorization()
        manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: museum))
    }

    func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        reports.withLock { $0 += 1 }
        minors.withLock { $0.formUnion(beacons.map { $0.minor.intValue }) }
    }
}
