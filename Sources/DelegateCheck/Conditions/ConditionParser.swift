/// A parser and evaluator of the condition of an `#if`.
struct ConditionParser {
    private let pieces: [String]
    private var index = 0

    private init(_ pieces: [String]) {
        self.pieces = pieces
    }

    /// Evaluates the condition that these words and marks spell; one that cannot be read is unknown.
    static func truth(of pieces: [String]) -> PlatformTruth {
        var parser = ConditionParser(pieces)
        guard let truth = parser.alternatives(depth: 0), parser.index == pieces.count else {
            return PlatformTruth(.unknown)
        }
        return truth
    }

    private mutating func alternatives(depth: Int) -> PlatformTruth? {
        guard depth < 32, var truth = conjunction(depth: depth) else { return nil }
        while takeTwice("|") {
            guard let next = conjunction(depth: depth) else { return nil }
            truth = truth || next
        }
        return truth
    }

    private mutating func conjunction(depth: Int) -> PlatformTruth? {
        guard var truth = operand(depth: depth) else { return nil }
        while takeTwice("&") {
            guard let next = operand(depth: depth) else { return nil }
            truth = truth && next
        }
        return truth
    }

    private mutating func operand(depth: Int) -> PlatformTruth? {
        var isNegated = false
        while take("!") { isNegated.toggle() }
        guard index < pieces.count else { return nil }
        let truth: PlatformTruth?
        if take("(") {
            truth = alternatives(depth: depth + 1)
            guard take(")") else { return nil }
        } else {
            let name = pieces[index]
            index += 1
            truth = take("(") ? question(name) : Self.flag(name)
        }
        return isNegated ? truth.map { !$0 } : truth
    }

    private mutating func question(_ name: String) -> PlatformTruth? {
        let start = index
        while index < pieces.count, pieces[index] != ")" { index += 1 }
        let argument = pieces[start..<index].joined()
        guard take(")") else { return nil }
        switch name {
        case "os":
            let isApple = argument == "iOS"
            return PlatformTruth(
                linux: argument == "Linux" ? .yes : .no, device: isApple ? .yes : .no, simulator: isApple ? .yes : .no)
        case "targetEnvironment":
            return PlatformTruth(linux: .no, device: .no, simulator: argument == "simulator" ? .yes : .no)
        case "canImport":
            let module = argument.split(whereSeparator: { $0 == "," || $0 == "." }).first.map(String.init) ?? ""
            return Self.canImport(module)
        case "_runtime":
            let isObjectiveC: Truth = argument == "_ObjC" ? .yes : .no
            return PlatformTruth(linux: !isObjectiveC, device: isObjectiveC, simulator: isObjectiveC)
        case "swift", "compiler", "_compiler_version":
            return PlatformTruth(Self.hasVersion(argument))
        default:
            return PlatformTruth(.unknown)
        }
    }

    private static func flag(_ name: String) -> PlatformTruth? {
        switch name {
        case "true": PlatformTruth(.yes)
        case "false": PlatformTruth(.no)
        default: PlatformTruth(.unknown)
        }
    }

    private static func canImport(_ module: String) -> PlatformTruth {
        if module == "Glibc" { return PlatformTruth(linux: .yes, device: .no, simulator: .no) }
        if appleModules.contains(module) { return PlatformTruth(linux: .no, device: .yes, simulator: .yes) }
        return PlatformTruth(sharedModules.contains(module) ? .yes : .unknown)
    }

    /// Returns whether the compiler has a version. Swift 5 holds for any source; newer versions depend on the compiler.
    private static func hasVersion(_ argument: String) -> Truth {
        let isLower = argument.hasPrefix("<")
        guard isLower || argument.hasPrefix(">=") else { return .unknown }
        guard let major = Int(argument.dropFirst(isLower ? 1 : 2).prefix { $0 >= "0" && $0 <= "9" }) else {
            return .unknown
        }
        if major >= 6 || (major == 5 && argument.contains(".") && !argument.hasSuffix(".0")) { return .unknown }
        return isLower ? .no : .yes
    }

    private mutating func take(_ piece: String) -> Bool {
        guard index < pieces.count, pieces[index] == piece else { return false }
        index += 1
        return true
    }

    private mutating func takeTwice(_ piece: String) -> Bool {
        guard index + 1 < pieces.count, pieces[index] == piece, pieces[index + 1] == piece else { return false }
        index += 2
        return true
    }

    /// Modules that no Linux has.
    private static let appleModules: Set<String> = [
        "ActivityKit", "AppIntents", "AppKit", "ARKit", "AVFoundation", "BackgroundTasks", "Combine", "CoreData",
        "CoreGraphics", "CoreMotion", "CoreNFC", "CoreTelephony", "CoreText", "Darwin", "HealthKit", "HomeKit",
        "MapKit",
        "MultipeerConnectivity", "NearbyInteraction", "ObjectiveC", "OSLog", "PassKit", "QuartzCore", "SafariServices",
        "SceneKit", "Security", "SpriteKit", "StoreKit", "SwiftData", "SwiftUI", "UIKit", "UserNotifications",
        "WatchConnectivity", "WatchKit", "WebKit", "WidgetKit", "os",
    ]

    /// Modules that iOS and Linux both have, this package's among them.
    private static let sharedModules: Set<String> = [
        "CoreBluetooth", "CoreLocation", "Dispatch", "Foundation", "Observation", "Swift", "_Concurrency",
    ]
}

/// The truth of a condition on Linux, on an iOS device and in the iOS simulator.
struct PlatformTruth {
    /// On Linux.
    var linux: Truth

    /// On a device.
    var device: Truth

    /// In the simulator.
    var simulator: Truth

    /// Creates a truth that is the same everywhere.
    init(_ truth: Truth) {
        self.init(linux: truth, device: truth, simulator: truth)
    }

    init(linux: Truth, device: Truth, simulator: Truth) {
        self.linux = linux
        self.device = device
        self.simulator = simulator
    }

    /// A Boolean value that indicates whether iOS may have what Linux never has.
    var isKeptFromLinux: Bool { linux == .no && (device != .no || simulator != .no) }

    /// Returns whether both hold.
    static func && (left: PlatformTruth, right: PlatformTruth) -> PlatformTruth {
        PlatformTruth(
            linux: left.linux && right.linux, device: left.device && right.device,
            simulator: left.simulator && right.simulator)
    }

    /// Returns whether either holds.
    static func || (left: PlatformTruth, right: PlatformTruth) -> PlatformTruth {
        !(!left && !right)
    }

    /// Returns whether it does not hold.
    static prefix func ! (truth: PlatformTruth) -> PlatformTruth {
        PlatformTruth(linux: !truth.linux, device: !truth.device, simulator: !truth.simulator)
    }
}

/// The truth of a condition, as far as can be known without building.
enum Truth {
    case no
    case yes
    case unknown

    /// Returns whether both hold.
    static func && (left: Truth, right: Truth) -> Truth {
        if left == .no || right == .no { return .no }
        return left == .yes && right == .yes ? .yes : .unknown
    }

    /// Returns whether either holds.
    static func || (left: Truth, right: Truth) -> Truth {
        !(!left && !right)
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
