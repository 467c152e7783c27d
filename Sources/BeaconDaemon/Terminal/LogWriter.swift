import BeaconSupport
import BeaconTerminal
import Foundation
import Logging

/// A log on standard error, for terminals or for systemd's journal, which knows the time itself and reads the level
/// from a number in front (sd-daemon(3)).
///
/// A warning or an error that repeats is a line the first time; after that it is counted, and the count is a line at
/// growing intervals.
struct LogWriter: LogHandler {
    /// The least level of all loggers whose level is not set. A reload of the configuration changes it.
    static let commonLevel = Locked(Logger.Level.info)

    private var ownLevel: Logger.Level?
    var logLevel: Logger.Level {
        get { ownLevel ?? Self.commonLevel.withLock { $0 } }
        set { ownLevel = newValue }
    }
    var metadata: Logger.Metadata = [:]
    private let isForJournal: Bool
    private let repetitions: LogRepetitions

    /// Creates a log in the form that standard error is read in.
    init(
        repetitions: LogRepetitions = .shared, environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        self.repetitions = repetitions
        // systemd.exec(5): it is set where standard error is the journal's.
        isForJournal = environment["JOURNAL_STREAM"] != nil && !Terminal.error.isInteractive
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var text = "\(event.message)"
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        for (key, value) in all.sorted(by: { $0.key < $1.key }) { text += " \(key)=\(value)" }
        let line = LogLine(level: event.level, text: text, isForJournal: isForJournal)
        // A program's output and the steps of a work are information, of which each line is wanted.
        guard event.level >= .warning else { return line.write() }
        repetitions.write(line, as: LogRepetitions.Key("\(event.message)", at: event.level, of: all["destination"]))
    }
}

/// A line of the log.
struct LogLine: Sendable {
    var level: Logger.Level
    var text: String
    var isForJournal: Bool

    /// Writes the line on standard error.
    ///
    /// - Parameter remark: a remark at its end.
    func write(_ remark: String = "") {
        let start = isForJournal ? Self.priority(level) : "\(Self.now()) \(level): "
        // One event is one line, and no terminal obeys it, whatever a program printed or a server answered.
        ErrorOutput.shared.write((start + text + remark).printable)
    }

    private static func priority(_ level: Logger.Level) -> String {
        switch level {
        case .trace, .debug: "<7>"
        case .info: "<6>"
        case .notice: "<5>"
        case .warning: "<4>"
        case .error: "<3>"
        case .critical: "<2>"
        }
    }

    private static func now() -> String {
        Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}

/// The one place that keeps what repeats from flooding the log.
final class LogRepetitions: Sendable {
    /// What makes two lines the same: the message without its numbers, and the destination.
    struct Key: Hashable, Sendable {
        private let text: String

        /// Creates the key of a message.
        init(_ message: String, at level: Logger.Level, of destination: Logger.MetadataValue?) {
            let words = message.split(separator: " ").map { word in
                word.allSatisfy { $0.isNumber || $0.isPunctuation } ? "#" : word
            }
            text = "\(level) \(destination.map { "\($0)" } ?? "") \(words.joined(separator: " "))"
        }
    }

    /// That of this process.
    static let shared = LogRepetitions()

    private let reporter = Locked(RepetitionReporter<Key, LogLine>())
    private let start = ContinuousClock.now

    /// Writes a line, or counts it where the same was written not long ago.
    func write(_ line: LogLine, as key: Key) {
        let now = start.duration(to: .now)
        let report = reporter.withLock { $0.note(key, line, at: now) }
        report.map(Self.write)
    }

    /// Writes the counts that are due, until its task is cancelled.
    func run() async {
        while (try? await Task.sleep(for: .seconds(10), tolerance: .seconds(5))) != nil {
            let now = start.duration(to: .now)
            reporter.withLock { $0.due(at: now) }.forEach(Self.write)
        }
    }

    /// Writes all counts, at the end of the process.
    func finish() {
        let now = start.duration(to: .now)
        reporter.withLock { $0.finish(at: now) }.forEach(Self.write)
    }

    private static func write(_ report: RepetitionReporter<Key, LogLine>.Report) {
        guard let period = report.period else { return report.subject.write() }
        let times = report.count == 1 ? "once more" : "\(report.count) times"
        report.subject.write(" (\(times) in \(max(1, period.components.seconds)) s)")
    }
}
