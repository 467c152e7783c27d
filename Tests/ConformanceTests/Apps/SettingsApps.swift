import BeaconTestKit
import CoreBluetooth
import CoreLocation

/// Apps that meet missing permissions, Bluetooth that is off, and limits.
@MainActor
enum SettingsApps {
    static let all: [SampleApp] = [
        SampleApp(name: "asks for when in use only", situations: [35]) { ModestApp($0, isFixed: $2) },
        SampleApp(name: "monitors more than 20 regions", situations: [40]) { ChainStores($0, isFixed: $2) },
        SampleApp(
            name: "allows background updates without the capability", situations: [40], options: withoutBackgroundMode
        ) { TrackerApp($0, isFixed: $2) },
        SampleApp(name: "keeps the regions of an older version", situations: [40], options: withFormerRegion) {
            UpdatedApp($0, isFixed: $2)
        },
        SampleApp(name: "advertises before Bluetooth is on", situations: [29]) { outlet, _, isFixed in
            HastyBeacon(isFixed: isFixed)
        },
        SampleApp(
            name: "believes that it advertises in the background", situations: [29],
            scene: { app, isActive in (app as? TillBeacon)?.sceneDidChange(isActive: isActive) }
        ) { TillBeacon($0, isFixed: $2) },
        SampleApp(name: "ends the visit when Bluetooth is off", situations: [39]) { RadioApp($0, isFixed: $2) },
        SampleApp(name: "does not start again after a denial", situations: [37]) { OffendedApp($0, isFixed: $2) },
    ]

    private static var withoutBackgroundMode: Conformance.Options {
        var options = Conformance.Options()
        options.hasLocationBackgroundMode = false
        return options
    }

    private static var withFormerRegion: Conformance.Options {
        var options = Conformance.Options()
        options.formerRegions = [CLBeaconRegion(uuid: UUID(), identifier: "shop of version 1")]
        return options
    }
}

/// After MacKentoch/react-native-beacons-manager#88: a region per shop, and no word about those that fail.
private final class ChainStores: NSObject, CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let outlet: Outlet
    private var inside: Set<String> = []

    init(_ outlet: Outlet, isFixed: Bool) {
        self.outlet = outlet
        super.init()
        manager.delegate = self
        for shop in 1...(isFixed ? 20 : 25) as ClosedRange<UInt16> {
            manager.startMonitoring(for: CLBeaconRegion(uuid: museum, major: shop, identifier: "shop \(shop)"))
        }
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        switch state {
        case .inside: if inside.insert(region.identifier).inserted { outlet.notify("welcome to \(region.identifier)") }
        case .outside: inside.remove(region.identifier)
        default: break
        }
    }
}

/// After petermetz/cordova-plugin-ibeacon#233: iOS ends an app that asks for updates without the background mode.
private final class TrackerApp: NSObject, CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let outlet: Outlet
    private var isInside = false

    init(_ outlet: Outlet, isFixed: Bool) {
        self.outlet = outlet
        super.init()
        manager.delegate = self
        manager.requestAlwaysAuthorization()
        let modes = Bundle.main.object(forInfoDictionaryKey: "UIBackgroundModes") as? [String] ?? []
        if !isFixed || modes.contains("location") { manager.allowsBackgroundLocationUpdates = true }
        manager.startMonitoring(for: shopRegion)
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        if state == .inside, !isInside { outlet.notify("tracked") }
        if state != .unknown { isInside = state == .inside }
    }
}

/// After petermetz/cordova-plugin-ibeacon#177: the regions of a version are monitored until some version stops them.
private final class UpdatedApp: NSObject, CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let outlet: Outlet
    private var isInside = false

    init(_ outlet: Outlet, isFixed: Bool) {
        self.outlet = outlet
        super.init()
        manager.delegate = self
        let region = CLBeaconRegion(uuid: museum, identifier: "shop of version 2")
        if isFixed {
            for old in manager.monitoredRegions where old.identifier != region.identifier {
                manager.stopMonitoring(for: old)
            }
        }
        manager.startMonitoring(for: region)
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        if state == .inside, !isInside { outlet.notify("welcome to the new shop") }
        if state != .unknown { isInside = state == .inside }
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
    private var peripheral: CBPeripheralManager?
    private let outlet: Outlet
    private let isFixed: Bool

    init(_ outlet: Outlet, isFixed: Bool) {
        (self.outlet, self.isFixed) = (outlet, isFixed)
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
        guard isFixed else { return }
        outlet.display(isActive ? "this till is a beacon" : "paused: keep the app open")
    }
}

/// After evothings/phonegap-estimotebeacons#77: no radio is taken for no beacon.
private final class RadioApp: NSObject, CLLocationManagerDelegate, CBCentralManagerDelegate {
    private let manager = CLLocationManager()
    private var central: CBCentralManager?
    private let outlet: Outlet
    private let isFixed: Bool
    private var isInside = false
    private var lastBye = Date.distantPast

    init(_ outlet: Outlet, isFixed: Bool) {
        (self.outlet, self.isFixed) = (outlet, isFixed)
        super.init()
        manager.delegate = self
        manager.startMonitoring(for: shopRegion)
        central = CBCentralManager(delegate: self, queue: nil)
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOff else { return }
        if isFixed { outlet.display("switch Bluetooth on, please") } else { leave() }
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        if state == .inside, !isInside {
            isInside = true
            if !isFixed || Date().timeIntervalSince(lastBye) > 60 { outlet.notify("hello") }
        }
        if state == .outside { leave() }
    }

    private func leave() {
        guard isInside else { return }
        isInside = false
        lastBye = Date()
        outlet.notify("bye")
    }
}

/// A denial ends the monitoring for good.
private final class OffendedApp: NSObject, CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let outlet: Outlet
    private let isFixed: Bool
    private var isInside = false
    private var hasStarted = false

    init(_ outlet: Outlet, isFixed: Bool) {
        (self.outlet, self.isFixed) = (outlet, isFixed)
        super.init()
        manager.delegate = self
    }

    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        switch manager.authorizationStatus {
        case .notDetermined: manager.requestAlwaysAuthorization()
        case .denied, .restricted: manager.stopMonitoring(for: shopRegion)
        default:
            guard isFixed || !hasStarted else { return }
            hasStarted = true
            manager.startMonitoring(for: shopRegion)
        }
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        if state == .inside, !isInside { outlet.notify("good morning") }
        if state != .unknown { isInside = state == .inside }
    }
}

/// After kontaktio/kontakt-ios-sdk#52: the permission is not enough for a greeting in the background.
private final class ModestApp: NSObject, CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let outlet: Outlet
    private var isInside = false

    init(_ outlet: Outlet, isFixed: Bool) {
        self.outlet = outlet
        super.init()
        manager.delegate = self
        isFixed ? manager.requestAlwaysAuthorization() : manager.requestWhenInUseAuthorization()
        manager.startMonitoring(for: shopRegion)
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        if state == .inside, !isInside { outlet.notify("a coupon for you") }
        if state != .unknown { isInside = state == .inside }
    }
}
