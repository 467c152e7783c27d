import BeaconTestKit
import CoreBluetooth
import CoreLocation

/// Apps that are beacons, and apps that meet Bluetooth that is off.
@MainActor
enum BluetoothApps {
    static let all: [SampleApp] = [
        SampleApp(
            name: "advertises before Bluetooth is on",
            findings: [29: "starts to advertise before Bluetooth is powered on"]
        ) { outlet, _, isFixed in
            HastyBeacon(isFixed: isFixed)
        },
        till(
            "believes that it advertises in the background", .ignoresScreen,
            findings: [29: "takes didStartAdvertising for sending"]),
        till(
            "stops advertising with its screen", .stopsWithScreen,
            findings: [29: "does not advertise again after its return"]),
        SampleApp(
            name: "ends the visit when Bluetooth is off", findings: [39: "ends the visit when Bluetooth is off"]
        ) { RadioApp($0, $2 ? nil : .saysGoodbye) },
        SampleApp(
            name: "gives up when launched without Bluetooth",
            findings: [39: "does not start when Bluetooth was off at the launch"], sharesTwin: true
        ) { RadioApp($0, $2 ? nil : .givesUp) },
        SampleApp(
            name: "stops ranging when Bluetooth is off",
            findings: [39: "does not range again when Bluetooth is back"], sharesTwin: true
        ) { RadioApp($0, $2 ? nil : .stopsRanging) },
    ]

    private static func till(_ name: String, _ fault: TillBeacon.Fault, findings: [Int: String]) -> SampleApp {
        SampleApp(
            name: name, findings: findings, sharesTwin: fault == .stopsWithScreen,
            scene: { app, isActive in (app as? TillBeacon)?.sceneDidChange(isActive: isActive) }
        ) { TillBeacon($0, $2 ? nil : fault) }
    }
}

/// After juliansteenbakker/flutter_ble_peripheral#91: the start before the state is known is the only one.
private final class HastyBeacon: NSObject, CBPeripheralManagerDelegate {
    private var peripheral: CBPeripheralManager?
    private let isFixed: Bool

    init(isFixed: Bool) {
        self.isFixed = isFixed
        super.init()
        peripheral = CBPeripheralManager(delegate: self, queue: nil)
        if !isFixed { start() }
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        if isFixed, peripheral.state == .poweredOn { start() }
    }

    private func start() {
        let region = CLBeaconRegion(uuid: museum, major: 1, minor: 1, identifier: "till")
        peripheral?.startAdvertising(region.peripheralData(withMeasuredPower: nil) as? [String: Any])
    }
}

/// After petermetz/cordova-plugin-ibeacon#404: the app shows that it is a beacon while iOS sends nothing.
private final class TillBeacon: NSObject, CBPeripheralManagerDelegate {
    enum Fault {
        case ignoresScreen
        /// Stops when its screen disappears, and does not start again.
        case stopsWithScreen
    }

    private var peripheral: CBPeripheralManager?
    private let outlet: Outlet
    private let fault: Fault?

    init(_ outlet: Outlet, _ fault: Fault?) {
        (self.outlet, self.fault) = (outlet, fault)
        super.init()
        peripheral = CBPeripheralManager(delegate: self, queue: nil)
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        let region = CLBeaconRegion(uuid: museum, major: 1, minor: 1, identifier: "till")
        peripheral.startAdvertising(region.peripheralData(withMeasuredPower: nil) as? [String: Any])
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        outlet.display(error == nil ? "this till is a beacon" : "no beacon")
    }

    func sceneDidChange(isActive: Bool) {
        guard fault != .ignoresScreen else { return }
        if fault == .stopsWithScreen, !isActive { peripheral?.stopAdvertising() }
        outlet.display(isActive ? "this till is a beacon" : "paused: keep the app open")
    }
}

/// After evothings/phonegap-estimotebeacons#77: no radio is taken for no beacon.
private final class RadioApp: NSObject, CLLocationManagerDelegate, CBCentralManagerDelegate {
    enum Fault {
        case saysGoodbye
        /// Starts only if Bluetooth is on at the launch.
        case givesUp
        /// Stops ranging without Bluetooth, and does not start again.
        case stopsRanging
    }

    private let manager = CLLocationManager()
    private var central: CBCentralManager?
    private let outlet: Outlet
    private let fault: Fault?
    private var isStarted = false
    private var isInside = false
    private var lastBye = Date.distantPast

    init(_ outlet: Outlet, _ fault: Fault?) {
        (self.outlet, self.fault) = (outlet, fault)
        super.init()
        manager.delegate = self
        if fault != .givesUp { manager.startMonitoring(for: shopRegion) }
        central = CBCentralManager(delegate: self, queue: nil)
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if fault == .givesUp, !isStarted, central.state == .poweredOn { manager.startMonitoring(for: shopRegion) }
        isStarted = true
        guard central.state == .poweredOff else { return }
        switch fault {
        case .saysGoodbye: leave()
        case .stopsRanging: manager.stopRangingBeacons(satisfying: shopRegion.beaconIdentityConstraint)
        case .givesUp, nil: outlet.display("switch Bluetooth on, please")
        }
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        if state == .inside, !isInside {
            isInside = true
            if fault != nil || Date().timeIntervalSince(lastBye) > 60 { outlet.notify("hello") }
            manager.startRangingBeacons(satisfying: shopRegion.beaconIdentityConstraint)
        }
        if state == .outside { leave() }
    }

    private func leave() {
        guard isInside else { return }
        isInside = false
        lastBye = Date()
        manager.stopRangingBeacons(satisfying: shopRegion.beaconIdentityConstraint)
        outlet.notify("bye")
    }
}
