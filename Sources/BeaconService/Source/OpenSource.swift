public import BeaconRadio

/// A source that has been opened, of whichever kind.
public enum OpenSource: AdvertSource, ~Copyable {
    /// A capture.
    case capture(CaptureReader)
    /// The simulated air.
    case simulation(SimulatedAir)

    /// Opens what a specification names.
    ///
    /// - Throws: `CaptureError`, `ScenarioError`, or ``SourceError`` where a radio is asked for.
    public init(_ specification: SourceSpecification) throws {
        switch specification {
        case .file(let path):
            self = .capture(try CaptureReader(path: path))
        case .simulation(let name):
            self = .simulation(SimulatedAir(try Self.scenario(name)))
        case .auto, .hci, .bluez:
            throw SourceError(
                .noRadio,
                "this version does not hear real radios yet. Name a capture file, or try 'simulation:museum'")
        }
    }

    /// The scenario of this name that ships with the package, or the one in this file.
    private static func scenario(_ name: String) throws -> Scenario {
        if Scenario.names.contains(name) { return try Scenario(named: name) }
        return try Scenario(path: name)
    }

    public var receiverNames: [String] {
        switch self {
        case .capture(let reader): reader.receiverNames
        case .simulation(let air): air.receiverNames
        }
    }

    public var counts: SourceCounts {
        switch self {
        case .capture(let reader): reader.counts
        case .simulation(let air): air.counts
        }
    }

    public mutating func next(_ deliver: (Reception, RawSpan) throws -> Void) throws -> SourceRecord? {
        switch consume self {
        case .capture(var reader):
            do {
                let record = try reader.next(deliver)
                self = .capture(reader)
                return record
            } catch {
                self = .capture(reader)
                throw error
            }
        case .simulation(var air):
            do {
                let record = try air.next(deliver)
                self = .simulation(air)
                return record
            } catch {
                self = .simulation(air)
                throw error
            }
        }
    }
}
