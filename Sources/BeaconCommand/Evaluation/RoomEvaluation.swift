import BeaconModel

/// How well the room is told that a beacon is in, for one that is known to be in a room at each time.
struct RoomEvaluation: Evaluation {
    static let kind = "rooms"
    static let unit = "stay"

    /// What was told at a time, in seconds since 1970: a room, or nil where that was none.
    struct Answer {
        var time: Double
        var room: String?
    }

    /// A moment of the truth, and what was told then.
    struct Moment {
        var time: Double
        var truth: String
        var told: String?
    }

    let confusion: Confusion
    private let confusions: [Confusion]
    private let moments: [Moment]

    /// The stays that begin with a change of the room: how many of them were never told, and after how many seconds
    /// the others were.
    private let missed: Int
    private let delays: [Double]

    /// The time in seconds for which an answer holds where no other follows.
    private static let lifetime = 10.0

    /// What is told where no room is.
    private static let unknown = "unknown"

    /// Creates the evaluation of answers.
    ///
    /// - Parameters:
    ///   - truth: the room at each time, in the order of time.
    ///   - answers: what was told, in the order of time.
    init(truth: [(time: Double, room: String)], answers: [Answer]) {
        var next = 0
        moments = truth.map { row in
            while next < answers.count, answers[next].time <= row.time { next += 1 }
            let isThere = next > 0 && row.time - answers[next - 1].time <= Self.lifetime
            return Moment(time: row.time, truth: row.room, told: isThere ? answers[next - 1].room : nil)
        }
        let rooms = Set(moments.map(\.truth))
        let others = Set(moments.compactMap(\.told)).subtracting(rooms)
        let (truths, names) = (rooms.sorted(), rooms.sorted() + others.sorted() + [Self.unknown])
        var stays: [Confusion] = []
        var sum = Confusion(truths: truths, answers: names)
        var room: String?
        var start = 0.0
        var answered: [Double?] = []
        for moment in moments {
            // A stay is a time in one room. Its moments are as alike as those of a track.
            if moment.truth != room {
                stays.append(Confusion(truths: truths, answers: names))
                answered.append(nil)
                start = moment.time
            }
            room = moment.truth
            if moment.told == moment.truth, answered.last == .some(nil) {
                answered[answered.count - 1] = moment.time - start
            }
            let told = moment.told.flatMap { names.firstIndex(of: $0) } ?? names.count - 1
            guard let truth = truths.firstIndex(of: moment.truth) else { continue }
            stays[stays.count - 1].add(truth: truth, answer: told)
            sum.add(truth: truth, answer: told)
        }
        confusion = sum
        confusions = stays
        missed = answered.dropFirst().count { $0 == nil }
        delays = answered.dropFirst().compactMap(\.self)
    }

    // MARK: - Results

    var scope: String {
        "\(confusions.count) stay\(confusions.count == 1 ? "" : "s") in \(confusion.truths.count) rooms, "
            + "\(moments.count) moments of truth"
    }

    /// The time of the truth in minutes.
    private var minutes: Double { ((moments.last?.time ?? 0) - (moments.first?.time ?? 0)) / 60 }

    var figures: [Figure] {
        let (told, changes) = (moments.compactMap(\.told).changeCount, moments.map(\.truth).changeCount)
        return [
            Figure(
                name: "balanced accuracy", key: "balancedAccuracy", value: confusion.balancedAccuracy, decimals: 3,
                interval: Bootstrap.interval(of: confusions, figure: \.balancedAccuracy)),
            Figure(
                name: "accuracy", key: "accuracy", value: confusion.accuracy, decimals: 3,
                interval: Bootstrap.interval(of: confusions, figure: \.accuracy)),
            Figure(name: "unanswered", key: "unanswered", value: confusion.lastAnswerShare, decimals: 3),
            Figure(name: "changes told", key: "changes", value: Double(told), decimals: 0),
            Figure(name: "changes in truth", key: "trueChanges", value: Double(changes), decimals: 0),
            Figure(name: "changes missed", key: "missedChanges", value: Double(missed), decimals: 0),
            Figure(
                name: "changes too many", key: "extraChanges", value: Double(max(0, told - delays.count)), decimals: 0),
            Figure(name: "delay, median", key: "delay", value: delays.median, decimals: 1, unit: "s"),
            Figure(name: "delay, worst", key: "worstDelay", value: delays.max(), decimals: 1, unit: "s"),
            Figure(
                name: "flaps a minute", key: "flapsPerMinute",
                value: minutes > 0 ? Double(max(0, told - changes)) / minutes : nil, decimals: 2),
            Figure(name: "moments", key: "moments", value: Double(moments.count), decimals: 0),
        ]
    }

    func picture(title: String) -> String {
        EvaluationPicture.strips(
            of: [
                .init(name: "truth", labels: moments.map { ($0.time, $0.truth) }),
                .init(name: "told", labels: moments.map { ($0.time, $0.told) }),
            ], title: title)
    }
}
