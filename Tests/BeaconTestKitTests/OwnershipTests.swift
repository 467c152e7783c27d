import BeaconTestKit
import CoreBluetooth
import CoreLocation
import Dispatch
import Foundation
import Testing

/// An app's object that outlives tests and launches.
@MainActor
private final class Guide: NSObject, @MainActor CLLocationManagerDelegate {
    static let shared = Guide()
    static let other = Guide()
    let manager = CLLocationManager()
    private(set) var entries: [String] = []

    override init() {
        super.init()
        manager.delegate = self
    }

    func start() { manager.startMonitoring(for: CLBeaconRegion(uuid: museum, identifier: "museum")) }

    func take() -> [String] {
        defer { entries = [] }
        return entries
    }

    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        entries.append("authorization \(manager.authorizationStatus.rawValue)")
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        entries.append("\(state)")
    }

    func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) { entries.append("enter") }
}

/// An app's Core Bluetooth managers that outlive tests.
@MainActor
private final class Bluetooth: NSObject, @MainActor CBPeripheralManagerDelegate, @MainActor CBCentralManagerDelegate {
    static let shared = Bluetooth()
    let peripheral = CBPeripheralManager()
    let central = CBCentralManager()
    private(set) var entries: [String] = []

    override init() {
        super.init()
        peripheral.delegate = self
        central.delegate = self
    }

    func advertise() {
        let region = CLBeaconRegion(uuid: museum, major: 1, minor: 1, identifier: "museum")
        peripheral.startAdvertising(region.peripheralData(withMeasuredPower: nil) as? [String: Any])
    }

    func scan() { central.scanForPeripherals(withServices: nil) }

    func take() -> Set<String> {
        defer { entries = [] }
        return Set(entries)
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        entries.append("peripheral \(peripheral.state.rawValue)")
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        entries.append("advertising \(error == nil)")
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        entries.append("central \(central.state.rawValue)")
        scan()
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        entries.append("discovered")
    }
}

@Suite("Managers and the devices that they belong to")
@MainActor
struct OwnershipTests {
    @Test("A singleton's manager moves to the device that uses it, once its own air is gone")
    func singleton() async {
        for status in [CLAuthorizationStatus.authorizedAlways, .authorizedWhenInUse, .authorizedAlways] {
            let air = SimulatedAir(authorization: status)
            air.device.run { Guide.shared.start() }
            await air.advance(by: .seconds(31))
            #expect(Guide.shared.take() == ["authorization \(status.rawValue)", "outside"])
            air.place(.exhibit(1, at: 2))
            await air.advance(by: .seconds(1))
            #expect(Guide.shared.take() == ["inside", "enter"])
        }
    }

    @Test("A singleton's Core Bluetooth managers move, too: they report the state, advertise and scan again")
    func bluetooth() async {
        for _ in 0..<3 {
            let air = SimulatedAir()
            air.place(.exhibit(1, at: 2))
            air.device.run {
                Bluetooth.shared.advertise()
                // Its state is not known yet, so that it scans later.
                #expect(Bluetooth.shared.central.state == .unknown)
            }
            await air.advance(by: .seconds(2))
            #expect(Bluetooth.shared.take() == ["peripheral 5", "central 5", "advertising true", "discovered"])
            #expect(air.device.advertisedFrameCount == 1)
        }
    }

    @Test("A singleton's manager moves to the next launch of its app")
    func launches() async {
        let air = SimulatedAir()
        air.device.launch { Guide.other.start() }
        await air.advance(by: .seconds(31))
        #expect(Guide.other.take() == ["authorization 3", "outside"])
        air.device.end(by: .system)
        air.place(.exhibit(1, at: 2))
        await air.advance(by: .seconds(1))
        #expect(Guide.other.take() == ["authorization 3", "inside", "enter"])
    }

    @Test("While its air exists, a manager stays there, and the log names the air")
    func foreign() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let first = SimulatedAir(fileID: "Museum/First.swift", line: 7)
            let second = SimulatedAir()
            let manager = first.device.run { CLLocationManager() }
            second.device.run { manager.startMonitoring(for: CLBeaconRegion(uuid: museum, identifier: "museum")) }
            let advertiser = first.makeDevice("advertiser", at: .distance(1)).run { CBPeripheralManager() }
            second.device.run { advertiser.stopAdvertising() }
            await first.settle()
            #expect(first.device.run { manager.monitoredRegions.count } == 1)
        }
        let log = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(log.contains("A CLLocationManager belongs to"))
        #expect(log.contains("A CBPeripheralManager belongs to"))
        #expect(log.contains("keeps belonging to it"))
        #expect(log.contains("Museum/First.swift:7"))
    }

    @Test("A manager that leaves the closure of run is logged with its cause and the remedy")
    func outside() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let air = SimulatedAir()
            air.device.run { DispatchQueue.main.async { _ = CLLocationManager() } }
            await air.settle()
        }
        let log = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(log.contains("a CLLocationManager belongs to no device of a simulated air"))
        #expect(log.contains("use Task there instead"))
    }

    @Test("A manager of a device, and one of a task in run, are not logged")
    func inside() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let air = SimulatedAir()
            air.device.run {
                _ = CLLocationManager()
                Task { _ = CLLocationManager() }
            }
            await air.settle()
        }
        let log = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(!log.contains("belongs to no device"))
    }
}
