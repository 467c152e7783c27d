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
    /// - Parameter interruption: a descriptor that ends a capture once it can be read, since a pipe may be silent for
    ///   long.
    /// - Throws: `CaptureError`, `ScenarioError`, `RadioError`, or ``SourceError`` where a scenario has no name.
    func open(interruption: Int32 = -1) throws -> [any ReceiverDriver] {
        switch kind {
        case .file(let path):
            guard path == "-" || access(path, F_OK) == 0 || errno != ENOENT else {
                throw SourceError(.noFile, "there is no file \(path.printable); \(SourceError.forms)")
            }
            return [try CaptureDriver(path: path, interruption: interruption)]
        case .simulation(let name, let isRepeated):
            return [ScenarioDriver(try Scenario(json: Self.scenario(name)), isRepeated: isRepeated)]
        case .auto, .hci, .bluez: return try radio.map(AdapterChoice.drivers) ?? []
        case .air: return try airLocation.map { [try AirDriver($0)] } ?? []
        case .network(let network): return [try network.source.makeDriver()]
        }
    }

    /// The largest scenario in bytes; one that is written by hand has a few kilobytes.
    private static let largestScenario = 16 << 20

    /// Reads a scenario by the name of one that ships with the package, or its path, and checks it.
    ///
    /// - Returns: its text.
    /// - Throws: `ScenarioError`, or ``SourceError`` where it is missing or has a mistake.
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
                "\"\(path)\" is neither a scenario that comes with the program (\(names)) nor a file that can be "
                    + "read: \(error.message)")
        } catch let error as ScenarioError {
            throw SourceError(.noScenario, "\(path): \(error)")
        }
    }
}

extension SourceReader {
    /// Opens the source that a specification names. A radio begins to scan for every advert.
    ///
    /// - Parameters:
    ///   - specification: the source.
    ///   - packetInterval: replaces the times of a recording, counted from zero: the time from one record to the next.
    /// - Throws: `CaptureError`, `ScenarioError`, `RadioError`, or ``SourceError`` where a scenario has no name.
    public init(_ specification: SourceSpecification, packetInterval: Duration? = nil) throws {
        try self.init(specification, packetInterval: packetInterval, report: { _ in })
    }

    /// Opens the source that a specification names.
    ///
    /// - Parameters:
    ///   - specification: the source.
    ///   - mode: the scan mode that a radio begins with. Captures and simulations give all they have.
    ///   - waker: ends the wait for a radio, from any thread.
    ///   - interruption: a descriptor that ends a capture once it can be read, since a pipe may be silent for long.
    ///   - packetInterval: replaces the times of a recording: the time from one record to the next.
    ///   - keepsAdverts: true where the bytes of adverts are asked for.
    ///   - report: called with states and notices, on the thread that reads.
    /// - Throws: `CaptureError`, `ScenarioError`, `RadioError`, or ``SourceError`` where a scenario has no name.
    package init(
        _ specification: SourceSpecification, mode: ScanMode = .ranging, waker: Waker = Waker(),
        interruption: Int32 = -1, packetInterval: Duration? = nil, keepsAdverts: Bool = false,
        report: @escaping (SourceEvent) -> Void
    ) throws {
        self.init(
            try specification.open(interruption: interruption), mode: mode, waker: waker,
            packetInterval: packetInterval, keepsAdverts: keepsAdverts, report: report)
    }
}
