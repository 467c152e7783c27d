import BeaconEngine
import BeaconModel

extension Engine {
    /// An engine whose tables hold no more than this.
    static func holding(_ beacons: Int) -> Engine {
        var configuration = EngineConfiguration()
        configuration.maximumTrackedBeacons = beacons
        return Engine(configuration: configuration)
    }

    /// Hears one beacon at a steady interval.
    mutating func hear(
        from start: Double, to end: Double, every interval: Double, _ make: (Double) -> Sighting
    ) {
        var index = 0
        while start + Double(index) * interval <= end + 1e-9 {
            receive(make(start + Double(index) * interval))
            index += 1
        }
    }

    /// The region changes among what is waiting, in words: `enter 1.0`, `exit 31.0`, `outside 10.0`.
    mutating func regionEvents() -> [String] {
        takeEvents().compactMap { event in
            switch event {
            case .entered(let change): "enter \(change.time.seconds)"
            case .exited(let change): "exit \(change.time.seconds)"
            case .determined(let change): "outside \(change.time.seconds)"
            case .ranged, .placed, .located, .uncalibrated: nil
            }
        }
    }

    /// The ranging reports among what is waiting.
    mutating func reports() -> [RangingReport] {
        takeEvents().compactMap { event in
            if case .ranged(let report) = event { report } else { nil }
        }
    }
}
