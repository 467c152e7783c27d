public import BeaconRadio

/// A source that has been opened, of whichever kind.
public struct OpenSource: AdvertSource, ~Copyable {
    // One of the two is there.
    private var capture: CaptureReader?
    private var simulation: SimulatedAir?

    /// Opens what a specification names.
    ///
    /// - Throws: `CaptureError`, `ScenarioError`, or ``SourceError`` where a radio is asked for.
    public init(_ specification: SourceSpecification) throws {
        switch specification {
        case .file(let path):
            capture = try CaptureReader(path: path)
            simulation = nil
        case .simulation(let name):
            simulation = SimulatedAir(
                try Scenario.names.contains(name) ? Scenario(named: name) : Self.scenario(path: name))
            capture = nil
        case .auto, .hci, .bluez:
            throw SourceError(
                .noRadio,
                "this version does not hear real radios yet. Name a capture with --source FILE, "
                    + "or try --source simulation:museum")
        }
    }

    /// Reads a scenario file.
    private static func scenario(path: String) throws -> Scenario {
        do {
            return try Scenario(json: FileInput.contents(path: path, limit: largestScenario))
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

    /// Written by hand, a scenario has a few kilobytes.
    private static let largestScenario = 16 << 20

    /// The receivers met so far.
    public var receiverNames: [String] {
        switch capture {
        case .some(let reader): reader.receiverNames
        case nil: simulation?.receiverNames ?? []
        }
    }

    /// What was delivered so far.
    public var counts: SourceCounts {
        switch capture {
        case .some(let reader): reader.counts
        case nil: simulation?.counts ?? SourceCounts()
        }
    }

    /// Reads one record and hands each advert in it to `deliver`.
    ///
    /// - Throws: what is wrong with the source, and what `deliver` throws.
    public mutating func next(_ deliver: (Reception, RawSpan) throws -> Void) throws -> SourceRecord? {
        if let record = try capture?.next(deliver) { return record }
        return try simulation?.next(deliver)
    }
}
