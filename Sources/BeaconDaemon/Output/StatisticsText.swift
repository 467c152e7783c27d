import BeaconDelivery
import BeaconGateway
import BeaconModel
import Foundation

/// What the daemon has done, in words.
enum StatisticsText {
    /// One line, for a terminal.
    static func line(_ statistics: GatewayStatistics, _ queues: [QueueStatus], width: Int) -> String {
        var parts = [
            count(statistics.iBeacons, "advert"), count(statistics.beaconsPresent, "beacon") + " present",
            "in \(count(statistics.regionsInside, "region"))", count(statistics.notificationCount, "notification"),
        ]
        for source in statistics.sources {
            switch source.state {
            case .failing: parts.append("\(source.name) fails")
            case .failed: parts.append("\(source.name) failed")
            case .starting, .running, .ended: break
            }
        }
        if statistics.unkept > 0 { parts.append("\(statistics.unkept) in memory only") }
        for queue in queues { parts.append("\(queue.destination): \(state(queue))") }
        let line = parts.joined(separator: " · ")
        return line.count > width ? line.prefix(width - 1) + "…" : line
    }

    private static func state(_ queue: QueueStatus) -> String {
        var text = queue.waiting == 0 ? "ok" : "\(queue.waiting) waiting"
        if queue.failures > 0 {
            text += ", failing"
            if let seconds = queue.notBefore.map({ $0.seconds - Date.now.timeIntervalSince1970 }), seconds >= 1 {
                text += " (next in \(Int(seconds)) s)"
            }
        }
        if queue.parked > 0 { text += ", \(queue.parked) refused" }
        return text
    }

    /// The lines at the end.
    ///
    /// - Parameters:
    ///   - statistics: of this run.
    ///   - before: how the queues stood when it began.
    ///   - queues: how they stand now.
    ///   - launches: how much was started.
    static func summary(
        _ statistics: GatewayStatistics, before: [QueueStatus], queues: [QueueStatus], launches: Int
    ) -> [String] {
        var kinds = ""
        if !statistics.notifications.isEmpty {
            let words = statistics.notifications.sorted { $0.key.rawValue < $1.key.rawValue }
            kinds = " (" + words.map { "\($0.value) \($0.key)" }.joined(separator: ", ") + ")"
        }
        var first = "\(count(statistics.iBeacons, "advert")) from \(count(statistics.sources.count, "source")), "
        first += "\(count(statistics.notificationCount, "notification"))\(kinds)"
        if launches > 0 { first += ", \(count(launches, "launch", "launches"))" }
        if statistics.lost > 0 { first += ", \(statistics.lost) LOST since the outbox could not take them" }
        var lines = [first]
        for queue in queues {
            let earlier = before.first { $0.destination == queue.destination } ?? QueueStatus(destination: "")
            var line =
                "\(queue.destination): \(queue.delivered - earlier.delivered) delivered, \(queue.waiting) waiting"
            if queue.refused > earlier.refused { line += ", \(queue.refused - earlier.refused) refused" }
            if queue.parked > 0 { line += ", \(queue.parked) to be looked at (beacond outbox list)" }
            let dropped =
                queue.droppedByAge + queue.droppedBySize - earlier.droppedByAge - earlier.droppedBySize
            if dropped > 0 { line += ", \(dropped) dropped" }
            if let error = queue.lastError, queue.waiting > 0 { line += "; \(error)" }
            lines.append(line)
        }
        return lines
    }

    static func count(_ number: Int, _ word: String, _ words: String? = nil) -> String {
        number == 1 ? "1 \(word)" : "\(number) \(words ?? word + "s")"
    }
}
