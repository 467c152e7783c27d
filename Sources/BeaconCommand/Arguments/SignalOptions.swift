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
                "With auto, adverts enter a region within 10 dB of the strongest signal that beacons of its UUID "
                + "have had at the receiver, and keep it within 20 dB. Beacons that lie on the receiver do not "
                + "count. It works well once more than a third of the beacons have been close to the receiver.",
            valueName: "dBm|auto"))
    var minimumRSSI: MinimumSignal?

    @Option(
        name: .customLong("exit-rssi"), parsing: .unconditional,
        help: ArgumentHelp(
            "The weakest advert that keeps a region entered, in dBm.",
            discussion: "Default: the value of --minimum-rssi.",
            valueName: "dBm"))
    var exitRSSI: Int?

    mutating func validate() throws {
        for (name, value) in [("--minimum-rssi", minimumRSSI?.level), ("--exit-rssi", exitRSSI)] {
            guard let value, !SignalStrength.readings.contains(value) else { continue }
            // People often leave out the minus sign of a signal strength.
            let hint = SignalStrength.readings.contains(-value) ? " Was \(-value) meant?" : ""
            throw ValidationError("\(name) is \(value); signal strengths are from -127 to -1 dBm.\(hint)")
        }
        if minimumRSSI == .learned, exitRSSI != nil {
            throw ValidationError("--exit-rssi cannot be combined with --minimum-rssi auto, which learns both levels.")
        }
        if let minimumRSSI = minimumRSSI?.level, let exitRSSI, exitRSSI > minimumRSSI {
            throw ValidationError(
                "--exit-rssi \(exitRSSI) is above --minimum-rssi \(minimumRSSI): adverts that enter a region "
                    + "would be too weak to keep it. Use a value no higher than --minimum-rssi.")
        }
    }

    /// Sets the signals of a region.
    func apply(to region: inout MonitoredRegion) {
        region.minimumRSSI = minimumRSSI?.level.map(Int8.init)
        region.exitRSSI = (exitRSSI ?? minimumRSSI?.level).map(Int8.init)
        region.isSignalLearned = minimumRSSI == .learned
    }
}

/// The options for the exit from a region.
struct ExitOptions: ParsableArguments {
    @Option(
        name: .customLong("exit-timeout"), parsing: .unconditional,
        help: ArgumentHelp(
            "Exit a region after this time without an advert.", discussion: "Default: 30s; 15m for phones and watches.",
            valueName: "seconds"),
        transform: TimeSpan.reader(.milliseconds(1)...(.seconds(86_400))))
    var exitTimeout: TimeSpan?

    @Flag(
        help: ArgumentHelp(
            "Lengthen the exit timeout for beacons with long intervals, to 31s at most.",
            discussion: """
                It becomes at least three times the longest regular gap between two adverts, which counts for 10.24 s at \
                most, the longest interval in Bluetooth. So it serves exit timeouts below 31s. A beacon that is heard \
                every 15 s needs a longer --exit-timeout instead: four or five of its intervals.
                """))
    var adaptiveExit = false

    /// Returns a region to monitor, with these signals.
    func region(_ argument: RegionArgument, _ signals: SignalOptions) -> MonitoredRegion {
        var region = MonitoredRegion(
            argument.constraint, exitTimeout: exitTimeout?.duration ?? .seconds(argument.isTag ? 900 : 30),
            isExitAdaptive: adaptiveExit && !argument.isTag)
        signals.apply(to: &region)
        return region
    }
}

/// The weakest signal that enters a region: a level, or a learned one.
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

    /// The level in dBm; nil if it is learned.
    var level: Int? { if case .level(let level) = self { level } else { nil } }
}
