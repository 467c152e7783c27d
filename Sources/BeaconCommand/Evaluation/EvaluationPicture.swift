import BeaconModel
import BeaconSupport
import CLibrary

/// Drawings of evaluations as SVG documents that need nothing else, readable on light and on dark paper.
enum EvaluationPicture {
    /// A time span with a label, in seconds since 1970; a nil label means unknown.
    struct Span {
        var from: Double
        var to: Double
        var label: String?
    }

    /// A row of colored spans.
    struct Strip {
        var name: String
        var spans: [Span]

        /// The longest time that a sample's label lasts if no other sample follows, in seconds.
        fileprivate static let longestStep = 2.0

        /// Creates a strip of spans.
        init(name: String, spans: [Span]) {
            self.name = name
            self.spans = spans
        }

        /// Creates a strip from the labels of samples.
        init(name: String, labels: [(time: Double, label: String?)]) {
            self.name = name
            spans = []
            for (index, sample) in labels.enumerated() {
                let next = index + 1 < labels.count ? labels[index + 1].time : sample.time + 1
                let end = min(next, sample.time + Self.longestStep)
                if let last = spans.last, last.label == sample.label, sample.time - last.to < 0.001 {
                    spans[spans.count - 1].to = end
                } else {
                    spans.append(Span(from: sample.time, to: end, label: sample.label))
                }
            }
        }
    }

    /// Draws the distance of one beacon over time: the true distance, the reported one with its range, and the classes.
    static func distances(of samples: [RangingEvaluation.Sample], title: String) -> String {
        let start = samples.first?.time ?? 0
        var canvas = Canvas(
            title: title, from: start, to: max(samples.last?.time ?? 0, start + 1), height: 440, top: 76, bottom: 44)
        let reported = samples.compactMap { $0.report.map(\.accuracy) }.filter { $0 > 0 }
        let all = (samples.map(\.distance) + reported).filter { $0 > 0 }
        let scale = DistanceScale(
            nearest: min(0.25, max(0.05, all.min() ?? 0.25)), farthest: max(6, min(100, all.max() ?? 6)),
            top: canvas.top, bottom: canvas.floor)
        let classes: [(String, Double, Double)] = [("immediate", 0, 0.5), ("near", 0.5, 3), ("far", 3, .infinity)]
        for (name, near, far) in classes {
            canvas.band(name, from: scale.height(of: far), to: scale.height(of: near))
        }
        for meters in [0.1, 0.2, 0.5, 1, 3, 10, 30] where scale.contains(meters) {
            let text = Figure.text(of: meters, decimals: meters < 1 ? 1 : 0)
            canvas.heightMark("\(text) m", at: scale.height(of: meters), isBoundary: meters == 0.5 || meters == 3)
        }
        canvas.drawTimes()
        // The picture is not wide enough for more points.
        let step = max(1, samples.count / 1500)
        let shown = stride(from: 0, to: samples.count, by: step).map { samples[$0] }
        for run in runs(of: shown, step: step, where: { $0.report?.range != nil && ($0.report?.accuracy ?? -1) > 0 }) {
            let ranges = run.compactMap { sample in sample.report?.range.map { (sample.time, $0) } }
            let upper = ranges.map { ($0.0, scale.height(of: $0.1.upperBound)) }
            let lower = ranges.map { ($0.0, scale.height(of: $0.1.lowerBound)) }
            canvas.area(upper + lower.reversed())
        }
        for run in runs(of: shown, step: step, where: { ($0.report?.accuracy ?? -1) > 0 }) {
            canvas.line("reported", run.map { ($0.time, scale.height(of: $0.report?.accuracy ?? 0)) })
        }
        for run in runs(of: shown, step: step, where: { _ in true }) {
            canvas.line("truth", run.map { ($0.time, scale.height(of: $0.distance)) })
        }
        canvas.key([("truth", "true distance"), ("reported", "reported, with its 68 % range")])
        return canvas.document
    }

    /// Returns the runs of samples that a line connects: samples that meet a condition, without a gap.
    private static func runs(
        of samples: [RangingEvaluation.Sample], step: Int, where isWanted: (RangingEvaluation.Sample) -> Bool
    ) -> [[RangingEvaluation.Sample]] {
        var runs: [[RangingEvaluation.Sample]] = []
        var last: Double?
        for sample in samples {
            guard isWanted(sample) else {
                last = nil
                continue
            }
            if let last, sample.time - last <= Double(10 * step) {
                runs[runs.count - 1].append(sample)
            } else {
                runs.append([sample])
            }
            last = sample.time
        }
        return runs
    }

    /// Draws strips below one another, with one color for each label.
    static func strips(of strips: [Strip], title: String) -> String {
        let spans = strips.flatMap(\.spans)
        let start = spans.map(\.from).min() ?? 0
        let rowHeight = 46.0
        var canvas = Canvas(
            title: title, from: start, to: max(spans.map(\.to).max() ?? 0, start + 1),
            height: 76 + rowHeight * Double(strips.count) + 44, top: 76, bottom: 44)
        let labels = Set(spans.compactMap(\.label)).sorted()
        canvas.drawTimes()
        for (row, strip) in strips.enumerated() {
            let top = canvas.top + Double(row) * rowHeight
            canvas.rowName(strip.name, at: top + rowHeight / 2)
            for span in strip.spans {
                let color = span.label.flatMap { labels.firstIndex(of: $0) }
                canvas.bar(from: span.from, to: span.to, top: top + 4, height: rowHeight - 8, color: color)
            }
        }
        canvas.key(colors: labels, hasUnknown: spans.contains { $0.label == nil })
        return canvas.document
    }
}

/// The heights of distances, on a logarithmic scale.
private struct DistanceScale {
    var nearest: Double
    var farthest: Double
    var top: Double
    var bottom: Double

    func contains(_ meters: Double) -> Bool { (nearest...farthest).contains(meters) }

    func height(of meters: Double) -> Double {
        let bounded = min(max(meters, nearest), farthest)
        return bottom - (log10(bounded) - log10(nearest)) / (log10(farthest) - log10(nearest)) * (bottom - top)
    }
}

/// The elements of a drawing, with time from left to right.
private struct Canvas {
    private static let (width, left, right) = (960.0, 84.0, 24.0)

    /// Colors that color-blind people can distinguish (Okabe, Ito, "Color Universal Design", 2008).
    private static let colors = [
        "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800", "#8a6bd1",
    ]

    let top: Double

    /// The height of the axis of time.
    let floor: Double

    private let start: Double
    private let end: Double
    private let height: Double
    private var elements: [String] = []

    /// Creates an empty drawing for a time span in seconds since 1970.
    init(title: String, from start: Double, to end: Double, height: Double, top: Double, bottom: Double) {
        (self.start, self.end, self.height, self.top) = (start, end, height, top)
        floor = height - bottom
        elements.append("<title>\(Self.escaped(title))</title>")
        elements.append(#"<rect class="paper" width="960" height="\#(Self.number(height))"/>"#)
        elements.append(#"<text class="title" x="16" y="28">\#(Self.escaped(title))</text>"#)
    }

    /// The whole document.
    var document: String {
        let (width, height) = (Self.number(Self.width), Self.number(height))
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" viewBox="0 0 \(width) \(height)" \
            role="img">
            <style>\(Self.style)</style>
            <defs><pattern id="unknown" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">\
            <rect class="hatched" width="7" height="7"/><line class="hatch" x1="0" y1="0" x2="0" y2="7"/></pattern></defs>
            \(elements.joined(separator: "\n"))
            </svg>

            """
    }

    // Plain colors first, since not every viewer supports color schemes.
    private static let style = """
        text{font:13px system-ui,sans-serif;fill:#656d76} .title{font-size:16px;font-weight:600;fill:#1f2328}
        .paper{fill:#fff} .grid{stroke:#d0d7de;fill:none} .boundary{stroke:#656d76;stroke-dasharray:5 4;fill:none}
        .truth{stroke:#1f2328;stroke-width:2;fill:none} .reported{stroke:#0969da;stroke-width:1.5;fill:none}
        .range{fill:#0969da;fill-opacity:.18;stroke:none}
        .immediate{fill:#009e73;fill-opacity:.1} .near{fill:#56b4e9;fill-opacity:.1} .far{fill:#e69f00;fill-opacity:.1}
        .hatched{fill:#d0d7de;fill-opacity:.5} .hatch{stroke:#656d76;stroke-opacity:.6}
        @media (prefers-color-scheme:dark){text{fill:#8b949e} .title{fill:#e6edf3} .paper{fill:#0d1117}
        .grid{stroke:#30363d} .boundary{stroke:#8b949e} .truth{stroke:#e6edf3} .reported{stroke:#58a6ff}
        .range{fill:#58a6ff} .hatched{fill:#30363d} .hatch{stroke:#8b949e}}
        """

    /// Draws the time axis, with marks in whole steps from the start.
    mutating func drawTimes() {
        let length = end - start
        let steps: [Double] = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 43_200]
        let step = steps.first { length / $0 <= 10 } ?? max(86_400, (length / 10 / 86_400).rounded(.up) * 86_400)
        for index in 0...Int(min(length / step, 20)) {
            let seconds = Double(index) * step
            let x = Self.number(self.x(of: start + seconds))
            elements.append(
                #"<line class="grid" x1="\#(x)" y1="\#(Self.number(top))" x2="\#(x)" y2="\#(Self.number(floor))"/>"#)
            text(Self.clock(seconds), x: self.x(of: start + seconds), y: floor + 18, anchor: "middle")
        }
        let begin = Timestamp(seconds: start).map { ClockText.dateAndTime($0) + " UTC" } ?? ""
        text("minutes and seconds since \(begin)", x: Self.width - Self.right, y: floor + 36, anchor: "end")
    }

    /// Draws the background of a proximity class.
    mutating func band(_ name: String, from upper: Double, to lower: Double) {
        guard lower > upper else { return }
        elements.append(
            "<rect class=\"\(name)\" x=\"\(Self.number(Self.left))\" y=\"\(Self.number(upper))\" "
                + "width=\"\(Self.number(Self.width - Self.left - Self.right))\" "
                + "height=\"\(Self.number(lower - upper))\"/>")
        text(name, x: Self.width - Self.right - 6, y: upper + 16, anchor: "end")
    }

    /// Draws a mark on the vertical axis.
    mutating func heightMark(_ name: String, at y: Double, isBoundary: Bool) {
        let (left, right, height) = (Self.left, Self.width - Self.right, Self.number(y))
        elements.append(
            "<line class=\"\(isBoundary ? "boundary" : "grid")\" x1=\"\(Self.number(left))\" y1=\"\(height)\" "
                + "x2=\"\(Self.number(right))\" y2=\"\(height)\"/>")
        text(name, x: left - 8, y: y + 4, anchor: "end")
    }

    /// Draws the name of a row.
    mutating func rowName(_ name: String, at y: Double) { text(name, x: Self.left - 8, y: y + 4, anchor: "end") }

    /// Draws a line through points of time and height.
    mutating func line(_ kind: String, _ points: [(Double, Double)]) {
        elements.append("<polyline class=\"\(kind)\" points=\"\(path(points))\"/>")
    }

    /// Draws an area between points of time and height.
    mutating func area(_ points: [(Double, Double)]) {
        elements.append("<polygon class=\"range\" points=\"\(path(points))\"/>")
    }

    /// Draws a span of a strip, hatched if it has no color.
    mutating func bar(from: Double, to: Double, top: Double, height: Double, color: Int?) {
        let (left, right) = (x(of: from), x(of: to))
        elements.append(
            "<rect fill=\"\(Self.fill(color))\" x=\"\(Self.number(left))\" y=\"\(Self.number(top))\" "
                + "width=\"\(Self.number(max(0.5, right - left)))\" height=\"\(Self.number(height))\"/>")
    }

    /// Draws the key of the lines.
    mutating func key(_ lines: [(kind: String, text: String)]) {
        for (index, line) in lines.enumerated() {
            let x = 16 + Double(index) * 190
            let (left, right) = (Self.number(x), Self.number(x + 26))
            elements.append("<line class=\"\(line.kind)\" x1=\"\(left)\" y1=\"50\" x2=\"\(right)\" y2=\"50\"/>")
            text(line.text, x: x + 34, y: 54)
        }
    }

    /// Draws the key of the colors.
    mutating func key(colors labels: [String], hasUnknown: Bool) {
        var entries: [(String, Int?)] = labels.enumerated().map { ($0.element, $0.offset) }
        if hasUnknown { entries.append(("unknown", nil)) }
        var x = 16.0
        for (label, color) in entries {
            elements.append(
                "<rect fill=\"\(Self.fill(color))\" x=\"\(Self.number(x))\" y=\"43\" width=\"16\" height=\"16\"/>")
            text(label, x: x + 22, y: 56)
            // The approximate width of letters of 13 pixels.
            x += 42 + 7.5 * Double(label.count)
        }
    }

    private mutating func text(_ text: String, x: Double, y: Double, anchor: String = "start") {
        elements.append(
            "<text x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" text-anchor=\"\(anchor)\">"
                + "\(Self.escaped(text))</text>")
    }

    private func x(of time: Double) -> Double {
        Self.left + (time - start) / (end - start) * (Self.width - Self.left - Self.right)
    }

    private func path(_ points: [(Double, Double)]) -> String {
        points.map { "\(Self.number(x(of: $0.0))),\(Self.number($0.1))" }.joined(separator: " ")
    }

    private static func fill(_ color: Int?) -> String { color.map { colors[$0 % colors.count] } ?? "url(#unknown)" }

    private static func number(_ value: Double) -> String { Figure.text(of: value, decimals: 1) }

    /// Returns a time as `0:05` or `1:00:00`.
    private static func clock(_ seconds: Double) -> String {
        let whole = Int(seconds)
        let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60)
        let two = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
        return hours > 0 ? "\(hours):\(two(minutes)):\(two(rest))" : "\(minutes):\(two(rest))"
    }

    /// Returns text escaped for XML, without control characters.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.printable.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
