import BeaconModel

/// An evaluation of the room of one beacon, whose room is known at each time.
struct RoomEvaluation: Evaluation {
    static let kind = "rooms"
    static let unit = "stay"

    /// The reported room at a time, in seconds since 1970; nil for no room.
    struct Answer {
        var time: Double
        var room: String?
    }

    /// A sample of the truth, with the room that was reported at its time.
    struct Sample {
        var time: Double
        var truth: String
        var reported: String?
    }

    let confusion: Confusion
    private let confusions: [Confusion]
    private let samples: [Sample]

    /// For stays that begin with a change of the room: how many were never reported, and the delays of the others in
    /// seconds.
    private let missed: Int
    private let delays: [Double]

    /// How long an answer is valid if no other follows, in seconds.
    private static let lifetime = 10.0

    /// The answer without a room.
    private static let unknown = "unknown"

    /// Creates the evaluation of answers.
    ///
    /// - Parameters:
    ///   - truth: the room at each time, sorted by time.
    ///   - answers: the reported rooms, sorted by time.
    init(truth: [(time: Double, room: String)], answers: [Answer]) {
        var next = 0
        samples = truth.map { row in
            while next < answers.count, answers[next].time <= row.time { next += 1 }
            let isThere = next > 0 && row.time - answers[next - 1].time <= Self.lifetime
            return Sample(time: row.time, truth: row.room, reported: isThere ? answers[next - 1].room : nil)
        }
        let rooms = Set(samples.map(\.truth))
        let others = Set(samples.compactMap(\.reported)).subtracting(rooms)
        let (truths, names) = (rooms.sorted(), rooms.sorted() + others.sorted() + [Self.unknown])
        var stays: [Confusion] = []
        var sum = Confusion(truths: truths, answers: names)
        var room: String?
        var start = 0.0
        var answered: [Double?] = []
        for sample in samples {
            // A stay is the time in one room. Its samples are as alike as those of a track.
            if sample.truth != room {
                stays.append(Confusion(truths: truths, answers: names))
                answered.append(nil)
                start = sample.time
            }
            room = sample.truth
            if sample.reported == sample.truth, answered.last == .some(nil) {
                answered[answered.count - 1] = sample.time - start
            }
            let reported = sample.reported.flatMap { names.firstIndex(of: $0) } ?? names.count - 1
            guard let truth = truths.firstIndex(of: sample.truth) else { continue }
            stays[stays.count - 1].add(truth: truth, answer: reported)
            sum.add(truth: truth, answer: reported)
        }
        confusion = sum
        confusions = stays
        missed = answered.dropFirst().count { $0 == nil }
        delays = answered.dropFirst().compactMap(\.self)
    }

    // MARK: - Results

    var scope: String {
        "\(confusions.count) stay\(confusions.count == 1 ? "" : "s") in \(confusion.truths.count) rooms, "
            + "\(samples.count) samples of truth"
    }

    /// The duration of the truth in minutes.
    private var minutes: Double { ((samples.last?.time ?? 0) - (samples.first?.time ?? 0)) / 60 }

    var figures: [Figure] {
        let (reported, changes) = (samples.compactMap(\.reported).changeCount, samples.map(\.truth).changeCount)
        return [
            Figure(
                name: "balanced accuracy", key: "balancedAccuracy", value: confusion.balancedAccuracy, decimals: 3,
                interval: Bootstrap.interval(of: confusions, figure: \.balancedAccuracy)),
            Figure(
                name: "accuracy", key: "accuracy", value: confusion.accuracy, decimals: 3,
                interval: Bootstrap.interval(of: confusions, figure: \.accuracy)),
            Figure(name: "unanswered", key: "unanswered", value: confusion.lastAnswerShare, decimals: 3),
            Figure(name: "changes reported", key: "changes", value: Double(reported), decimals: 0),
            Figure(name: "changes in truth", key: "trueChanges", value: Double(changes), decimals: 0),
            Figure(name: "changes missed", key: "missedChanges", value: Double(missed), decimals: 0),
            Figure(
                name: "extra changes", key: "extraChanges", value: Double(max(0, reported - delays.count)),
                decimals: 0),
            Figure(name: "delay, median", key: "delay", value: delays.median, decimals: 1, unit: "s"),
            Figure(name: "delay, worst", key: "worstDelay", value: delays.max(), decimals: 1, unit: "s"),
            Figure(
                name: "flaps a minute", key: "flapsPerMinute",
                value: minutes > 0 ? Double(max(0, reported - changes)) / minutes : nil, decimals: 2),
            Figure(name: "samples", key: "samples", value: Double(samples.count), decimals: 0),
        ]
    }

    func picture(title: String) -> String {
        EvaluationPicture.strips(
            of: [
                .init(name: "truth", labels: samples.map { ($0.time, $0.truth) }),
                .init(name: "reported", labels: samples.map { ($0.time, $0.reported) }),
            ], title: title)
    }
}
