import BeaconTestKit
import CoreLocation

/// A device with a recording app, which monitors the museum. The record continues across the app's launches.
@MainActor
final class Phone {
    let air: SimulatedAir
    var device: SimulatedDevice { air.device }
    private var start: Date
    private var entries: [String] = []
    /// More set-up of each launch.
    var onLaunch: ((App) -> Void)?
    let region = CLBeaconRegion(uuid: museum, identifier: "museum")

    /// The app, as its launch closure makes it.
    final class App: NSObject, CLLocationManagerDelegate {
        let manager = CLLocationManager()
        let note: (String) -> Void

        init(_ note: @escaping (String) -> Void, hasDelegate: Bool) {
            self.note = note
            super.init()
            if hasDelegate { manager.delegate = self }
        }

        func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
            note("authorization \(manager.authorizationStatus.rawValue)")
        }

        func locationManager(
            _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
        ) { note("\(state)") }

        func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) { note("enter") }

        func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) { note("exit") }

        func locationManager(
            _ manager: CLLocationManager, didRange beacons: [CLBeacon],
            satisfying constraint: CLBeaconIdentityConstraint
        ) { note("ranged \(beacons.count)") }
    }

    init(seed: UInt64 = 1) {
        air = SimulatedAir(seed: seed)
        start = air.now
    }

    /// Places a beacon of the museum, so that the app enters the region.
    func enter() async {
        air.place(.exhibit(1, at: 2))
        await air.advance(by: .seconds(1))
    }

    /// Launches the app, and lets it learn that it is outside or inside.
    ///
    /// - Parameters:
    ///   - hasDelegate: false to let the app set its delegate elsewhere.
    ///   - monitors: false to monitor nothing.
    func launch(inside: Bool = false, hasDelegate: Bool = true, monitors: Bool = true) async -> PlacedBeacon? {
        let beacon = inside ? air.place(.exhibit(1, at: 2)) : nil
        device.launch { [unowned self] in
            note("launch")
            let app = App({ [unowned self] in note($0) }, hasDelegate: hasDelegate)
            onLaunch?(app)
            return app
        }
        if monitors { app.manager.startMonitoring(for: region) }
        await air.advance(by: .seconds(31))
        _ = take()
        return beacon
    }

    /// The app that runs. A test of an app that does not run fails, since this one has no delegate.
    var app: App { device.app() ?? App({ _ in }, hasDelegate: false) }

    private func note(_ text: String) {
        entries.append("\((air.now.timeIntervalSince(start) * 10).rounded() / 10) \(text)")
    }

    /// The entries since the last call, each with its second.
    func takeWithTimes() -> [String] {
        defer { (entries, start) = ([], air.now) }
        return entries
    }

    /// The entries since the last call.
    func take() -> [String] { takeWithTimes().map { String($0.drop { $0 != " " }.dropFirst()) } }
}

/// The columns of the table of the app's states.
enum Column: CaseIterable {
    case foreground, awake, suspended, endedBySystem, endedByUser

    /// Moves the app there.
    @MainActor
    func move(_ phone: Phone) async {
        switch self {
        case .foreground: break
        case .awake: phone.device.enterBackground()
        case .suspended:
            phone.device.backgroundPolicy.backgroundWindow = .zero
            phone.device.enterBackground()
        case .endedBySystem: phone.device.end(by: .system)
        case .endedByUser: phone.device.end(by: .user)
        }
        await phone.air.settle()
        _ = phone.take()
    }
}
