import BeaconGateway
import BeaconSupport
import CoreMetrics

/// The metrics of all modules in Prometheus' text exposition format.
///
/// Counters, gauges and recorders have their newest value, timers their sum and count.
package final class PrometheusMetrics: MetricsFactory {
    /// The instance of the process, which bootstraps `MetricsSystem`.
    package static let shared = PrometheusMetrics()

    /// A metric's name with its labels, in their text form.
    private struct Series: Hashable, Comparable {
        var name: String
        var labels: String

        init(_ label: String, _ dimensions: [(String, String)]) {
            // Letters, digits and underscores.
            name = String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
            labels = dimensions.map { key, value in
                // Scalar by scalar, since CR LF is a single character.
                var escaped = ""
                for scalar in value.unicodeScalars {
                    switch scalar {
                    case "\\": escaped += "\\\\"
                    case "\"": escaped += "\\\""
                    case "\n": escaped += "\\n"
                    default: escaped.unicodeScalars.append(scalar)
                    }
                }
                return "\(key)=\"\(escaped)\""
            }.joined(separator: ",")
        }

        static func < (left: Series, right: Series) -> Bool { (left.name, left.labels) < (right.name, right.labels) }

        func line(_ value: Double, suffix: String = "") -> String {
            let number = value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
            return "\(name)\(suffix)\(labels.isEmpty ? "" : "{\(labels)}") \(number)\n"
        }
    }

    private enum Kind: String {
        case counter, gauge, summary
    }

    private struct Value {
        var kind: Kind
        var sum = 0.0
        var count = 0
    }

    /// The largest number of series, far above the number of real ones. Further series are dropped.
    private static let most = 10_000

    private let values = Locked<[Series: Value]>([:])

    init() {}

    private func change(_ series: Series, _ kind: Kind, _ body: (inout Value) -> Void) {
        values.withLock { values in
            guard values[series] != nil || values.count < Self.most else { return }
            body(&values[series, default: Value(kind: kind)])
        }
    }

    /// Returns all metrics as text.
    func text() -> String {
        let all = values.withLock { $0 }.sorted { $0.key < $1.key }
        var text = ""
        var name = ""
        for (series, value) in all {
            if series.name != name { text += "# TYPE \(series.name) \(value.kind.rawValue)\n" }
            name = series.name
            if value.kind == .summary {
                text += series.line(value.sum, suffix: "_sum") + series.line(Double(value.count), suffix: "_count")
            } else {
                text += series.line(value.sum)
            }
        }
        return text
    }

    // MARK: - The factory

    private final class Handler: CounterHandler, FloatingPointCounterHandler, RecorderHandler, TimerHandler,
        MeterHandler
    {
        let metrics: PrometheusMetrics
        let series: Series

        init(_ metrics: PrometheusMetrics, _ label: String, _ dimensions: [(String, String)]) {
            self.metrics = metrics
            series = Series(label, dimensions)
        }

        func increment(by amount: Int64) { metrics.change(series, .counter) { $0.sum += Double(amount) } }
        func increment(by amount: Double) {
            metrics.change(series, .counter) { $0.sum += amount }
        }
        func decrement(by amount: Double) { metrics.change(series, .gauge) { $0.sum -= amount } }
        func reset() { metrics.change(series, .counter) { $0.sum = 0 } }
        func record(_ value: Int64) { metrics.change(series, .gauge) { $0.sum = Double(value) } }
        func record(_ value: Double) { metrics.change(series, .gauge) { $0.sum = value } }
        func set(_ value: Int64) { metrics.change(series, .gauge) { $0.sum = Double(value) } }
        func set(_ value: Double) { metrics.change(series, .gauge) { $0.sum = value } }

        func recordNanoseconds(_ duration: Int64) {
            metrics.change(series, .summary) {
                $0.sum += Double(duration) / 1e9
                $0.count += 1
            }
        }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        Handler(self, label, dimensions)
    }

    func makeFloatingPointCounter(label: String, dimensions: [(String, String)]) -> any FloatingPointCounterHandler {
        Handler(self, label, dimensions)
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        Handler(self, label, dimensions)
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        Handler(self, label, dimensions)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        Handler(self, label, dimensions)
    }

    // Counts are kept: a counter that begins again at zero would look like a restart.
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}
