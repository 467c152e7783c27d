import BeaconModel
import BeaconSupport

/// An evaluation of distances and proximity classes, for beacons whose distance is known.
///
/// A track is the known distances of one beacon. Samples at the boundary of two classes are left out, since both
/// answers are right there.
struct RangingEvaluation: Evaluation {
    static let kind = "ranging"
    static let unit = "track"

    /// A beacon by its major and minor values, as in a table of the truth; and the receiver, if the table names one.
    struct Track: Hashable, Comparable, CustomStringConvertible {
        var major: Int
        var minor: Int
        var receiver: String?

        var description: String { "\(major)/\(minor)" + (receiver.map { " at \($0)" } ?? "") }

        static func < (left: Track, right: Track) -> Bool {
            (left.major, left.minor, left.receiver ?? "") < (right.major, right.minor, right.receiver ?? "")
        }
    }

    /// The distance of a beacon at a time, in meters and in seconds since 1970.
    struct Truth {
        var time: Double
        var track: Track
        var distance: Double
    }

    /// A reported distance and proximity of a beacon.
    struct Report {
        var time: Double
        var proximity: Proximity
        var accuracy: Double
        var range: ClosedRange<Double>?
    }

    /// A sample of a track's truth, with the report that is valid at its time; nil if there is none.
    struct Sample {
        var time: Double
        var distance: Double
        var report: Report?
    }

    /// The reports of the beacons whose truth is known.
    struct Reports {
        private let tracks: Set<Track>
        private let namesReceivers: Bool
        fileprivate private(set) var byTrack: [Track: [Report]] = [:]

        /// Creates an empty collection.
        init(of tracks: Set<Track>) {
            self.tracks = tracks
            namesReceivers = tracks.contains { $0.receiver != nil }
        }

        /// Adds the report of one receiver for one second.
        mutating func add(_ event: RangingEvent) {
            for beacon in event.beacons {
                let track = Track(
                    major: Int(beacon.identity.major), minor: Int(beacon.identity.minor),
                    receiver: namesReceivers ? event.receiver : nil)
                guard tracks.contains(track) else { continue }
                byTrack[track, default: []].append(
                    Report(
                        time: event.time.seconds, proximity: beacon.proximity, accuracy: beacon.accuracy,
                        range: beacon.accuracyRange))
            }
        }
    }

    /// The samples of each track, sorted by time.
    private(set) var samples: [Track: [Sample]] = [:]

    private(set) var confusion = Self.noCounts
    private var confusions: [Confusion] = []
    private var errors: [Double] = []
    private var ranges = (all: 0, beyond: 0, below: 0)
    private var leftOut = 0
    private var flaps = 0
    private var seconds = 0.0

    private static let classes: [Proximity] = [.immediate, .near, .far, .unknown]

    private static let noCounts = Confusion(
        truths: classes.dropLast().map(\.description), answers: classes.map(\.description))

    /// How much later than its truth a report may be, and for how long it is valid, in seconds.
    private static let (latest, lifetime) = (0.5, 2.5)

    /// The most time that counts between two samples of a track, in seconds.
    private static let longestStep = 10.0

    /// Creates the evaluation of reports.
    init(truth: [Truth], reports: Reports) {
        for row in truth {
            let report = Self.report(at: row.time, in: reports.byTrack[row.track] ?? [])
            samples[row.track, default: []].append(Sample(time: row.time, distance: row.distance, report: report))
        }
        for track in samples.keys.sorted() {
            samples[track]?.sort { $0.time < $1.time }
            count(samples[track] ?? [])
        }
    }

    /// Returns the newest report that is valid at a time.
    private static func report(at time: Double, in reports: [Report]) -> Report? {
        var (low, high) = (0, reports.count)
        while low < high {
            let middle = (low + high) / 2
            if reports[middle].time <= time + latest { low = middle + 1 } else { high = middle }
        }
        guard low > 0, time - reports[low - 1].time <= lifetime else { return nil }
        return reports[low - 1]
    }

    private mutating func count(_ samples: [Sample]) {
        var counts = Self.noCounts
        var (truths, answers) = ([String](), [String]())
        var last: Double?
        for sample in samples {
            if let last { seconds += min(sample.time - last, Self.longestStep) }
            last = sample.time
            guard !Self.isAtBoundary(sample.distance) else {
                leftOut += 1
                continue
            }
            let truth = Self.place(of: sample.distance)
            let answer = Self.classes.firstIndex(of: sample.report?.proximity ?? .unknown) ?? Self.classes.count - 1
            counts.add(truth: truth, answer: answer)
            truths.append(Self.classes[truth].description)
            if Self.classes[answer] != .unknown { answers.append(Self.classes[answer].description) }
            guard let report = sample.report, report.accuracy >= 0 else { continue }
            errors.append(abs(report.accuracy - sample.distance))
            guard let range = report.range else { continue }
            ranges.all += 1
            if sample.distance > range.upperBound { ranges.beyond += 1 }
            if sample.distance < range.lowerBound { ranges.below += 1 }
        }
        flaps += max(0, answers.changeCount - truths.changeCount)
        confusion.add(counts)
        confusions.append(counts)
    }

    /// Returns the index of the class of a distance in meters, by Core Location's boundaries.
    private static func place(of distance: Double) -> Int { distance < 0.5 ? 0 : distance < 3 ? 1 : 2 }

    private static func isAtBoundary(_ distance: Double) -> Bool {
        abs(distance - 0.5) <= 0.02 || abs(distance - 3) <= 0.05
    }

    // MARK: - Results

    var scope: String {
        "\(samples.count) track\(samples.count == 1 ? "" : "s"), \(confusion.total) samples of truth"
            + (leftOut > 0 ? ", without \(leftOut) at 0.5 m and 3 m" : "")
    }

    /// Returns a number of samples as a share of the samples with a range; nil if no sample has a range.
    private func part(_ count: Int) -> Double? { ranges.all > 0 ? Double(count) / Double(ranges.all) : nil }

    var figures: [Figure] {
        [
            Figure(
                name: "balanced accuracy", key: "balancedAccuracy", value: confusion.balancedAccuracy, decimals: 3,
                interval: Bootstrap.interval(of: confusions, figure: \.balancedAccuracy)),
            Figure(
                name: "accuracy", key: "accuracy", value: confusion.accuracy, decimals: 3,
                interval: Bootstrap.interval(of: confusions, figure: \.accuracy)),
            Figure(name: "median error", key: "medianError", value: errors.median, decimals: 2, unit: "m"),
            Figure(
                name: "truth in accuracyRange", key: "withinRange",
                value: part(ranges.all - ranges.beyond - ranges.below), decimals: 3),
            Figure(name: "truth beyond it", key: "beyondRange", value: part(ranges.beyond), decimals: 3),
            Figure(name: "truth below it", key: "belowRange", value: part(ranges.below), decimals: 3),
            Figure(name: "unknown", key: "unknown", value: confusion.lastAnswerShare, decimals: 3),
            Figure(
                name: "flaps a minute", key: "flapsPerMinute",
                value: seconds > 0 ? Double(flaps) / seconds * 60 : nil, decimals: 2),
            Figure(name: "tracks", key: "tracks", value: Double(samples.count), decimals: 0),
            Figure(name: "samples", key: "samples", value: Double(confusion.total), decimals: 0),
        ]
    }

    func picture(title: String) -> String {
        // Draws the track with the most classes; of several, the longest.
        let reported = samples.max { left, right in
            let (one, other) = (Self.variety(of: left.value), Self.variety(of: right.value))
            return (one, left.value.count, right.key) < (other, right.value.count, left.key)
        }
        let name = reported?.key.description ?? "-"
        return EvaluationPicture.distances(of: reported?.value ?? [], title: "\(title): beacon \(name)")
    }

    private static func variety(of samples: [Sample]) -> Int { Set(samples.map { place(of: $0.distance) }).count }

    // MARK: - Truth

    /// Reads the truth from a table with the columns `time`, `major`, `minor` and `distance`, and optionally
    /// `receiver`.
    ///
    /// - Throws: `CommandError` if a value is invalid.
    static func truth(in table: TruthTable) throws -> [Truth] {
        let (times, distances) = (try table.numbers("time"), try table.numbers("distance"))
        let (majors, minors) = (try table.numbers("major"), try table.numbers("minor"))
        let receivers = table.has("receiver") ? try table.column("receiver") : nil
        return try times.indices.map { index in
            guard let major = UInt16(exactly: majors[index]), let minor = UInt16(exactly: minors[index]) else {
                throw CommandError(
                    "\(table.path), line \(table.rows[index].line): \(majors[index])/\(minors[index]) is not a major "
                        + "and minor value; each is a whole number up to 65535")
            }
            guard (0...10_000).contains(distances[index]) else {
                throw CommandError(
                    "\(table.path), line \(table.rows[index].line): the distance is \(distances[index]); it is in meters, from 0 to 10000"
                )
            }
            let receiver = receivers.map { String(table.rows[index].fields[$0].trimmed) }
            return Truth(
                time: times[index], track: Track(major: Int(major), minor: Int(minor), receiver: receiver),
                distance: distances[index])
        }
    }
}
