import BeaconSupport
import Logging

/// A collector of log lines of every level.
final class LogCollector: Sendable {
    private let collected = Locked<[String]>([])

    /// The lines, in order.
    var lines: [String] { collected.withLock { $0 } }

    /// A logger that writes to this collector.
    var logger: Logger {
        Logger(label: "test") { _ in Handler(collector: self) }
    }

    private struct Handler: LogHandler {
        let collector: LogCollector
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let line = "\(event.level) \(event.message) \(event.metadata ?? [:])"
            collector.collected.withLock { $0.append(line) }
        }
    }
}
