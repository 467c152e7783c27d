import BeaconEngine
import BeaconModel

extension Engine {
    /// Returns an engine with this capacity.
    static func holding(_ beacons: Int) -> Engine {
        var configuration = EngineConfiguration()
        configuration.maximumTrackedBeacons = beacons
        return Engine(configuration: configuration)
    }

    /// Lets one beacon be heard at a constant interval.
    mutating func hear(
        from start: Double, to end: Double, every interval: Double, _ make: (Double) -> Sighting
    ) {
        var index = 0
        while start + Double(index) * interval <= end + 1e-9 {
            receive(make(start + Double(index) * interval))
            index += 1
        }
    }

    /// The pending region changes as text: `enter 1.0`, `exit 31.0`, `outside 10.0`.
    mutating func regionEvents() -> [String] {
        drainEvents().compactMap { event in
            switch event {
            case .entered(let change): "enter \(change.time.seconds)"
            case .exited(let change): "exit \(change.time.seconds)"
            case .determined(let change): "outside \(change.time.seconds)"
            case .ranged, .placed, .located, .uncalibrated: nil
            }
        }
    }

    /// The pending ranging reports.
    mutating func reports() -> [RangingReport] {
        drainEvents().compactMap { event in
            if case .ranged(let report) = event { report } else { nil }
        }
    }
}
