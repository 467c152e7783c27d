import BeaconModel
import BeaconSupport

/// An evaluation of the rooms that beacons are in, for beacons whose stays in rooms are known.
///
/// A watch is a receiver, or a place with several receivers. It is right if a beacon stays in its room and is inside,
/// or stays elsewhere and is outside.
struct PresenceEvaluation: Evaluation {
    static let kind = "presence"
    static let unit = "beacon"

    /// The time that a beacon was in a room, in seconds since 1970.
    struct Stay {
        var beacon: String
        var room: String
        var from: Double
        var to: Double
    }

    /// An enter or an exit.
    struct Change {
        var time: Double
        var isEnter: Bool
    }

    /// The changes of all beacons that a receiver or a place reported.
    struct Watch {
        let name: String

        /// The room of the receiver or place.
        let room: String

        fileprivate private(set) var changes: [String: [Change]] = [:]

        /// Creates a watch without changes.
        init(name: String, room: String) {
            self.name = name
            self.room = room
        }

        /// Adds an enter or an exit of a beacon.
        mutating func add(_ beacon: String, at time: Timestamp, isEnter: Bool) {
            changes[beacon, default: []].append(Change(time: time.seconds, isEnter: isEnter))
        }

        /// Returns the changes of a beacon, sorted by time.
        fileprivate func sorted(of beacon: String) -> [Change] {
            // An enter goes before an exit of the same time, as in score.py of the recordings.
            (changes[beacon] ?? []).sorted { ($0.time, $0.isEnter ? 0 : 1) < ($1.time, $1.isEnter ? 0 : 1) }
        }
    }

    private(set) var confusion = Self.noCounts
    private var confusions: [Confusion] = []
    private let beacons: [String]
    private let stays: [String: [Stay]]
    private let watches: [Watch]
    private var reported = (enters: 0, exits: 0)
    private var actual = (enters: 0, exits: 0)
    private var delays = (enter: [Double](), exit: [Double]())
    private var missed = (enters: 0, exits: 0)

    private static let noCounts = Confusion(truths: ["inside", "outside"], answers: ["inside", "outside"])

    /// The time after the start of a stay that does not count, in seconds: for the first stay of a beacon, which starts
    /// with the recording, and for later stays, since the beacon is carried there first.
    private static let (firstGrace, grace) = (5.0, 30.0)

    /// Creates the evaluation of the changes at watches.
    init(stays: [Stay], watches: [Watch]) {
        let stays = Dictionary(grouping: stays, by: \.beacon).mapValues { $0.sorted { $0.from < $1.from } }
        self.stays = stays
        self.watches = watches
        beacons = stays.keys.sorted { ($0.count, $0) < ($1.count, $1) }
        for beacon in beacons {
            var counts = Self.noCounts
            for watch in watches { count(stays[beacon] ?? [], watch, watch.sorted(of: beacon), &counts) }
            confusion.add(counts)
            confusions.append(counts)
        }
    }

    private mutating func count(_ stays: [Stay], _ watch: Watch, _ changes: [Change], _ counts: inout Confusion) {
        reported.enters += changes.count(where: { $0.isEnter })
        reported.exits += changes.count(where: { !$0.isEnter })
        for (number, stay) in stays.enumerated() {
            let isHere = stay.room == watch.room
            var time = stay.from + (number == 0 ? Self.firstGrace : Self.grace)
            while time < stay.to {
                counts.add(truth: isHere ? 0 : 1, answer: Self.isInside(changes, at: time) ? 0 : 1)
                time += 1
            }
            guard isHere else { continue }
            actual.enters += 1
            if let delay = Self.delay(of: true, in: changes, from: stay.from, until: stay.to) {
                delays.enter.append(delay)
            } else {
                missed.enters += 1
            }
            // The last stay of a beacon ends with the recording, not with an exit.
            guard number + 1 < stays.count else { continue }
            actual.exits += 1
            let next = stays[(number + 1)...].first { $0.room == watch.room }?.from ?? stays[stays.count - 1].to
            if let delay = Self.delay(of: false, in: changes, from: stay.to, until: next) {
                delays.exit.append(delay)
            } else {
                missed.exits += 1
            }
        }
    }

    private static func isInside(_ changes: [Change], at time: Double) -> Bool {
        changes.last { $0.time <= time }?.isEnter ?? false
    }

    /// Returns the seconds until a state is reported: zero if it already was, nil if it never is.
    private static func delay(
        of isInside: Bool, in changes: [Change], from start: Double, until end: Double
    ) -> Double? {
        if Self.isInside(changes, at: start) == isInside { return 0 }
        return changes.first { $0.time > start && $0.time <= end && $0.isEnter == isInside }.map { $0.time - start }
    }

    // MARK: - Results

    var scope: String {
        "\(beacons.count) beacon\(beacons.count == 1 ? "" : "s") at \(watches.map(\.name).joined(separator: ", "))"
    }

    /// The total time of all beacons' stays, in minutes.
    private var minutes: Double {
        stays.values.reduce(0) { sum, stays in
            sum + ((stays.last?.to ?? 0) - (stays.first?.from ?? 0)) / 60
        }
    }

    var figures: [Figure] {
        let flaps = max(0, reported.enters - actual.enters) + max(0, reported.exits - actual.exits)
        return [
            Figure(
                name: "balanced accuracy", key: "balancedAccuracy", value: confusion.balancedAccuracy, decimals: 3,
                interval: Bootstrap.interval(of: confusions, figure: \.balancedAccuracy)),
            Figure(
                name: "state accuracy", key: "stateAccuracy", value: confusion.accuracy, decimals: 3,
                interval: Bootstrap.interval(of: confusions, figure: \.accuracy)),
            Figure(name: "enters reported", key: "enters", value: Double(reported.enters), decimals: 0),
            Figure(name: "enters in truth", key: "trueEnters", value: Double(actual.enters), decimals: 0),
            Figure(name: "enters missed", key: "missedEnters", value: Double(missed.enters), decimals: 0),
            Figure(
                name: "extra enters", key: "extraEnters",
                value: Double(max(0, reported.enters - actual.enters + missed.enters)), decimals: 0),
            Figure(
                name: "enter delay, median", key: "enterDelay", value: delays.enter.median, decimals: 1, unit: "s"),
            Figure(
                name: "enter delay, worst", key: "worstEnterDelay", value: delays.enter.max(), decimals: 1, unit: "s"),
            Figure(name: "exits reported", key: "exits", value: Double(reported.exits), decimals: 0),
            Figure(name: "exits in truth", key: "trueExits", value: Double(actual.exits), decimals: 0),
            Figure(name: "exits missed", key: "missedExits", value: Double(missed.exits), decimals: 0),
            Figure(
                name: "extra exits", key: "extraExits",
                value: Double(max(0, reported.exits - actual.exits + missed.exits)), decimals: 0),
            Figure(name: "exit delay, median", key: "exitDelay", value: delays.exit.median, decimals: 1, unit: "s"),
            Figure(
                name: "exit delay, worst", key: "worstExitDelay", value: delays.exit.max(), decimals: 1, unit: "s"),
            Figure(
                name: "flaps a minute", key: "flapsPerMinute", value: minutes > 0 ? Double(flaps) / minutes : nil,
                decimals: 2),
            Figure(name: "seconds", key: "seconds", value: Double(confusion.total), decimals: 0),
        ]
    }

    func picture(title: String) -> String {
        // Draws the beacon with the most stays, or the first of several.
        let most = beacons.map { stays[$0]?.count ?? 0 }.max() ?? 0
        let beacon = beacons.first { stays[$0]?.count == most } ?? "-"
        let end = stays[beacon]?.last?.to ?? 0
        let truth = EvaluationPicture.Strip(
            name: "truth", spans: (stays[beacon] ?? []).map { .init(from: $0.from, to: $0.to, label: $0.room) })
        let strips = watches.map { watch in
            var spans: [EvaluationPicture.Span] = []
            var start: Double?
            for change in watch.sorted(of: beacon) {
                if change.isEnter {
                    start = start ?? change.time
                } else if let from = start {
                    spans.append(.init(from: from, to: change.time, label: watch.room))
                    start = nil
                }
            }
            if let start, start < end { spans.append(.init(from: start, to: end, label: watch.room)) }
            return EvaluationPicture.Strip(name: watch.name, spans: spans)
        }
        return EvaluationPicture.strips(of: [truth] + strips, title: "\(title): beacon \(beacon)")
    }

    // MARK: - Truth

    /// Reads the truth from a table with the columns `beacon_minor`, `room`, `from_epoch_s` and `to_epoch_s`, and
    /// optionally `beacon_major`.
    ///
    /// - Throws: `CommandError` if a value is invalid.
    static func stays(in table: TruthTable) throws -> [Stay] {
        let (minors, rooms) = (try table.numbers("beacon_minor"), try table.texts("room"))
        let (starts, ends) = (try table.numbers("from_epoch_s"), try table.numbers("to_epoch_s"))
        let majors = table.has("beacon_major") ? try table.numbers("beacon_major") : nil
        return try minors.indices.map { index in
            guard let minor = UInt16(exactly: minors[index]) else {
                throw CommandError(
                    "\(table.path), line \(table.rows[index].line): \(minors[index]) is not a minor value")
            }
            let major = majors.flatMap { UInt16(exactly: $0[index]) }
            guard majors == nil || major != nil else {
                throw CommandError(
                    "\(table.path), line \(table.rows[index].line): the major value is not a whole number up to 65535")
            }
            guard starts[index] < ends[index] else {
                throw CommandError("\(table.path), line \(table.rows[index].line): the stay ends before it begins")
            }
            return Stay(
                beacon: major.map { "\($0)/\(minor)" } ?? "\(minor)", room: rooms[index], from: starts[index],
                to: ends[index])
        }
    }
}
