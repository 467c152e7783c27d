import BeaconTestKit
import CoreLocation

/// Apps that the system launches, wakes and suspends.
@MainActor
enum LaunchApps {
    static let all: [SampleApp] = [
        SampleApp(name: "sets its delegate after the launch", situations: [31]) { BridgedApp($0, isFixed: $2) },
        SampleApp(name: "sets everything up in a screen", situations: [30]) { outlet, launch, isFixed in
            StoryboardApp(outlet, showsScreen: !launch.isByEvent, isFixed: isFixed)
        },
        SampleApp(name: "drops events before its table is loaded", situations: [30, 2]) { TableApp($0, isFixed: $2) },
        SampleApp(name: "fetches an offer without a background task", situations: [20, 24]) { outlet, launch, isFixed in
            OfferApp(outlet, launch.device, isFixed: isFixed)
        },
        SampleApp(name: "greets with a timer", situations: [20, 24]) { DwellApp($0, isFixed: $2) },
        SampleApp(name: "does not open its monitor again", situations: [32]) { outlet, launch, isFixed in
            MonitorApp(outlet, opens: isFixed || !launch.isByEvent)
        },
        SampleApp(
            name: "greets at each return", situations: [27],
            scene: { app, isActive in (app as? ReturningApp)?.sceneDidChange(isActive: isActive) }
        ) { ReturningApp($0, isFixed: $2) },
        SampleApp(
            name: "ends the visit in the background", situations: [18],
            scene: { app, isActive in (app as? TourApp)?.sceneDidChange(isActive: isActive) }
        ) { TourApp($0, isFixed: $2) },
    ]
}

/// After petermetz/cordova-plugin-ibeacon#342: the bridge to the script is ready two seconds after the launch.
@MainActor
private final class BridgedApp: NSObject, CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let outlet: Outlet
    private var isInside = false

    init(_ outlet: Outlet, isFixed: Bool) {
        self.outlet = outlet
        super.init()
        manager.startMonitoring(for: shopRegion)
        if isFixed {
            manager.delegate = self
        } else {
            Task {
                try? await Task.sleep(for: .seconds(2))
                manager.delegate = self
            }
        }
    }

    nonisolated func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
        MainActor.assumeIsolated { arrive() }
    }

    nonisolated func locationManager(
        _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
    ) {
        // Only the state of an app that starts inside: an entry follows the state of any other.
        MainActor.assumeIsolated {
            if state == .inside { arrive() }
            if state == .outside { isInside = false }
        }
    }

    private func arrive() {
        guard !isInside else { return }
        isInside = true
        outlet.notify("beacon found")
    }
}

/// After petermetz/cordova-plugin-ibeacon#259: a launch in the background shows no screen.
private final class StoryboardApp {
    private final class ShopScreen: NSObject, CLLocationManagerDelegate {
        let manager = CLLocationManager()
        let outlet: Outlet
        var isInside = false

        init(_ outlet: Outlet) { self.outlet = outlet }

        func viewDidLoad() {
            manager.delegate = self
            manager.requestAlwaysAuthorization()
            manager.startMonitoring(for: shopRegion)
        }

        func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion)
        {
            if state == .inside, !isInside { outlet.notify("at the shop") }
            if state != .unknown { isInside = state == .inside }
        }
    }

    private var screen: ShopScreen?

    init(_ outlet: Outlet, showsScreen: Bool, isFixed: Bool) {
        guard showsScreen || isFixed else { return }
        screen = ShopScreen(outlet)
        screen?.viewDidLoad()
    }
}

/// After transistorsoft/flutter_background_geolocation#1645: the regions' names come from a database that is not open.
@MainActor
private final class TableApp: NSObject, CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let outlet: Outlet
    private let isFixed: Bool
    private var names: [String: String]?
    private var waiting: [String] = []
    private var inside: Set<String> = []

    init(_ outlet: Outlet, isFixed: Bool) {
        (self.outlet, self.isFixed) = (outlet, isFixed)
        super.init()
        manager.delegate = self
        manager.startMonitoring(for: shopRegion)
        Task {
            try? await Task.sleep(for: .seconds(1))
            names = ["shop": "the shop in Market Square"]
            for region in waiting { arrive(region) }
            waiting = []
        }
    }

    nonisolated func locationManager(
        _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
    ) {
        let identifier = region.identifier
        MainActor.assumeIsolated {
            if state == .inside, inside.insert(identifier).inserted { arrive(identifier) }
            if state == .outside { inside.remove(identifier) }
        }
    }

    private func arrive(_ region: String) {
        if let name = names?[region] {
            outlet.notify("welcome to \(name)")
        } else if isFixed {
            waiting.append(region)
        }
    }
}

/// After presence-insights/pi-clientsdk-ios#26: the answer of a server comes when the app is suspended.
@MainActor
private final class OfferApp: NSObject, CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let outlet: Outlet
    private let device: SimulatedDevice
    private let isFixed: Bool
    private var isInside = false

    init(_ outlet: Outlet, _ device: SimulatedDevice, isFixed: Bool) {
        (self.outlet, self.device, self.isFixed) = (outlet, device, isFixed)
        super.init()
        manager.delegate = self
        manager.startMonitoring(for: shopRegion)
    }

    nonisolated func locationManager(
        _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
    ) {
        MainActor.assumeIsolated {
            if state == .inside, !isInside { fetchOffer() }
            if state != .unknown { isInside = state == .inside }
        }
    }

    private func fetchOffer() {
        let background = isFixed ? device.beginBackgroundTask(name: "offer") : nil
        Task {
            // The server's answer.
            try? await Task.sleep(for: .seconds(5))
            outlet.notify("today's offer")
            background?.end()
        }
    }
}

/// A greeting five seconds after the entry, so that passers-by get none. The twin greets at once.
private final class DwellApp: NSObject, CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let outlet: Outlet
    private let isFixed: Bool
    private var isInside = false

    init(_ outlet: Outlet, isFixed: Bool) {
        (self.outlet, self.isFixed) = (outlet, isFixed)
        super.init()
        manager.delegate = self
        manager.startMonitoring(for: shopRegion)
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        defer { if state != .unknown { isInside = state == .inside } }
        guard state == .inside, !isInside else { return }
        if isFixed { return outlet.notify("nice to see you") }
        DispatchQueue.main.asyncAfter(deadline: .now() + 5) { [outlet] in outlet.notify("nice to see you") }
    }
}

/// An app of iOS 17 whose task is started by its first screen.
@MainActor
private final class MonitorApp {
    private var task: Task<Void, Never>?

    init(_ outlet: Outlet, opens: Bool) {
        guard opens else { return }
        task = Task {
            let monitor = await CLMonitor("Shops")
            if await monitor.record(for: "shop") == nil {
                await monitor.add(CLMonitor.BeaconIdentityCondition(uuid: museum), identifier: "shop")
            }
            var last = await monitor.record(for: "shop")?.lastEvent.state
            do {
                for try await event in await monitor.events {
                    if event.state == .satisfied, last != .satisfied { outlet.notify("arrived at \(event.identifier)") }
                    if event.state == .satisfied || event.state == .unsatisfied { last = event.state }
                }
            } catch {
                outlet.display("the monitor has failed")
            }
        }
    }
}

/// The app asks for the state whenever it appears, and takes it for an arrival.
private final class ReturningApp: NSObject, CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let outlet: Outlet
    private let isFixed: Bool
    private var isInside = false

    init(_ outlet: Outlet, isFixed: Bool) {
        (self.outlet, self.isFixed) = (outlet, isFixed)
        super.init()
        manager.delegate = self
        manager.startMonitoring(for: shopRegion)
    }

    func sceneDidChange(isActive: Bool) {
        guard isActive else { return }
        if !isFixed { isInside = false }
        manager.requestState(for: shopRegion)
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        if state == .inside, !isInside { outlet.notify("check-in") }
        if state != .unknown { isInside = state == .inside }
    }
}

/// A tour ends when its screen disappears, though its visitor only looked at the time.
private final class TourApp: NSObject, CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let outlet: Outlet
    private let isFixed: Bool
    private var isOnTour = false
    private var lastEnd = Date.distantPast

    init(_ outlet: Outlet, isFixed: Bool) {
        (self.outlet, self.isFixed) = (outlet, isFixed)
        super.init()
        manager.delegate = self
        manager.startMonitoring(for: shopRegion)
    }

    func sceneDidChange(isActive: Bool) { if !isActive, !isFixed { endTour() } }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        if state == .inside, !isOnTour {
            isOnTour = true
            // A tour that ended a moment ago goes on.
            if !isFixed || Date().timeIntervalSince(lastEnd) > 60 { outlet.notify("the tour begins") }
            manager.startRangingBeacons(satisfying: shopRegion.beaconIdentityConstraint)
        }
        if state == .outside { endTour() }
    }

    private func endTour() {
        guard isOnTour else { return }
        isOnTour = false
        lastEnd = Date()
        manager.stopRangingBeacons(satisfying: shopRegion.beaconIdentityConstraint)
        outlet.notify("the tour is over")
    }
}
