import BeaconTestKit
import CoreLocation

/// Apps that follow their screen.
@MainActor
enum SceneApps {
    static let all: [SampleApp] = [
        SampleApp(
            name: "greets at each return", findings: [27: "greets at each return to the foreground"],
            scene: { app, isActive in (app as? ReturningApp)?.sceneDidChange(isActive: isActive) }
        ) { ReturningApp($0, isFixed: $2) },
        tour(
            "ends the visit in the background", .endsWithScreen, sharesTwin: false,
            findings: [18: "loses the visit when the app goes to the background"]),
        tour(
            "stops ranging in the background", .stopsWithScreen,
            findings: [18: "does not range again after its return from the background"]),
        tour(
            "ends the visit at its return", .waitsForScreen,
            findings: [26: "ends the visit at the wrong time: not at the exit"]),
        tour("never ends a short visit", .forgetsShortVisits, findings: [4: "the visit never ends"]),
    ]

    private static func tour(
        _ name: String, _ fault: TourApp.Fault, sharesTwin: Bool = true, findings: [Int: String]
    ) -> SampleApp {
        SampleApp(
            name: name, findings: findings, sharesTwin: sharesTwin,
            scene: { app, isActive in (app as? TourApp)?.sceneDidChange(isActive: isActive) }
        ) { TourApp($0, $2 ? nil : fault) }
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

/// A tour, which lasts from the entry to the exit, whatever its screen does.
private final class TourApp: NSObject, CLLocationManagerDelegate {
    enum Fault {
        /// Ends the tour when its screen disappears, though its visitor only looked at the time.
        case endsWithScreen
        /// Stops ranging when its screen disappears, and does not start again.
        case stopsWithScreen
        /// Waits for its screen before it ends the tour.
        case waitsForScreen
        /// Takes a short visit for none, though it has greeted.
        case forgetsShortVisits
    }

    private let manager = CLLocationManager()
    private let outlet: Outlet
    private let fault: Fault?
    private var isActive = false
    private var start: Date?
    private var lastEnd = Date.distantPast
    private var mustEnd = false

    init(_ outlet: Outlet, _ fault: Fault?) {
        (self.outlet, self.fault) = (outlet, fault)
        super.init()
        manager.delegate = self
        manager.startMonitoring(for: shopRegion)
    }

    func sceneDidChange(isActive: Bool) {
        self.isActive = isActive
        switch fault {
        case .endsWithScreen where !isActive: endTour()
        case .stopsWithScreen where !isActive:
            manager.stopRangingBeacons(satisfying: shopRegion.beaconIdentityConstraint)
        case .waitsForScreen where isActive && mustEnd: endTour()
        default: break
        }
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        if state == .inside, start == nil {
            start = Date()
            // A tour that ended a moment ago goes on.
            if fault != nil || Date().timeIntervalSince(lastEnd) > 60 { outlet.notify("the tour begins") }
            manager.startRangingBeacons(satisfying: shopRegion.beaconIdentityConstraint)
        }
        guard state == .outside else { return }
        if fault == .waitsForScreen, !isActive { mustEnd = true } else { endTour() }
    }

    private func endTour() {
        guard let start else { return }
        if fault == .forgetsShortVisits, Date().timeIntervalSince(start) < 45 { return }
        (self.start, mustEnd) = (nil, false)
        lastEnd = Date()
        manager.stopRangingBeacons(satisfying: shopRegion.beaconIdentityConstraint)
        outlet.notify("the tour is over")
    }
}
