import BeaconSupport
import Foundation

/// What an app does, each with the second of the process's clock.
final class Log: Sendable {
    private let start = Date()
    private let lines = Locked<[String]>([])

    /// Adds a line, with the seconds since this log was created, to a tenth.
    func note(_ text: String) {
        let second = (Date().timeIntervalSince(start) * 10).rounded() / 10
        lines.withLock { $0.append("\(second) \(text)") }
    }

    var entries: [String] { lines.withLock { $0 } }
}
