import BeaconTestKit
import CoreLocation

/// Apps that notify when a visitor comes and goes.
@MainActor
enum VisitApps {
    static let all: [SampleApp] = [
        SampleApp(
            name: "notifies for the state and for the entry", findings: [16: "notifies twice"],
            remarks: [
                6: "greets again after a short exit", 36: "says nothing when always became when in use",
                38: "waits for ever: precise location is off",
            ]
        ) { DoubleNotifier($0, isFixed: $2) },
        SampleApp(
            name: "takes the state on the lock screen for an entry",
            findings: [28: "greets at each look at the screen"]
        ) { LockScreenGreeter($0, isFixed: $2) },
        SampleApp(
            name: "leaves and comes home within seconds", findings: [6: "greets again after a short exit"]
        ) { outlet, _, isFixed in
            HomePresence.shared = HomePresence(outlet, isFixed: isFixed)
            return HomePresence.shared as Any
        },
        SampleApp(name: "awaits the entry although inside", findings: [2: "waits for didEnterRegion"]) {
            AwaitingGreeter($0, isFixed: $2)
        },
        SampleApp(name: "notifies once per manager", findings: [17: "notifies once per manager"]) {
            $2 ? [Screen($0)] as [Any] : [Screen($0), Screen($0)] as [Any]
        },
        SampleApp(name: "loses its manager", findings: [1: "receives nothing: its manager was released"]) {
            ForgetfulGreeter($0, keepsManager: $2)
        },
        SampleApp(
            name: "sets no delegate", findings: [1: "receives nothing: no delegate or task waits"], sharesTwin: true
        ) { ForgetfulGreeter($0, setsDelegate: $2) },
        SampleApp(name: "adds its region at each launch", findings: [13: "greets once per region"]) {
            RegionPerLaunch($0, isFixed: $2)
        },
    ]
}

/// After martijndeh/react-native-region-monitor#1: both callbacks of one arrival notify.
private final class DoubleNotifier: NSObject, CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let outlet: Outlet
    private let isFixed: Bool
    private var isInside = false

    init(_ outlet: Outlet, isFixed: Bool) {
        (self.outlet, self.isFixed) = (outlet, isFixed)
        super.init()
        manager.delegate = self
        manager.requestAlwaysAuthorization()
        manager.startMonitoring(for: shopRegion)
    }

    func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) { arrive() }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        if state == .inside { arrive() }
        if state == .outside { isInside = false }
    }

    private func arrive() {
        if isFixed, isInside { return }
        isInside = true
        outlet.notify("entered the region")
    }
}

/// After home-assistant/iOS#1369: the state that the display asks for counts as an entry.
private final class LockScreenGreeter: NSObject, CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let outlet: Outlet
    private let isFixed: Bool
    private var last = CLRegionState.unknown

    init(_ outlet: Outlet, isFixed: Bool) {
        (self.outlet, self.isFixed) = (outlet, isFixed)
        super.init()
        manager.delegate = self
        let region = CLBeaconRegion(uuid: museum, identifier: "shop")
        region.notifyEntryStateOnDisplay = true
        manager.startMonitoring(for: region)
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        defer { last = state }
        guard state == .inside, !isFixed || last != .inside else { return }
        outlet.notify("you are at the shop")
    }
}

/// After owntracks/ios#537: each short loss of the signal is a departure. The twin waits before it says so.
@MainActor
private final class HomePresence: NSObject, CLLocationManagerDelegate {
    static var shared: HomePresence?

    private let manager = CLLocationManager()
    private let outlet: Outlet
    private let isFixed: Bool
    private var isHome = false
    private var departure: Task<Void, Never>?

    init(_ outlet: Outlet, isFixed: Bool) {
        (self.outlet, self.isFixed) = (outlet, isFixed)
        super.init()
        manager.delegate = self
        manager.startMonitoring(for: shopRegion)
    }

    nonisolated func locationManager(
        _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
    ) {
        MainActor.assumeIsolated { state == .inside ? arrive() : state == .outside ? leave() : () }
    }

    private func arrive() {
        departure?.cancel()
        departure = nil
        guard !isHome else { return }
        isHome = true
        outlet.notify("home")
    }

    private func leave() {
        guard isHome, departure == nil else { return }
        guard isFixed else { return depart() }
        departure = Task {
            try? await Task.sleep(for: .seconds(45))
            if !Task.isCancelled { depart() }
        }
    }

    private func depart() {
        departure = nil
        isHome = false
        outlet.notify("not home")
    }
}

/// After MacKentoch/react-native-beacons-manager#132: the app only knows entries.
private final class AwaitingGreeter: NSObject, CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let outlet: Outlet
    private let isFixed: Bool
    private var isInside = false

    init(_ outlet: Outlet, isFixed: Bool) {
        (self.outlet, self.isFixed) = (outlet, isFixed)
        super.init()
        manager.delegate = self
    }

    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        switch manager.authorizationStatus {
        case .notDetermined: manager.requestAlwaysAuthorization()
        case .authorizedAlways: manager.startMonitoring(for: shopRegion)
        default: break
        }
    }

    func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
        if isFixed { manager.requestState(for: region) }
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        if state == .inside, isFixed { greet() }
    }

    func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) { greet() }

    func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) { isInside = false }

    private func greet() {
        guard !isInside else { return }
        isInside = true
        outlet.notify("welcome")
    }
}

/// A screen with its own manager. An app with two of them is told everything twice.
private final class Screen: NSObject, CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let outlet: Outlet
    private var isInside = false

    init(_ outlet: Outlet) {
        self.outlet = outlet
        super.init()
        manager.delegate = self
        manager.startMonitoring(for: shopRegion)
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        if state == .inside, !isInside { outlet.notify("offers of this shop") }
        if state != .unknown { isInside = state == .inside }
    }
}

/// After demetrio812/nativescript-ibeacon#18: no property holds the manager, or it has no delegate.
private final class ForgetfulGreeter: NSObject, CLLocationManagerDelegate {
    private var kept: CLLocationManager?
    private let outlet: Outlet
    private var isInside = false

    init(_ outlet: Outlet, keepsManager: Bool = true, setsDelegate: Bool = true) {
        self.outlet = outlet
        super.init()
        let manager = CLLocationManager()
        if setsDelegate { manager.delegate = self }
        manager.startMonitoring(for: shopRegion)
        if keepsManager { kept = manager }
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        if state == .inside, !isInside { outlet.notify("hello") }
        if state != .unknown { isInside = state == .inside }
    }
}

/// After presence-insights/pi-clientsdk-ios#34: each launch adds the region once more.
private final class RegionPerLaunch: NSObject, CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let outlet: Outlet
    private var inside: Set<String> = []

    init(_ outlet: Outlet, isFixed: Bool) {
        self.outlet = outlet
        super.init()
        manager.delegate = self
        let identifier = isFixed ? "site" : UUID().uuidString
        manager.startMonitoring(for: CLBeaconRegion(uuid: museum, identifier: identifier))
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        switch state {
        case .inside: if inside.insert(region.identifier).inserted { outlet.notify("visit") }
        case .outside: inside.remove(region.identifier)
        default: break
        }
    }
}
