/// Whether a condition holds on Linux, on an iOS device and in the iOS simulator.
struct PlatformTruth {
    /// On Linux.
    var linux: Truth

    /// On a device.
    var device: Truth

    /// In the simulator.
    var simulator: Truth

    /// The same everywhere.
    init(_ truth: Truth) {
        self.init(linux: truth, device: truth, simulator: truth)
    }

    init(linux: Truth, device: Truth, simulator: Truth) {
        self.linux = linux
        self.device = device
        self.simulator = simulator
    }

    /// Whether iOS may have what Linux never has.
    var isKeptFromLinux: Bool { linux == .no && (device != .no || simulator != .no) }

    /// Both.
    static func && (left: PlatformTruth, right: PlatformTruth) -> PlatformTruth {
        PlatformTruth(
            linux: left.linux && right.linux, device: left.device && right.device,
            simulator: left.simulator && right.simulator)
    }

    /// Either.
    static func || (left: PlatformTruth, right: PlatformTruth) -> PlatformTruth {
        !(!left && !right)
    }

    /// The opposite.
    static prefix func ! (truth: PlatformTruth) -> PlatformTruth {
        PlatformTruth(linux: !truth.linux, device: !truth.device, simulator: !truth.simulator)
    }
}
