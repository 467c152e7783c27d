import ArgumentParser
import BeaconRadio
import BeaconService
import Glibc

/// The options that say where adverts come from and how fast.
struct SourceOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Where adverts come from: auto, hci[:ADAPTERS], bluez[:ADAPTERS], FILE, - or simulation:NAME-or-FILE.",
            discussion: "Default: BEACON_SOURCE in the environment, else auto.", valueName: "source"))
    var source: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Play so many times as fast as real time, or 'max'.",
            discussion: "Default: 1 for a simulation, max for a file. A radio has its own time.", valueName: "x|max"))
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

    /// How fast it plays. A radio is not held back: whoever waits for it waits for the time.
    var pace: Pace {
        if specification.isRadio { return .fastest }
        return speed?.pace ?? (specification.isLive ? .times(1) : .fastest)
    }

    /// What the source is called on the screen.
    var title: String {
        switch specification {
        case .auto: "auto"
        case .hci(let adapters): adapters ?? "hci"
        case .bluez(let adapters): adapters ?? "bluez"
        case .file(let path): path == "-" ? "standard input" : String(path.split(separator: "/").last ?? "")
        case .simulation(let name): "\(name.split(separator: "/").last ?? "") (simulated)"
        }
    }

    /// Whether results should go out one by one, since they come slowly and somebody may wait for them.
    var isGradual: Bool {
        if specification.isRadio || pace != .fastest { return true }
        guard case .file(let path) = specification else { return false }
        var status = stat()
        // A pipe may be fed by a program that runs for days.
        return path == "-" || (stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG)
    }

    /// Opens the source.
    ///
    /// - Parameters:
    ///   - mode: how hard a radio listens.
    ///   - tell: told what a radio notices.
    func open(mode: ScanMode, tell: @escaping (RadioEvent) -> Void) throws -> SightingSource {
        SightingSource(
            try OpenSource(specification, mode: mode, tell: tell),
            // A radio's records are no packets, and it keeps times.
            packetInterval: (specification.isRadio ? nil : packetInterval).map { .nanoseconds(Int64($0 * 1e9)) })
    }
}
