import CoreLocation
import Foundation

/// An app as for iOS: it requests permission, monitors a region, and prints its delegate's callbacks. It ends once it
/// is registered, or after a callback about the region.
@main
final class LaunchedApp: NSObject, CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let isRelaunch: Bool

    override init() {
        isRelaunch = !manager.monitoredRegions.isEmpty
        super.init()
        manager.delegate = self
        manager.requestAlwaysAuthorization()
        guard !isRelaunch, let uuid = UUID(uuidString: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0") else { return }
        manager.startMonitoring(for: CLBeaconRegion(uuid: uuid, identifier: "hall"))
    }

    static func main() {
        let app = LaunchedApp()
        print("launched with \(CommandLine.arguments.dropFirst().joined(separator: " "))")
        while !app.isDone { RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.05)) }
        print("ends")
    }

    private var isReported = false
    private var deadline = Date(timeIntervalSinceNow: 20)

    private var isDone: Bool {
        if Date.now > deadline { return true }
        return isRelaunch ? isReported : isRegistered
    }

    /// Whether the launch registration is on the disk. An app on iOS would not need to check.
    private var isRegistered: Bool {
        guard let state = ProcessInfo.processInfo.environment["XDG_STATE_HOME"] else { return false }
        let folder = state + "/swift-beacon/applications/"
        let applications = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return applications.contains { FileManager.default.fileExists(atPath: "\(folder)\($0)/launch.json") }
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        print("state \(state.rawValue) \(region.identifier)")
        // An enter or an exit may follow immediately.
        deadline = Date(timeIntervalSinceNow: 0.5)
    }

    func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
        print("enter \(region.identifier)")
        isReported = true
    }

    func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
        print("exit \(region.identifier)")
        isReported = true
    }
}
