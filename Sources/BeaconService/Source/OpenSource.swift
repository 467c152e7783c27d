public import BeaconRadio
public import LinuxRadio

/// A source that has been opened, of whichever kind.
public struct OpenSource: AdvertSource, ~Copyable {
    // One of the three is there.
    private var capture: CaptureReader?
    private var simulation: SimulatedAir?
    private var live: LiveSource?

    /// Opens what a specification names.
    ///
    /// - Parameters:
    ///   - mode: how hard a radio listens. Captures and simulations give all they have.
    ///   - tell: told what a radio notices and what state it is in, by whoever pulls.
    /// - Throws: `CaptureError`, `ScenarioError`, `RadioError`, or ``SourceError`` where a scenario has no name.
    public init(
        _ specification: SourceSpecification, mode: ScanMode = .ranging,
        tell: @escaping (RadioEvent) -> Void = { _ in }
    ) throws {
        live = nil
        switch specification {
        case .file(let path):
            capture = try CaptureReader(path: path)
            simulation = nil
        case .simulation(let name):
            simulation = SimulatedAir(
                try Scenario.names.contains(name) ? Scenario(named: name) : Self.scenario(path: name))
            capture = nil
        case .auto, .hci, .bluez:
            capture = nil
            simulation = nil
            live = try specification.radio.map { try LiveSource($0, mode: mode, tell: tell) }
        }
    }

    /// Ends the wait for a real radio, from any thread; nil where nothing waits.
    public var waker: Waker? {
        switch live {
        case .some(let live): live.waker
        case nil: nil
        }
    }

    /// A radio that has been opened.
    init(_ live: consuming LiveSource) {
        capture = nil
        simulation = nil
        self.live = consume live
    }

    /// Whether what is not heard is not there. A radio that is switched off or gone hears nothing, which says nothing.
    public var isHearing: Bool {
        switch live {
        case .some(let live): live.isHearing
        case nil: true
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

    /// Has a radio listen this hard from now on. Captures and simulations give all they have.
    public func scan(_ mode: ScanMode) {
        switch live {
        case .some(let live): live.scan(mode)
        case nil: break
        }
    }

    /// The receivers met so far.
    public var receiverNames: [String] {
        switch capture {
        case .some(let reader): return reader.receiverNames
        case nil: break
        }
        switch live {
        case .some(let live): return live.receiverNames
        case nil: return simulation?.receiverNames ?? []
        }
    }

    /// What was delivered so far.
    public var counts: SourceCounts {
        switch capture {
        case .some(let reader): return reader.counts
        case nil: break
        }
        switch live {
        case .some(let live): return live.counts
        case nil: return simulation?.counts ?? SourceCounts()
        }
    }

    /// Reads one record and hands each advert in it to `deliver`.
    ///
    /// - Throws: what is wrong with the source, and what `deliver` throws.
    public mutating func next(_ deliver: (Reception, RawSpan) throws -> Void) throws -> SourceRecord? {
        if let record = try live?.next(deliver) { return record }
        if let record = try capture?.next(deliver) { return record }
        return try simulation?.next(deliver)
    }
}
