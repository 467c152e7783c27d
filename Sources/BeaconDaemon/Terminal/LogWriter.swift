import BeaconSupport
import Foundation
import Logging

/// A log on standard error, for terminals or for systemd's journal, which knows the time itself and reads the level
/// from a number in front (sd-daemon(3)).
struct LogWriter: LogHandler {
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    private let isForJournal: Bool

    /// Creates a log in the form that standard error is read in.
    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        // systemd.exec(5): it is set where standard error is the journal's.
        isForJournal = environment["JOURNAL_STREAM"] != nil && !ErrorOutput.isTerminal
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var line = isForJournal ? Self.priority(event.level) : "\(Self.now()) \(event.level): "
        line += "\(event.message)"
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        for (key, value) in all.sorted(by: { $0.key < $1.key }) { line += " \(key)=\(value)" }
        // One event is one line, and no terminal obeys it, whatever a program printed or a server answered.
        ErrorOutput.shared.write(line.printable)
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
