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
            case .ranged: nil
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

/// Random numbers that a seed decides (SplitMix64), so that a failure can be repeated.
struct TestRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
