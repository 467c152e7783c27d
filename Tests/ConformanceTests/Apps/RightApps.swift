import BeaconTestKit
import CoreLocation

/// Unusual apps without a fault, each with the situations that could take it for a faulty one.
@MainActor
enum RightApps {
    static let all: [(app: SampleApp, situations: Set<Int>)] = [
        (SampleApp(name: "ranges for 40 s") { outlet, _, _ in NearRanger(outlet, .brief(seconds: 40)) }, [8, 18, 39]),
        (SampleApp(name: "only says goodbye") { outlet, _, _ in ThankfulApp(outlet, greets: false) }, [1]),
        (SampleApp(name: "thanks for long visits") { outlet, _, _ in ThankfulApp(outlet, greets: true) }, [4]),
    ]
}

/// An app that thanks for a visit that lasted for some time.
private final class ThankfulApp: NSObject, CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let outlet: Outlet
    private let greets: Bool
    private var start: Date?

    init(_ outlet: Outlet, greets: Bool) {
        (self.outlet, self.greets) = (outlet, greets)
        super.init()
        manager.delegate = self
        manager.startMonitoring(for: shopRegion)
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        if state == .inside, start == nil {
            start = Date()
            if greets { outlet.notify("welcome") }
        }
        if state == .outside, let begin = start {
            start = nil
            if Date().timeIntervalSince(begin) > 45 { outlet.notify("thank you for your visit") }
        }
    }
}
