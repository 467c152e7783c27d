/// The truth of a condition on Linux, on an iOS device and in the iOS simulator.
package struct PlatformTruth {
    /// On Linux.
    package var linux: Truth

    /// On a device.
    package var device: Truth

    /// In the simulator.
    package var simulator: Truth

    /// Creates a truth that is the same everywhere.
    package init(_ truth: Truth) {
        self.init(linux: truth, device: truth, simulator: truth)
    }

    init(linux: Truth, device: Truth, simulator: Truth) {
        self.linux = linux
        self.device = device
        self.simulator = simulator
    }

    /// A Boolean value that indicates whether iOS may compile code that Linux never compiles.
    package var isKeptFromLinux: Bool { linux == .no && (device != .no || simulator != .no) }

    /// Returns whether both hold.
    package static func && (left: PlatformTruth, right: PlatformTruth) -> PlatformTruth {
        PlatformTruth(
            linux: left.linux && right.linux, device: left.device && right.device,
            simulator: left.simulator && right.simulator)
    }

    /// Returns whether either holds.
    package static func || (left: PlatformTruth, right: PlatformTruth) -> PlatformTruth {
        !(!left && !right)
    }

    /// Returns whether it does not hold.
    package static prefix func ! (truth: PlatformTruth) -> PlatformTruth {
        PlatformTruth(linux: !truth.linux, device: !truth.device, simulator: !truth.simulator)
    }
}

/// The truth of a condition, as far as it is known without a build.
package enum Truth {
    case no
    case yes
    case unknown

    /// Returns whether both hold.
    static func && (left: Truth, right: Truth) -> Truth {
        if left == .no || right == .no { return .no }
        return left == .yes && right == .yes ? .yes : .unknown
    }

    /// Returns whether it does not hold.
    static prefix func ! (truth: Truth) -> Truth {
        switch truth {
        case .no: .yes
        case .yes: .no
        case .unknown: .unknown
        }
    }
}
