import BeaconSupport
package import Logging

/// A log for tests.
package final class LogLines: Sendable {
    private let lines = Locked<[String]>([])

    package init() {}

    /// The lines until now.
    package var all: [String] { lines.withLock { $0 } }

    package var logger: Logger {
        Logger(label: "test") { _ in Handler(lines: self) }
    }

    private struct Handler: LogHandler {
        let lines: LogLines
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let metadata = event.metadata.map { " \($0)" } ?? ""
            lines.lines.withLock { $0.append("\(event.level): \(event.message)\(metadata)") }
        }
    }
}
