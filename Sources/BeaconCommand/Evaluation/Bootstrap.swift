import BeaconModel
import BeaconSupport

/// The 90 % confidence interval of a figure, estimated from the units of one recording.
struct Interval: Hashable {
    var lower: Double
    var upper: Double
}

/// The bootstrap: the distribution of a figure when units are drawn at random, with replacement.
///
/// Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7, 1979. Units are tracks, beacons
/// or stays, not samples. Samples of a track are alike, so drawing samples would make the interval far too narrow.
enum Bootstrap {
    private static let draws = 1000

    /// The share of the draws outside the interval at each end.
    private static let tail = 0.05

    /// An arbitrary number, fixed so that the same files give the same interval.
    private static let seed: UInt64 = 1

    /// Returns the interval of a figure; nil for fewer than two units.
    static func interval(of units: [Confusion], figure: (Confusion) -> Double?) -> Interval? {
        guard units.count > 1, let first = units.first else { return nil }
        var generator = SplitMix64(seed: seed)
        var figures: [Double] = []
        for _ in 0..<draws {
            var sum = Confusion(truths: first.truths, answers: first.answers)
            for _ in units.indices {
                sum.add(units[Int(generator.next().multipliedFullWidth(by: UInt64(units.count)).high)])
            }
            if let value = figure(sum) { figures.append(value) }
        }
        guard !figures.isEmpty else { return nil }
        figures.sort()
        let cut = Int(Double(figures.count) * tail)
        return Interval(lower: figures[cut], upper: figures[figures.count - 1 - cut])
    }
}

/// A confusion matrix: the number of samples for each truth and each answer.
struct Confusion: Hashable {
    /// The possible truths.
    let truths: [String]

    /// The possible answers: first the truths, in the same order.
    let answers: [String]

    /// The counts, one truth after another.
    private var counts: [Int]

    /// Creates a matrix of zeros.
    init(truths: [String], answers: [String]) {
        self.truths = truths
        self.answers = answers
        counts = Array(repeating: 0, count: truths.count * answers.count)
    }

    /// Counts a sample, by the indices of its truth and its answer.
    mutating func add(truth: Int, answer: Int) { counts[truth * answers.count + answer] += 1 }

    /// Adds the counts of a matrix of the same form.
    mutating func add(_ other: Confusion) {
        for index in counts.indices { counts[index] += other.counts[index] }
    }

    /// The number of samples.
    var total: Int { counts.reduce(0, +) }

    /// Returns the counts of a truth, one for each answer.
    func row(of truth: Int) -> ArraySlice<Int> { counts[truth * answers.count..<(truth + 1) * answers.count] }

    /// Returns the share of a truth's samples with the right answer; nil without such samples.
    func recall(of truth: Int) -> Double? {
        let total = row(of: truth).reduce(0, +)
        return total > 0 ? Double(counts[truth * answers.count + truth]) / Double(total) : nil
    }

    /// The mean recall of all truths that occur; nil without samples.
    var balancedAccuracy: Double? {
        let recalls = truths.indices.compactMap { recall(of: $0) }
        return recalls.isEmpty ? nil : recalls.reduce(0, +) / Double(recalls.count)
    }

    /// The share of the samples with the right answer; nil without samples.
    var accuracy: Double? {
        let right = truths.indices.reduce(0) { $0 + counts[$1 * answers.count + $1] }
        return total > 0 ? Double(right) / Double(total) : nil
    }

    /// The share of the samples with the last answer; nil without samples.
    var lastAnswerShare: Double? {
        let count = truths.indices.reduce(0) { $0 + (row(of: $1).last ?? 0) }
        return total > 0 ? Double(count) / Double(total) : nil
    }
}

/// A figure of an evaluation, with its name for people and for programs.
struct Figure {
    var name: String
    var key: String
    var value: Double?
    var decimals: Int
    var unit = ""
    var interval: Interval?

    /// The figure as text for people.
    var text: String {
        guard let value else { return "-" }
        return Self.text(of: value, decimals: decimals) + (unit.isEmpty ? "" : " \(unit)")
    }

    /// Returns a number with the given number of decimals.
    static func text(of value: Double, decimals: Int) -> String {
        var buffer: [UInt8] = []
        buffer.append(fixed: value, decimals: decimals)
        return String(decoding: buffer, as: UTF8.self)
    }
}

/// The results of an evaluation, for people, for programs and as a picture.
protocol Evaluation {
    /// The name of this kind of evaluation.
    static var kind: String { get }

    /// The name of the units that the bootstrap draws.
    static var unit: String { get }

    /// The amount of evaluated data, as part of a sentence.
    var scope: String { get }

    /// The figures, the most important first.
    var figures: [Figure] { get }

    /// The counts of truths and answers.
    var confusion: Confusion { get }

    /// Returns a drawing as an SVG document.
    func picture(title: String) -> String
}

// MARK: - Text and JSON

extension Evaluation {
    /// The table for people, within 80 columns unless names are unusually long.
    var lines: [String] {
        var lines = ["\(Self.kind): \(scope)", ""]
        let width = figures.map(\.name.count).max() ?? 0
        for figure in figures {
            var line = "  " + figure.name.padded(to: width) + "  " + figure.text.padded(to: 9)
            if let interval = figure.interval {
                let (lower, upper) = (interval.lower, interval.upper)
                line += "  90 %: \(Figure.text(of: lower, decimals: figure.decimals)) to "
                line += "\(Figure.text(of: upper, decimals: figure.decimals)), by \(Self.unit)"
            }
            lines.append(line.trimmedAtEnd)
        }
        return lines + [""] + confusionLines
    }

    private var confusionLines: [String] {
        // More columns than these do not fit; the recalls always do.
        let answers = confusion.answers.count <= 5 ? confusion.answers : []
        let heading = answers.map { $0.shortened(to: 9).padded(to: 10, onLeft: true) }.joined()
        var lines = ["  " + "truth".padded(to: 11) + heading + "recall".padded(to: 8, onLeft: true)]
        for (index, truth) in confusion.truths.enumerated() {
            let counts = confusion.row(of: index).prefix(answers.count)
            let recall = confusion.recall(of: index).map { Figure.text(of: $0, decimals: 2) } ?? "-"
            lines.append(
                "  " + truth.shortened(to: 10).padded(to: 11)
                    + counts.map { "\($0)".padded(to: 10, onLeft: true) }.joined()
                    + recall.padded(to: 8, onLeft: true))
        }
        return lines
    }

    /// Appends one JSON object and the end of its line.
    func append(to buffer: inout [UInt8]) {
        buffer.append(json: "{\"kind\":")
        buffer.append(jsonText: Self.kind)
        for figure in figures {
            buffer.append(json: ",")
            buffer.append(jsonText: figure.key)
            buffer.append(json: ":")
            buffer.append(fixed: figure.value ?? .nan, decimals: figure.decimals)
            guard let interval = figure.interval else { continue }
            buffer.append(json: ",")
            buffer.append(jsonText: figure.key + "Interval")
            buffer.append(json: ":[")
            buffer.append(fixed: interval.lower, decimals: figure.decimals)
            buffer.append(json: ",")
            buffer.append(fixed: interval.upper, decimals: figure.decimals)
            buffer.append(json: "]")
        }
        buffer.append(json: ",\"recall\":{")
        buffer.append(listOf: Array(confusion.truths.enumerated())) { buffer, truth in
            buffer.append(jsonText: truth.element)
            buffer.append(json: ":")
            buffer.append(fixed: confusion.recall(of: truth.offset) ?? .nan, decimals: 3)
        }
        buffer.append(json: "},\"confusion\":{\"truth\":[")
        buffer.append(listOf: confusion.truths) { $0.append(jsonText: $1) }
        buffer.append(json: "],\"reported\":[")
        buffer.append(listOf: confusion.answers) { $0.append(jsonText: $1) }
        buffer.append(json: "],\"counts\":[")
        buffer.append(listOf: Array(confusion.truths.indices)) { buffer, truth in
            buffer.append(json: "[")
            buffer.append(listOf: Array(confusion.row(of: truth))) { $0.append(decimal: $1) }
            buffer.append(json: "]")
        }
        buffer.append(json: "]}}\n")
    }
}

extension [UInt8] {
    /// Appends elements with commas between them.
    fileprivate mutating func append<Item>(listOf elements: [Item], _ write: (inout [UInt8], Item) -> Void) {
        for (index, element) in elements.enumerated() {
            if index > 0 { append(json: ",") }
            write(&self, element)
        }
    }
}

extension [Double] {
    /// The median; nil if there are no elements.
    var median: Double? {
        guard !isEmpty else { return nil }
        let sorted = sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}

extension Sequence<String> {
    /// The number of elements that differ from their predecessor.
    var changeCount: Int {
        var (count, before) = (0, String?.none)
        for text in self {
            if let before, before != text { count += 1 }
            before = text
        }
        return count
    }
}

extension String {
    fileprivate func padded(to width: Int, onLeft isOnLeft: Bool = false) -> String {
        let space = String(repeating: " ", count: Swift.max(0, width - count))
        return isOnLeft ? space + self : self + space
    }

    fileprivate func shortened(to width: Int) -> String {
        let text = printable
        return text.count > width ? String(text.prefix(width - 1)) + "…" : text
    }

    fileprivate var trimmedAtEnd: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
