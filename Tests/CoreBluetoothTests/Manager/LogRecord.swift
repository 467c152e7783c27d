import BeaconRadio
import BeaconService
import Logging

/// What was logged in this process. Tests beside one another tell theirs by the address of their manager.
enum LogRecord {
    private static let lines = Locked<[String]>([])
    private static let isOn: Void = LoggingSystem.bootstrap { _ in Handler() }

    /// Logging goes here from now on.
    static func begin() { _ = isOn }

    static func lines(about text: String) -> [String] { lines.withLock { $0.filter { $0.contains(text) } } }

    private struct Handler: LogHandler {
        var metadata = Logger.Metadata()
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { LogRecord.lines.withLock { $0.append("\(event.message)") } }
    }
}
