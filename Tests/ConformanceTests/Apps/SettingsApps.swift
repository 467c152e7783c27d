import BeaconTestKit
import CoreLocation

/// Apps that meet missing permissions and limits.
@MainActor
enum SettingsApps {
    static let all: [SampleApp] = [
        SampleApp(
            name: "asks for when in use only", findings: [35: "relies on background events without always"]
        ) { ModestApp($0, isFixed: $2) },
        SampleApp(
            name: "monitors more than 20 regions", findings: [40: "ignores that a region beyond 20 failed"]
        ) { ChainStores($0, count: $2 ? 20 : 25) },
        SampleApp(
            name: "handles one event at a time in the background", findings: [25: "drops the second region"],
            sharesTwin: true
        ) { outlet, launch, isFixed in
            ChainStores(outlet, busyInBackgroundOf: isFixed ? nil : launch.device)
        },
        SampleApp(
            name: "allows background updates without the capability",
            findings: [40: "needs UIBackgroundModes: location"], options: withoutBackgroundMode
        ) { TrackerApp($0, isFixed: $2) },
        SampleApp(
            name: "keeps the regions of an older version",
            findings: [40: "an old region is still monitored: shop of version 1"], options: withFormerRegion
        ) { UpdatedApp($0, isFixed: $2) },
        SampleApp(
            name: "does not start again after a denial",
            findings: [37: "does not start again when the permission is given back"]
        ) { outlet, _, isFixed in
            OffendedApp(outlet, isFixed: isFixed) { $0.authorizationStatus == .denied }
        },
        SampleApp(
            name: "does not start again without always",
            findings: [36: "stops for good when always became when in use"], sharesTwin: true
        ) { outlet, _, isFixed in
            OffendedApp(outlet, isFixed: isFixed) { $0.authorizationStatus == .authorizedWhenInUse }
        },
        SampleApp(
            name: "does not start again after reduced accuracy",
            findings: [38: "does not start again when precise location is back"], sharesTwin: true
        ) { outlet, _, isFixed in
            OffendedApp(outlet, isFixed: isFixed) { $0.accuracyAuthorization == .reducedAccuracy }
        },
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
    /// The device in whose background the app waits for its server's answer, and takes no event meanwhile.
    private let device: SimulatedDevice?
    private var busyUntil = Date.distantPast
    private var inside: Set<String> = []

    init(_ outlet: Outlet, count: UInt16 = 20, busyInBackgroundOf device: SimulatedDevice? = nil) {
        (self.outlet, self.device) = (outlet, device)
        super.init()
        manager.delegate = self
        for shop in 1...count {
            manager.startMonitoring(for: CLBeaconRegion(uuid: museum, major: shop, identifier: "shop \(shop)"))
        }
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        switch state {
        case .inside:
            guard inside.insert(region.identifier).inserted, Date() >= busyUntil else { return }
            outlet.notify("welcome to \(region.identifier)")
            if device?.appState == .background { busyUntil = Date() + 5 }
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

/// What its user does not allow ends the monitoring for good.
private final class OffendedApp: NSObject, CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let outlet: Outlet
    private let isFixed: Bool
    private let isOffended: (CLLocationManager) -> Bool
    private var isInside = false
    private var hasStarted = false

    init(_ outlet: Outlet, isFixed: Bool, _ isOffended: @escaping (CLLocationManager) -> Bool) {
        (self.outlet, self.isFixed, self.isOffended) = (outlet, isFixed, isOffended)
        super.init()
        manager.delegate = self
    }

    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        if manager.authorizationStatus == .notDetermined {
            manager.requestAlwaysAuthorization()
        } else if !isFixed, isOffended(manager) {
            manager.stopMonitoring(for: shopRegion)
        } else if isFixed || !hasStarted {
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
