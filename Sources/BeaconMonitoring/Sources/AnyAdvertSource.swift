import BeaconCapture
package import BeaconModel
public import BeaconRadio
import BeaconSimulation
package import BeaconSupport
import CLibrary
package import LinuxRadio

/// An open source of any kind.
public struct AnyAdvertSource: AdvertSource, ~Copyable {
    // Exactly one of the three is non-nil.
    private var capture: CaptureReader?
    private var simulation: ScenarioSource?
    private var live: LiveSource?

    /// Called with what a capture has to say of its content.
    private let report: (RadioEvent) -> Void
    private var hasReportedForeignLines = false

    /// The status of the radio; nil for what always hears, a capture or a simulation.
    package let radio: RadioStatus?

    /// Opens the source that a specification names. A radio begins to scan for every advert.
    ///
    /// - Parameter specification: the source.
    /// - Throws: `CaptureError`, `ScenarioError`, `RadioError`, or ``SourceError`` where a scenario has no name.
    public init(_ specification: SourceSpecification) throws {
        try self.init(specification, mode: .ranging, waker: Waker(), report: { _ in })
    }

    /// Opens the source that a specification names.
    ///
    /// - Parameters:
    ///   - specification: the source.
    ///   - mode: the scan mode that a radio begins with. Captures and simulations give all they have.
    ///   - waker: ends the wait for a real radio, from any thread.
    ///   - interruption: a descriptor that ends a capture once it can be read, since a pipe may be silent for long.
    ///   - report: called with the events of a radio, on the thread that pulls.
    /// - Throws: `CaptureError`, `ScenarioError`, `RadioError`, or ``SourceError`` where a scenario has no name.
    package init(
        _ specification: SourceSpecification, mode: ScanMode = .ranging, waker: Waker = Waker(),
        interruption: Int32 = -1, report: @escaping (RadioEvent) -> Void
    ) throws {
        live = nil
        self.report = report
        let status = RadioStatus(observe: report)
        radio = specification.isRadio ? status : nil
        switch specification.kind {
        case .file(let path):
            guard path == "-" || access(path, F_OK) == 0 || errno != ENOENT else {
                throw SourceError(.noFile, "there is no file \(path.printable); \(SourceError.forms)")
            }
            capture = try CaptureReader(path: path, interruption: interruption)
            simulation = nil
        case .simulation(let name, let isRepeated):
            simulation = ScenarioSource(try Scenario(json: Self.scenario(name)), isRepeated: isRepeated)
            capture = nil
        case .auto, .hci, .bluez:
            capture = nil
            simulation = nil
            live = try specification.radio.map { try LiveSource($0, mode: mode, waker: waker, report: status.update) }
        case .air:
            capture = nil
            simulation = nil
            live = try specification.airLocation.map {
                LiveSource(drivers: [try AirDriver($0)], mode: mode, waker: waker, report: status.update)
            }
        case .broker(let source):
            capture = nil
            simulation = nil
            live = LiveSource(drivers: [try BrokerDriver(source)], mode: mode, waker: waker, report: status.update)
        case .esphome(let source):
            capture = nil
            simulation = nil
            live = LiveSource(drivers: [try ESPHomeDriver(source)], mode: mode, waker: waker, report: status.update)
        case .posted(let source):
            capture = nil
            simulation = nil
            live = LiveSource(drivers: [try PostedDriver(source)], mode: mode, waker: waker, report: status.update)
        }
    }

    /// Wraps a radio that has been opened.
    ///
    /// - Parameters:
    ///   - live: the radio.
    ///   - radio: the status that the radio reports to.
    package init(_ live: consuming LiveSource, radio: RadioStatus? = nil) {
        capture = nil
        simulation = nil
        report = { _ in }
        self.radio = radio
        self.live = consume live
    }

    /// Ends the wait for a real radio, from any thread; nil where nothing waits.
    package var waker: Waker? {
        switch live {
        case .some(let live): live.waker
        case nil: nil
        }
    }

    /// The status of each receiver of a real radio, by its number; none for what always hears.
    package var receiverStatuses: [ReceiverStatus] {
        switch live {
        case .some(let live): live.receiverStatuses
        case nil: []
        }
    }

    /// Reads a scenario by the name of one that ships with the package, or its path, and checks it.
    ///
    /// - Returns: its text.
    /// - Throws: `ScenarioError`, or ``SourceError`` where there is none or it has a mistake.
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

    /// The largest scenario in bytes; one that is written by hand has a few kilobytes.
    private static let largestScenario = 16 << 20

    /// Sets the scan mode of a radio. Captures and simulations give all they have.
    public func scan(_ mode: ScanMode) {
        switch live {
        case .some(let live): live.scan(mode)
        case nil: break
        }
    }

    /// Sets the frames that a radio sends; the outcomes are reported as events. Captures and simulations cannot send.
    package func advertise(_ frames: [IBeaconFrame]) {
        switch live {
        case .some(let live): live.advertise(frames)
        case nil: break
        }
    }

    /// Has the adverts of a radio change their address after a while, again and again; nil to keep it.
    package func rotateAddresses(every rotation: Duration?) {
        switch live {
        case .some(let live): live.rotateAddresses(every: rotation)
        case nil: break
        }
    }

    /// Sets how long pulling a radio waits where nothing is heard, in nanoseconds; a second unless this says otherwise.
    package mutating func wait(atMost interval: Int64) { live?.wait(atMost: interval) }

    /// The names of the receivers so far.
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

    /// The counts of what was delivered so far.
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
    /// - Throws: the source's error, and what `deliver` throws.
    public mutating func next(_ deliver: (Reception, RawSpan) throws -> Void) throws -> SourceRecord? {
        if let record = try live?.next(deliver) { return record }
        if let record = try capture?.next(deliver) {
            if !hasReportedForeignLines { reportForeignLines(isAtEnd: false) }
            return record
        }
        reportForeignLines(isAtEnd: true)
        return try simulation?.next(deliver)
    }

    private var foreignLines: ForeignLines {
        switch capture {
        case .some(let reader): reader.foreignLines
        case nil: ForeignLines()
        }
    }

    /// Reports lines of a capture that are none of its format: the first as it is met, and how many there were.
    private mutating func reportForeignLines(isAtEnd: Bool) {
        let lines = foreignLines
        guard let first = lines.first, isAtEnd || !hasReportedForeignLines else { return }
        let isFirst = !hasReportedForeignLines
        hasReportedForeignLines = true
        if isFirst {
            report(
                .notice(
                    RadioNotice(
                        .foreignLine, adapter: "capture",
                        "at byte \(first): a line is neither a packet nor the continuation of one; it is passed over, "
                            + "and so are others like it.")))
        }
        if isAtEnd, lines.count > 1 {
            report(
                .notice(
                    RadioNotice(.foreignLine, adapter: "capture", "\(lines.count) lines in all were passed over.")))
        }
    }
}
