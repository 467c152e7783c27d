import BeaconSupport
import Logging

/// Keeps every line that is logged, of every level.
final class LogCollector: Sendable {
    private let collected = Locked<[String]>([])

    /// What was logged, in order.
    var lines: [String] { collected.withLock { $0 } }

    /// A logger whose lines come here.
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
