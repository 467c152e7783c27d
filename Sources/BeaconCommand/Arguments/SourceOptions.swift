import ArgumentParser
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSimulation
import BeaconSupport
import BeaconTerminal
import Foundation

/// The options for the source of adverts and its speed.
struct SourceOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The source of adverts: auto, hci[:ADAPTERS], bluez[:ADAPTERS], FILE, -, simulation:NAME-or-FILE, "
                + "air[:NAME][@X,Y], mqtt://HOST or esphome[:HOST].",
            discussion: "Default: BEACON_SOURCE in the environment, else auto. See 'beacon --help'.",
            valueName: "source"), completion: .custom { _, _, prefix in SourceCompletion.candidates(prefix) })
    var source: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Play the source at this multiple of real time; max is as fast as the machine can.",
            discussion: "Default: 1 for a simulation, max for a file. An adapter ignores it.", valueName: "x|max"))
    var speed: SpeedArgument?

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp(
            "Replace the packets' times: each is this long after the one before.",
            discussion: "For captures without times, such as hcidump -R without -t, which range and monitor need.",
            valueName: "seconds"),
        transform: TimeSpan.reader(.microseconds(1)...(.seconds(3600))))
    var packetInterval: TimeSpan?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The file of measurements from 'beacon calibrate'.",
            discussion:
                "Default: the user's file for a radio; none for files and simulations, so that their results are the "
                + "same everywhere.",
            valueName: "file"))
    var calibration: String?

    @Option(
        name: .customLong("tags"),
        help: ArgumentHelp(
            "The file of phones and watches that count as beacons, with their keys.",
            discussion: "Each line is NAME: KEY. Only you should be able to read the file. See docs/phone-as-tag.md.",
            valueName: "file"), transform: TagFile.init(path:))
    var tagFile: TagFile?

    /// The tags of the file, as regions.
    var tags: [RegionArgument] {
        tagFile?.tags.map { RegionArgument(name: $0.name, constraint: BeaconConstraint($0.identity), isTag: true) }
            ?? []
    }

    /// Returns the source that the options name, or else the environment.
    ///
    /// It reads the environment, so a command calls it once, before it reads the first advert.
    ///
    /// - Parameters:
    ///   - specification: a source that overrides the options; nil for none.
    ///   - usualSpeed: the default speed of a source that is not a radio; nil for the source's own default.
    func choose(_ specification: SourceSpecification? = nil, usualSpeed: SpeedArgument? = nil) -> ChosenSource {
        var specification = specification ?? Self.specification(source)
        specification.tags = tagFile.map { TagDirectory($0.tags) }
        return ChosenSource(
            specification, speed: speed ?? usualSpeed, packetInterval: packetInterval?.duration,
            calibrationPath: calibration)
    }

    /// Returns the source that `text` names, or else the environment.
    static func specification(_ text: String?) -> SourceSpecification {
        SourceSpecification(text ?? Terminal.environment("BEACON_SOURCE") ?? "auto")
    }
}

/// The source of a command, as the command line and the environment named it when the command started.
struct ChosenSource {
    /// The source.
    var specification: SourceSpecification

    /// The speed at which the source plays. An adapter delivers in real time and is never slowed down.
    let pace: Pace

    /// True if each result should be written at once: results arrive slowly, and a reader may wait for them.
    let isGradual: Bool

    /// The title of the source on the screen.
    let title: String

    /// The file that `--calibration` names; nil for the default.
    let calibrationPath: String?

    private let packetInterval: Duration?

    /// Creates the source from its parts.
    init(
        _ specification: SourceSpecification, speed: SpeedArgument?, packetInterval: Duration? = nil,
        calibrationPath: String? = nil
    ) {
        self.specification = specification
        pace =
            specification.isRadio ? .fastest : speed?.pace ?? (specification.isLive ? .times(1) : .fastest)
        isGradual = specification.isGradual(at: pace)
        title = specification.title
        // A radio's records are not packets, and they already have times.
        self.packetInterval = specification.isRadio ? nil : packetInterval
        self.calibrationPath = calibrationPath
    }

    /// Returns the measurements of receivers and beacons that apply to the source.
    func calibrations() throws -> CalibrationSet {
        if let calibrationPath { return try CalibrationSet(file: URL(fileURLWithPath: calibrationPath)) }
        return specification.isRadio ? try CalibrationSet(optionalFile: CalibrationSet.userFile) : CalibrationSet()
    }

    /// Opens the source.
    ///
    /// - Parameters:
    ///   - mode: the scan mode of an adapter.
    ///   - keepsAdverts: true to deliver the bytes of adverts, with the recording's own times.
    ///   - report: receives the events of an adapter.
    func open(
        mode: ScanMode, keepsAdverts: Bool = false, report: @escaping (SourceEvent) -> Void
    ) throws -> SourceReader {
        try SourceReader(
            specification, mode: mode, packetInterval: keepsAdverts ? nil : packetInterval,
            keepsAdverts: keepsAdverts, report: report)
    }
}

/// The speed at which a source plays: a multiple of real time, or `max`.
struct SpeedArgument: ExpressibleByArgument {
    var pace: Pace

    /// The multiple of real time; nil for as fast as the machine can.
    private(set) var factor: Double?

    init?(argument: String) {
        if argument == "max" {
            pace = .fastest
        } else if let factor = Double(argument), factor > 0, factor.isFinite {
            pace = .times(factor)
            self.factor = factor
        } else {
            return nil
        }
    }
}

/// A region on the command line: `[NAME=]UUID[/MAJOR[/MINOR]]`.
struct RegionArgument {
    /// The user's name for it; without one, the constraint's text.
    var name: String

    /// The beacons that belong to it.
    var constraint: BeaconConstraint

    /// True for a tag of `--tags`.
    var isTag = false

    /// Creates a region from its parts.
    init(name: String, constraint: BeaconConstraint, isTag: Bool) {
        (self.name, self.constraint, self.isTag) = (name, constraint, isTag)
    }

    /// Reads a region.
    ///
    /// - Throws: `ValidationError`, with the form of a region.
    init(_ argument: String) throws {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let text = parts.last, let constraint = BeaconConstraint(text), parts.count == 1 || !parts[0].isEmpty
        else {
            throw ValidationError(
                "a region is [NAME=]UUID[/MAJOR[/MINOR]] with numbers up to 65535, for instance "
                    + "hall=e2c56db5-dffb-48d2-b060-d0f5a71096e0/1")
        }
        self.constraint = constraint
        name = parts.count == 2 ? String(parts[0]) : constraint.description
    }
}

/// The shell completions of a source.
enum SourceCompletion {
    private static let words =
        ["auto", "hci", "bluez", "air", "esphome", "mqtt://", "mqtts://"]
        + Scenario.names.map { "simulation:\($0)" }

    /// Returns the keywords and files that begin with `prefix`.
    static func candidates(_ prefix: String) -> [String] {
        // A file name can follow "simulation:" as well.
        let kind = prefix.hasPrefix("simulation:") ? "simulation:" : ""
        let path = prefix.dropFirst(kind.count)
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
        let paths = files.sorted().filter { !$0.hasPrefix(".") }.map { "\(kind)\(folder)\($0)" }
        return (words + paths).filter { $0.hasPrefix(prefix) }
    }
}
