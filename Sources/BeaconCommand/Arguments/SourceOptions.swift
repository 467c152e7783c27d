import ArgumentParser
import BeaconService
import Glibc

/// The options that say where adverts come from and how fast.
struct SourceOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Where adverts come from: FILE, - or simulation:NAME-or-FILE.",
            discussion: "Default: BEACON_SOURCE in the environment.", valueName: "source"))
    var source: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Play so many times as fast as real time, or 'max'.",
            discussion: "Default: 1 for a simulation, max for a file.", valueName: "x|max"))
    var speed: SpeedArgument?

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp(
            "Give packets times so far apart in place of their own.",
            discussion: "hcidump -R keeps no times, and range and monitor need some.", valueName: "seconds"))
    var packetInterval: Double?

    mutating func validate() throws {
        guard let packetInterval else { return }
        guard packetInterval > 0, packetInterval <= 3600 else {
            throw ValidationError(
                "--packet-interval is \(packetInterval); it has to be above 0 and up to 3600 seconds.")
        }
    }

    /// What the source is.
    var specification: SourceSpecification {
        SourceSpecification(source ?? Terminal.environment("BEACON_SOURCE") ?? "auto")
    }

    /// How fast it plays, where a live source plays in real time by itself.
    var pace: Pace { speed?.pace ?? (specification.isLive ? .times(1) : .fastest) }

    /// What the source is called on the screen.
    var title: String {
        switch specification {
        case .auto: "auto"
        case .hci(let adapter): adapter ?? "hci"
        case .bluez(let adapter): adapter ?? "bluez"
        case .file(let path): path == "-" ? "standard input" : String(path.split(separator: "/").last ?? "")
        case .simulation(let name): "\(name.split(separator: "/").last ?? "") (simulated)"
        }
    }

    /// Whether results should go out one by one, since they come slowly and somebody may wait for them.
    var isGradual: Bool {
        if pace != .fastest { return true }
        guard case .file(let path) = specification else { return false }
        var status = stat()
        // A pipe may be fed by a program that runs for days.
        return path == "-" || (stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG)
    }

    /// Opens the source.
    func open() throws -> SightingSource {
        SightingSource(
            try OpenSource(specification), packetInterval: packetInterval.map { .nanoseconds(Int64($0 * 1e9)) })
    }
}
