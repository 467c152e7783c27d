import BeaconTestKit
import CoreLocation

/// Apps that the system launches and wakes.
@MainActor
enum LaunchApps {
    static let all: [SampleApp] = [
        SampleApp(
            name: "sets its delegate after the launch", findings: [31: "sets its delegate after the launch"]
        ) { BridgedApp($0, isReady: $2) },
        SampleApp(
            name: "is only ready when an event launches it",
            findings: [33: "does not catch up when its user opens it after a swipe"], sharesTwin: true
        ) { BridgedApp($0, isReady: $2 || $1.isByEvent) },
        SampleApp(
            name: "sets everything up in a screen", findings: [30: "never makes a manager when launched"]
        ) { outlet, launch, isFixed in
            StoryboardApp(outlet, hasScreen: isFixed || !launch.isByEvent, loadsScreen: true)
        },
        SampleApp(
            name: "sets its delegate in a screen", findings: [30: "has no delegate when launched"], sharesTwin: true
        ) { outlet, launch, isFixed in
            StoryboardApp(outlet, hasScreen: true, loadsScreen: isFixed || !launch.isByEvent)
        },
        SampleApp(
            name: "drops events before its table is loaded",
            findings: [
                30: "drops the event that launched it", 33: "does not catch up when its user opens it after a swipe",
            ]
        ) { TableApp($0, waits: $2) },
        SampleApp(
            name: "looks its region up by the wrong name", findings: [1: "does not notice the visit"], sharesTwin: true
        ) { TableApp($0, key: $2 ? "shop" : "Shop") },
        SampleApp(
            name: "fetches an offer without a background task",
            findings: [20: "misses the visit when the window is 3 s", 24: "greets late, at the next wake"]
        ) { outlet, launch, isFixed in
            OfferApp(outlet, launch.device, isFixed: isFixed)
        },
        SampleApp(
            name: "greets with a timer",
            findings: [20: "misses the visit when the window is 3 s", 24: "greets late, at the next wake"]
        ) { DwellApp($0, delay: $2 ? 0 : 5) },
        SampleApp(
            name: "greets after its callback", findings: [19: "misses the visit if the system suspends at once"],
            sharesTwin: true
        ) { DwellApp($0, delay: $2 ? 0 : 0.02) },
        SampleApp(
            name: "greets whoever came 25 s ago",
            findings: [4: "notes \"nice to see you\" after the visitor has left"], sharesTwin: true
        ) { DwellApp($0, delay: $2 ? 0 : 25) },
        SampleApp(
            name: "does not open its monitor again", findings: [32: "does not open its monitor again when launched"]
        ) { outlet, launch, isFixed in
            MonitorApp(outlet, opens: isFixed || !launch.isByEvent)
        },
        SampleApp(
            name: "skips the first event of its monitor", findings: [32: "drops the event that launched it"],
            sharesTwin: true
        ) { MonitorApp($0, skipsFirst: !$2) },
        SampleApp(
            name: "drops events after its login has expired", findings: [34: "loses the visit over a restart"]
        ) { outlet, launch, isFixed in MemberApp(outlet, logsIn: !launch.isByEvent, isFixed: isFixed) },
    ]
}

/// After petermetz/cordova-plugin-ibeacon#342: the bridge to the script is ready two seconds after the launch.
@MainActor
private final class BridgedApp: NSObject, CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let outlet: Outlet
    private var isInside = false

    init(_ outlet: Outlet, isReady: Bool) {
        self.outlet = outlet
        super.init()
        manager.startMonitoring(for: shopRegion)
        if isReady {
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

    init(_ outlet: Outlet, hasScreen: Bool, loadsScreen: Bool) {
        guard hasScreen else { return }
        screen = ShopScreen(outlet)
        if loadsScreen { screen?.viewDidLoad() }
    }
}

/// After transistorsoft/flutter_background_geolocation#1645: the regions' names come from a database that is not open.
@MainActor
private final class TableApp: NSObject, CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let outlet: Outlet
    private let waits: Bool
    private var names: [String: String]?
    private var waiting: [String] = []
    private var inside: Set<String> = []

    init(_ outlet: Outlet, waits: Bool = true, key: String = "shop") {
        (self.outlet, self.waits) = (outlet, waits)
        super.init()
        manager.delegate = self
        manager.startMonitoring(for: shopRegion)
        Task {
            try? await Task.sleep(for: .seconds(1))
            names = [key: "the shop in Market Square"]
            outlet.notify("ready")
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
        } else if waits {
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

/// A greeting some seconds after the entry, so that passers-by get none. The twin greets at once.
private final class DwellApp: NSObject, CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let outlet: Outlet
    private let delay: Double
    private var isInside = false

    init(_ outlet: Outlet, delay: Double) {
        (self.outlet, self.delay) = (outlet, delay)
        super.init()
        manager.delegate = self
        manager.startMonitoring(for: shopRegion)
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        defer { if state != .unknown { isInside = state == .inside } }
        guard state == .inside, !isInside else { return }
        if delay == 0 { return outlet.notify("nice to see you") }
        DispatchQueue.main.asyncAfter(deadline: .now() + delay) { [outlet] in outlet.notify("nice to see you") }
    }
}

/// An app of iOS 17 whose task is started by its first screen.
@MainActor
private final class MonitorApp {
    private var task: Task<Void, Never>?

    init(_ outlet: Outlet, opens: Bool = true, skipsFirst: Bool = false) {
        guard opens else { return }
        task = Task {
            let monitor = await CLMonitor("Shops")
            if await monitor.record(for: "shop") == nil {
                await monitor.add(CLMonitor.BeaconIdentityCondition(uuid: museum), identifier: "shop")
            }
            // The first event only repeats what is known, or so the faulty app believes.
            var isSkipped = skipsFirst
            var last = await monitor.record(for: "shop")?.lastEvent.state
            do {
                for try await event in await monitor.events {
                    if event.state == .satisfied, last != .satisfied, !isSkipped {
                        outlet.notify("arrived at \(event.identifier)")
                    }
                    isSkipped = false
                    if event.state == .satisfied || event.state == .unsatisfied { last = event.state }
                }
            } catch {
                outlet.display("the monitor has failed")
            }
        }
    }
}

/// A client of a server, which is logged in for 90 s. The twin's server takes visits without a login.
@MainActor
private final class MemberApp: NSObject, CLLocationManagerDelegate {
    /// The time of the last login, which outlives the app as in a keychain.
    private static var login = Date.distantPast

    private let manager = CLLocationManager()
    private let outlet: Outlet
    private let isFixed: Bool
    private var isInside = false

    init(_ outlet: Outlet, logsIn: Bool, isFixed: Bool) {
        (self.outlet, self.isFixed) = (outlet, isFixed)
        super.init()
        if logsIn { Self.login = Date() }
        manager.delegate = self
        manager.startMonitoring(for: shopRegion)
    }

    nonisolated func locationManager(
        _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
    ) {
        MainActor.assumeIsolated {
            if state == .inside, !isInside, isFixed || Date().timeIntervalSince(Self.login) < 90 {
                outlet.notify("a point for your visit")
            }
            if state != .unknown { isInside = state == .inside }
        }
    }
}
