import BeaconDelivery
import BeaconEventStore
import BeaconModel
import BeaconSupport
import Foundation

/// The output of `beacond outbox list`.
enum OutboxText {
    /// Returns a queue and some of its notifications as lines for people.
    static func lines(_ status: ConsumerStatus, _ entries: [QueuedNotification]) -> [String] {
        var line =
            "\(status.name): \(status.waiting) waiting, \(status.deadLetters) refused, \(status.handled) delivered"
        if status.dropped > 0 { line += ", \(status.dropped) dropped" }
        if let error = status.lastError, status.failures > 0 {
            line += "; failed \(status.failures.counted("time")) in a row"
            if let since = status.failingSince {
                line += " since \(Date(timeIntervalSince1970: since.seconds).formatted(.iso8601))"
            }
            line += ": \(error.printable)"
        }
        return [line] + entries.map(Self.line)
    }

    private static func line(_ entry: QueuedNotification) -> String {
        let notification = entry.notification
        let date = Date(timeIntervalSince1970: notification.time.seconds)
        var text = "  \(notification.id)  \(date.formatted(.iso8601))  \(notification.kind)"
        if let region = notification.region { text += "  \(region)" }
        if let beacon = notification.beacon { text += "  \(beacon.major)/\(beacon.minor)" }
        if let proximity = notification.proximity { text += "  \(proximity)" }
        if let refusal = entry.refusal { text += "  refused: \(refusal.printable)" }
        if entry.refusal == nil, entry.attempts > 0 { text += "  (\(entry.attempts.counted("attempt")))" }
        return text
    }

    private struct Queue: Encodable {
        var destination: String
        var waiting: Int
        var refused: Int
        var delivered: Int
        var retried: Int
        var dropped: Int
        var failures: Int
        var failingSince: Double?
        var error: String?
    }

    private struct Entry: Encodable {
        var destination: String
        var state: String
        var attempts: Int
        var refusal: String?
    }

    /// Returns a queue and some of its notifications as lines of JSON.
    static func json(_ status: ConsumerStatus, _ entries: [QueuedNotification]) throws -> [String] {
        let queue = Queue(
            destination: status.name, waiting: status.waiting, refused: status.deadLetters,
            delivered: status.handled, retried: status.retried,
            dropped: status.dropped, failures: status.failures, failingSince: status.failingSince?.seconds,
            error: status.lastError)
        var lines = [String(decoding: try JSONEncoder.sorted.encode(queue), as: UTF8.self)]
        for entry in entries {
            let line = Entry(
                destination: status.name, state: entry.refusal == nil ? "waiting" : "refused",
                attempts: entry.attempts, refusal: entry.refusal)
            lines.append(String(decoding: try entry.event.json(in: line, as: "notification"), as: UTF8.self))
        }
        return lines
    }
}
