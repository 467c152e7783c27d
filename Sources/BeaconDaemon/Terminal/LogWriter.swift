import BeaconSupport
import BeaconTerminal
import Foundation
import Logging

/// A log on standard error, for terminals or for systemd's journal.
///
/// The journal adds the time itself, and reads the level from a number at the start of a line (sd-daemon(3)). A warning
/// or an error is written the first time. If it repeats, it is counted, and the count is written at growing intervals.
struct LogWriter: LogHandler {
    /// The minimum level of all loggers whose level is not set. A reload of the configuration changes it.
    static let commonLevel = Locked(Logger.Level.info)

    private var ownLevel: Logger.Level?
    var logLevel: Logger.Level {
        get { ownLevel ?? Self.commonLevel.withLock { $0 } }
        set { ownLevel = newValue }
    }
    var metadata: Logger.Metadata = [:]
    private let isForJournal: Bool
    private let repetitions: LogRepetitions

    /// Creates a log in the format for the reader of standard error.
    init(
        repetitions: LogRepetitions = .shared, environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        self.repetitions = repetitions
        // systemd.exec(5): set if standard error goes to the journal.
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
        // Each line of a program's output or of a progress report matters; their level is information.
        guard event.level >= .warning else { return line.write() }
        repetitions.write(line, as: LogRepetitions.Key("\(event.message)", at: event.level, of: all["destination"]))
    }
}

/// A line of the log.
struct LogLine: Sendable {
    var level: Logger.Level
    var text: String
    var isForJournal: Bool

    /// Writes the line to standard error.
    ///
    /// - Parameter remark: a remark to append.
    func write(_ remark: String = "") {
        let start = isForJournal ? Self.priority(level) : "\(Self.now()) \(level): "
        // One event stays one line, and output of programs or servers cannot control the terminal.
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

/// The counter of repeated lines, which keeps them from flooding the log.
final class LogRepetitions: Sendable {
    /// The criterion for equal lines: the message without its numbers, and the destination. Addresses are no numbers.
    struct Key: Hashable, Sendable {
        private let text: String

        /// Creates the key of a message.
        init(_ message: String, at level: Logger.Level, of destination: Logger.MetadataValue?) {
            let words = message.split(separator: " ").map { word in
                let isAddress = word.count { $0 == "." } >= 3
                return !isAddress && word.allSatisfy { $0.isNumber || $0.isPunctuation } ? "#" : word
            }
            text = "\(level) \(destination.map { "\($0)" } ?? "") \(words.joined(separator: " "))"
        }
    }

    /// The counter of this process.
    static let shared = LogRepetitions()

    private let reporter = Locked(RepetitionReporter<Key, LogLine>())
    private let start = ContinuousClock.now

    /// Writes a line, or counts it if the same line was written recently.
    func write(_ line: LogLine, as key: Key) {
        let now = start.duration(to: .now)
        let report = reporter.withLock { $0.note(key, line, at: now) }
        report.map(Self.write)
    }

    /// Writes due counts until its task is cancelled.
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
