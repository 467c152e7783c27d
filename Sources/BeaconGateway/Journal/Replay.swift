import BeaconCapture
import BeaconEngine
package import BeaconModel
import BeaconMonitoring
import Foundation

/// A playback of the journal through the core, with the recorded settings or with others.
package struct Replay: Sendable {
    /// A stretch of the journal to play.
    package struct Stretch: Hashable, Encodable, Sendable {
        /// The first and the last time, in seconds since 1970.
        package var from: Double
        package var to: Double

        package init(from: Double, to: Double) { (self.from, self.to) = (from, to) }

        func contains(_ seconds: Double) -> Bool { (from...to).contains(seconds) }
    }

    /// The result of a playback.
    package struct Result: Sendable {
        /// The events of regions, named beacons and places, suspicions and runs of rules, in order.
        package var events: [ReplayedEvent] = []
        /// The parts of the stretch in which the events need not be those that happened, because the journal does not
        /// have what was before.
        package var unsettled: [Stretch] = []
        /// The regions that are left out, because the journal does not keep adverts of strangers.
        package var omitted: [String] = []
        /// The names of the rules that were recorded.
        package var rules: Set<String> = []
    }

    /// The reasons why the journal cannot be played.
    package enum Failure: Error, CustomStringConvertible {
        case empty(String)
        case newer(String)
        case notKept(from: Double, to: Double)

        package var description: String {
            switch self {
            case .empty(let folder):
                "there is no journal in \(folder). beacond writes one while it runs, unless the file has \"journal: false\""
            case .newer(let path):
                "a later version of beacond wrote \(path); play it with that version"
            case .notKept(let from, let to):
                "the journal has nothing of this time; it reaches from \(ReplayText.time(from)) to \(ReplayText.time(to))"
            }
        }
    }

    /// The time after which a core that began at a checkpoint has forgotten that it did. Beacons that are silent count
    /// for 300 seconds, and the usual gaps of one that advertises every 10 seconds are known after 16 of them.
    static let warmUp = 600.0

    /// The most bytes to play before the stretch, so that it begins at a start of the core and is exact.
    private static let mostBefore = 96 << 20

    let folder: String
    private let changes: ReplayChanges

    /// Creates a playback.
    ///
    /// - Parameters:
    ///   - folder: the journal's folder.
    ///   - changes: the settings to change.
    package init(folder: String, changes: ReplayChanges = ReplayChanges()) {
        (self.folder, self.changes) = (folder, changes)
    }

    /// The first and the last time that a journal has; nil if it is empty.
    package static func reach(of folder: String) -> Stretch? {
        let segments = segments(in: folder)
        guard let first = segments.first, let last = segments.last else { return nil }
        return Stretch(from: first.firstEnd, to: last.end)
    }

    // MARK: - Segments

    /// A segment without its content.
    struct Segment {
        let file: JournalFolder.File
        let head: JournalHead
        /// The time of its beginning: for the start of a core, the end of the segment before.
        var begin: Double
        let firstEnd: Double
        let end: Double

        init?(_ file: JournalFolder.File) {
            guard !Task.isCancelled, let content = FileManager.default.contents(atPath: file.path) else { return nil }
            let blocks = JournalSegment.blocks(in: Array(content))
            guard let first = blocks.first, case .head(let head)? = JournalSegment.parts(of: first)?.first else {
                return nil
            }
            self.file = file
            self.head = head
            (begin, firstEnd, end) = (first.end, first.end, blocks.last?.end ?? first.end)
        }

        /// True if this one continues another one.
        func continues(_ other: Segment) -> Bool { head.run == other.head.run && head.place == other.head.place + 1 }
    }

    private static func segments(in folder: String) -> [Segment] {
        var segments = JournalFolder.files(in: folder).compactMap(Segment.init)
        for index in segments.indices where segments[index].head.checkpoint == nil {
            segments[index].begin = index > 0 ? segments[index - 1].end : 0
        }
        return segments
    }

    /// Returns the segments to play: from a start of the core if one is near enough, or else from a checkpoint that is
    /// old enough.
    ///
    /// - Parameter isBounded: true to begin at that checkpoint in any case.
    func segments(for stretch: Stretch, isBounded: Bool = false) throws -> [Segment] {
        let all = Self.segments(in: folder)
        guard let first = all.first, let last = all.last else {
            let newer = JournalFolder.files(in: folder).first { JournalSegment.isNewer($0.path) }
            throw newer.map { Failure.newer($0.path) } ?? Failure.empty(folder)
        }
        guard first.begin <= stretch.to, last.end >= stretch.from else {
            throw Failure.notKept(from: first.firstEnd, to: last.end)
        }
        // The last segment that begins early enough, or the first one.
        let late = all.lastIndex { $0.begin <= stretch.from - Self.warmUp } ?? 0
        let now = all.lastIndex { $0.begin <= stretch.from } ?? 0
        var start = now
        var size = 0
        while !isBounded, all[start].head.checkpoint != nil, start > 0, all[start].continues(all[start - 1]),
            size < Self.mostBefore
        {
            start -= 1
            size += all[start].file.size
        }
        let begin = all[start].head.checkpoint == nil ? start : min(late, now)
        return Array(all[begin...].prefix { $0.begin <= stretch.to })
    }

    // MARK: - Playing

    /// Plays a stretch.
    ///
    /// - Throws: ``Failure``, ``ReplayChanges/Fault`` or `CancellationError`.
    package func play(_ stretch: Stretch) throws -> Result {
        var events: [ReplayedEvent] = []
        var result = try play(stretch) { event, player in
            guard let event = Self.event(event, in: player), stretch.contains(event.seconds) else { return }
            events.append(.event(event))
        } running: { run in
            if stretch.contains(run.time.seconds) { events.append(.run(run)) }
        }
        result.events = events
        return result
    }

    /// Returns how a beacon was heard, how far it was and where.
    ///
    /// - Throws: ``Failure``, or `CancellationError`.
    package func trace(_ beacon: BeaconIdentity, _ stretch: Stretch, steps: Int) throws -> BeaconTrace {
        var recorder = TraceRecorder(of: beacon, in: stretch, steps: steps)
        let result = try play(stretch, ranging: beacon) { event, player in
            if case .ranged(let report) = event { recorder.note(report) }
            if let event = Self.event(event, in: player) { recorder.note(event) }
        } hearing: { piece, player in
            switch piece {
            case .traffic(.advert(let sighting)):
                recorder.hear(
                    sighting, at: player.core.wallTime(of: sighting).seconds, by: player.title(of: sighting.receiver))
            case .input(.hear(let receiver, let hearing, _)):
                recorder.setHearing(
                    hearing == .hearing || hearing == .doubtful, of: player.title(of: receiver),
                    at: player.core.wallTime)
            default: break
            }
        } running: {
            recorder.note($0)
        }
        return recorder.finish(result)
    }

    /// Passes each recorded advert to a closure, as a line of a sighting log.
    ///
    /// - Throws: ``Failure``, or `CancellationError`.
    package func sightings(_ stretch: Stretch, _ body: ([UInt8]) -> Void) throws {
        _ = try play(stretch) { _, _ in
        } hearing: { piece, player in
            guard case .traffic(.advert(let sighting)) = piece else { return }
            let time = player.core.wallTime(of: sighting)
            guard stretch.contains(time.seconds) else { return }
            var line: [UInt8] = []
            SightingLogFormat.append(
                sighting, time: time, receiver: SightingLogFormat.jsonText(player.title(of: sighting.receiver)),
                to: &line)
            body(line)
        }
    }

    /// Segments for several playbacks, which are read and decoded once if they are not very long.
    final class Tape {
        /// The most bytes of files that are kept in memory. Decoded, they take about twice as much.
        private static let most = 32 << 20

        let segments: [Segment]
        fileprivate let isKept: Bool
        private var contents: [Int: JournalContent] = [:]

        init(_ segments: some Sequence<Segment>, isKept: Bool = true) {
            self.segments = Array(segments)
            self.isKept = isKept && self.segments.reduce(0) { $0 + $1.file.size } <= Self.most
        }

        /// Returns the content of a segment; nil if it is not kept or missing.
        fileprivate func content(of segment: Segment) -> JournalContent? {
            guard isKept else { return nil }
            if contents[segment.file.number] == nil { contents[segment.file.number] = JournalContent(segment.file) }
            return contents[segment.file.number]
        }
    }

    /// A piece of a journal, after it was played.
    enum Played {
        case traffic(CoreTraffic.Piece)
        case input(CoreInput)
    }

    /// Passes each event of the core to a closure.
    ///
    /// - Parameters:
    ///   - stretch: the stretch.
    ///   - tape: the segments to play; nil for those of the stretch.
    ///   - ranged: a beacon to range in addition.
    ///   - body: called for each event.
    ///   - hearing: called for each piece that was played.
    ///   - running: called for each run of a rule; nil to leave the rules out.
    /// - Returns: the result without the events.
    func play(
        _ stretch: Stretch, on tape: Tape? = nil, ranging ranged: BeaconIdentity? = nil,
        _ body: (MonitoringEvent, borrowing CorePlayer) -> Void,
        hearing: (Played, borrowing CorePlayer) -> Void = { _, _ in },
        running: ((ReplayedRun) -> Void)? = nil
    ) throws -> Result {
        let segments = try tape?.segments ?? segments(for: stretch)
        var player = CorePlayer(MonitoringCore())
        var rules = RuleReplay(changes)
        var before: Segment?
        var isWhole = false
        var result = Result()
        var omitted: Set<String> = []
        var last = segments.first?.begin ?? stretch.from
        func play(_ input: CoreInput, _ player: inout CorePlayer) throws(ReplayChanges.Fault) {
            player.play(try changes.applied(to: input))
            if running != nil, case .note(let text) = input, let recorded = RecordedRules(text) { rules.use(recorded) }
            hearing(.input(input), player)
        }
        func drain(_ player: inout CorePlayer) {
            var hasReports = false
            for event in player.core.drainEvents() {
                body(event, player)
                guard let running else { continue }
                if case .ranged(let report) = event {
                    hasReports = true
                    rules.receive(report, from: player.title(of: report.receiver)).forEach(running)
                } else if Self.isForRules(event, in: player), let event = Self.event(event, in: player) {
                    rules.receive(event).forEach(running)
                }
            }
            if hasReports, let running { rules.settle().forEach(running) }
        }
        func begin(_ head: JournalHead, at time: Double, _ player: inout CorePlayer) throws {
            player = CorePlayer(MonitoringCore(Self.engine, calibrations: head.calibrations))
            result.rules.formUnion(rules.names)
            rules = RuleReplay(changes)
            for input in head.checkpoint ?? [] { try play(input, &player) }
            if let ranged { _ = player.core.startRanging(BeaconConstraint(ranged)) }
            let settled = time + Self.warmUp
            // The time before it was lost.
            let lost = min(time, last)
            if head.checkpoint != nil, settled > stretch.from, lost < stretch.to {
                result.unsettled.append(Stretch(from: max(lost, stretch.from), to: min(settled, stretch.to)))
            }
        }
        for segment in segments {
            let isContinued = isWhole && before.map { segment.continues($0) } ?? false
            if !isContinued { try begin(segment.head, at: segment.begin, &player) }
            guard let content = tape?.content(of: segment) ?? JournalContent(segment.file) else { break }
            isWhole = content.isWhole
            for (number, block) in content.blocks.enumerated() {
                try Task.checkCancellation()
                // A block ends after its adverts, so that the last one may end after the stretch.
                guard last <= stretch.to + 1, let parts = content.parts(of: number, isKept: tape?.isKept ?? false)
                else {
                    isWhole = false
                    break
                }
                for part in parts {
                    switch part {
                    case .head(let head):
                        // A file that was exported can have several runs.
                        if number > 0 { try begin(head, at: block.end, &player) }
                    case .input(let input): try play(input, &player)
                    case .traffic(let bytes):
                        let isRead = CoreTraffic.read(bytes) { piece in
                            player.play(piece)
                            hearing(.traffic(piece), player)
                            if player.core.hasEvents { drain(&player) }
                        }
                        if !isRead { isWhole = false }
                    }
                    drain(&player)
                }
                last = block.end
            }
            omitted.formUnion(player.omitted)
            before = segment
        }
        result.omitted = omitted.sorted()
        result.rules.formUnion(rules.names)
        return result
    }

    private static var engine: EngineConfiguration {
        var engine = EngineConfiguration()
        engine.maximumReceivers = GatewayListener.maximumReceivers
        return engine
    }

    /// Returns whether rules get an event: not those of named beacons, which only destinations get.
    private static func isForRules(_ event: MonitoringEvent, in player: borrowing CorePlayer) -> Bool {
        guard case .state(let change) = event else { return true }
        return player.owner(of: change.condition).flatMap { ConditionOwner(label: $0.label) }?.isRegion ?? false
    }

    /// Returns an event as the gateway reports it; nil for one that it does not keep.
    private static func event(_ event: MonitoringEvent, in player: borrowing CorePlayer) -> BeaconEvent? {
        switch event {
        case .state(let change):
            guard let (label, constraint) = player.owner(of: change.condition), let owner = ConditionOwner(label: label)
            else { return nil }
            var receiver: String?
            if let number = change.receiver { receiver = player.title(of: number) }
            return .region(
                RegionEvent(
                    change.kind, name: owner.name, constraint: constraint, time: change.wallTime, receiver: receiver,
                    state: change.state, before: change.before, identity: change.identity))
        case .placed(let change): return .placed(change)
        case .suspected(let event): return .suspected(event)
        case .ranged, .located, .notice: return nil
        }
    }
}

extension BeaconEvent {
    /// The time in seconds since 1970.
    var seconds: Double {
        switch self {
        case .region(let event): event.time.seconds
        case .placed(let event): event.time.seconds
        case .suspected(let event): event.time.seconds
        case .ranged(let event): event.time.seconds
        case .located(let event): event.time.seconds
        @unknown default: 0
        }
    }
}
