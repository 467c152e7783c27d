import ArgumentParser
import BeaconEngine
import BeaconModel
import BeaconSupport

/// The options for the signals that enter and keep a region.
struct SignalOptions: ParsableArguments {
    @Option(
        name: .customLong("minimum-rssi"), parsing: .unconditional,
        help: ArgumentHelp(
            "The weakest advert that enters a region, in dBm, such as -70, or auto.",
            discussion:
                "With auto, a region is entered within 10 dB of the strongest signal that beacons of its UUID have "
                + "had at the receiver, and kept within 20 dB. Beacons that lie on it do not count. It is good once "
                + "more than a third of the beacons have been close to the receiver.",
            valueName: "dBm|auto"))
    var minimumRSSI: MinimumSignal?

    @Option(
        name: .customLong("exit-rssi"), parsing: .unconditional,
        help: ArgumentHelp(
            "The weakest advert that keeps a region from being exited, in dBm.",
            discussion: "Default: the value of --minimum-rssi.",
            valueName: "dBm"))
    var exitRSSI: Int?

    mutating func validate() throws {
        for (name, value) in [("--minimum-rssi", minimumRSSI?.level), ("--exit-rssi", exitRSSI)] {
            guard let value, !SignalStrength.readings.contains(value) else { continue }
            // Signals are below zero, which whoever reads them aloud leaves out.
            let hint = SignalStrength.readings.contains(-value) ? " Was \(-value) meant?" : ""
            throw ValidationError("\(name) is \(value); signal strengths are from -127 to -1 dBm.\(hint)")
        }
        if minimumRSSI == .learned, exitRSSI != nil {
            throw ValidationError("--exit-rssi does not go with --minimum-rssi auto, which learns both.")
        }
        if let minimumRSSI = minimumRSSI?.level, let exitRSSI, exitRSSI > minimumRSSI {
            throw ValidationError(
                "--exit-rssi \(exitRSSI) is above --minimum-rssi \(minimumRSSI): a region would be left by the very "
                    + "adverts that enter it. Give one that is no higher.")
        }
    }

    /// Sets the signals of a region.
    func apply(to region: inout MonitoredRegion) {
        region.minimumRSSI = minimumRSSI?.level.map(Int8.init)
        region.exitRSSI = (exitRSSI ?? minimumRSSI?.level).map(Int8.init)
        region.isSignalLearned = minimumRSSI == .learned
    }
}

/// The options for when a region is exited.
struct ExitOptions: ParsableArguments {
    @Option(
        name: .customLong("exit-timeout"), parsing: .unconditional,
        help: ArgumentHelp(
            "The time without an advert after which a region is exited.", discussion: "Default: 30s.",
            valueName: "seconds"),
        transform: TimeSpan.reader(.milliseconds(1)...(.seconds(86_400))))
    var exitTimeout = TimeSpan(.seconds(30))

    @Flag(
        help: ArgumentHelp(
            "Lengthen the exit timeout for beacons that are heard rarely.",
            discussion: "It is then at least three times the longest regular gap between two adverts."))
    var adaptiveExit = false

    /// Returns the region of a constraint, with these signals.
    func region(_ constraint: BeaconConstraint, _ signals: SignalOptions) -> MonitoredRegion {
        var region = MonitoredRegion(
            constraint, exitTimeout: exitTimeout.duration, isExitAdaptive: adaptiveExit)
        signals.apply(to: &region)
        return region
    }
}

/// The weakest signal that enters a region: a level, or one that is learnt.
enum MinimumSignal: ExpressibleByArgument, Hashable {
    case level(Int)
    case learned

    init?(argument: String) {
        if argument == "auto" {
            self = .learned
        } else if let level = Int(argument) {
            self = .level(level)
        } else {
            return nil
        }
    }

    /// The level in dBm; nil where it is learnt.
    var level: Int? { if case .level(let level) = self { level } else { nil } }
}
