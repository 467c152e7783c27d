import BeaconCapture
public import BeaconRadio
import BeaconReceivers
import BeaconSimulation
package import BeaconSupport
import CLibrary
import LinuxRadio

extension SourceSpecification {
    /// Opens the drivers of the source: at least one, or one recording.
    ///
    /// - Parameter interruption: a descriptor that ends a capture once it is readable, since a pipe may be silent for
    ///   long.
    /// - Throws: `CaptureError`, `ScenarioError`, `RadioError`, or ``SourceError`` for an unknown scenario or a missing
    ///   file.
    func open(interruption: Int32 = -1) throws -> [any ReceiverDriver] {
        switch kind {
        case .file(let path):
            guard path == "-" || access(path, F_OK) == 0 || errno != ENOENT else {
                throw SourceError(.noFile, "no such file: \(path.printable); \(SourceError.forms)")
            }
            return [try CaptureDriver(path: path, interruption: interruption)]
        case .simulation(let name, let isRepeated):
            return [ScenarioDriver(try Scenario(json: Self.scenario(name)), isRepeated: isRepeated)]
        case .auto, .hci, .bluez: return try radio.map(AdapterChoice.drivers) ?? []
        case .air: return try airLocation.map { [try AirDriver($0)] } ?? []
        case .network(let network): return [try network.source.makeDriver()]
        }
    }

    /// The largest accepted scenario in bytes; a hand-written one has a few kilobytes.
    private static let largestScenario = 16 << 20

    /// Reads and checks a scenario, either one that ships with the package, by its name, or a file, by its path.
    ///
    /// - Returns: its text.
    /// - Throws: `ScenarioError`, or ``SourceError`` if it is missing or has a mistake.
    package static func scenario(_ name: String) throws -> [UInt8] {
        try Scenario.names.contains(name) ? Scenario.json(named: name) : scenario(path: name)
    }

    private static func scenario(path: String) throws -> [UInt8] {
        do {
            let json = try FileInput.contents(path: path, limit: largestScenario)
            _ = try Scenario(json: json)
            return json
        } catch let error as CaptureError {
            let names = Scenario.names.joined(separator: ", ")
            throw SourceError(
                .noScenario,
                "\"\(path)\" is neither a built-in scenario (\(names)) nor a readable "
                    + "file: \(error.message)")
        } catch let error as ScenarioError {
            throw SourceError(.noScenario, "\(path): \(error)")
        }
    }
}

extension SourceReader {
    /// Opens the source of a specification. A radio scans for every advert.
    ///
    /// - Parameters:
    ///   - specification: the source.
    ///   - packetInterval: the time from one record to the next, counted from zero, replacing the times of a recording.
    /// - Throws: `CaptureError`, `ScenarioError`, `RadioError`, or ``SourceError`` for an unknown scenario or a missing
    ///   file.
    public init(_ specification: SourceSpecification, packetInterval: Duration? = nil) throws {
        try self.init(specification, packetInterval: packetInterval, report: { _ in })
    }

    /// Opens the source of a specification.
    ///
    /// - Parameters:
    ///   - specification: the source.
    ///   - mode: the initial scan mode of a radio. Captures and simulations deliver all their adverts.
    ///   - waker: ends the wait for a radio, from any thread.
    ///   - interruption: a descriptor that ends a capture once it is readable, since a pipe may be silent for long.
    ///   - packetInterval: the time from one record to the next, replacing the times of a recording.
    ///   - keepsAdverts: true to keep the bytes of adverts.
    ///   - report: called with states and notices, on the thread that reads.
    /// - Throws: `CaptureError`, `ScenarioError`, `RadioError`, or ``SourceError`` for an unknown scenario or a missing
    ///   file.
    package init(
        _ specification: SourceSpecification, mode: ScanMode = .ranging, waker: Waker = Waker(),
        interruption: Int32 = -1, packetInterval: Duration? = nil, keepsAdverts: Bool = false,
        report: @escaping (SourceEvent) -> Void
    ) throws {
        self.init(
            try specification.open(interruption: interruption), mode: mode, waker: waker,
            packetInterval: packetInterval, keepsAdverts: keepsAdverts,
            readsAhead: specification.filePath != nil && !specification.isGradual(at: .fastest),
            tags: specification.tags, report: report)
    }
}
