import BeaconDelivery
import BeaconEventStore
import BeaconGateway
import BeaconModel
import BeaconSupport
import BeaconTerminal
import Foundation
import ServiceLifecycle

/// The daemon's statistics as text.
enum StatisticsText {
    /// Returns one line for a terminal.
    static func line(_ statistics: GatewayStatistics, _ queues: [ConsumerStatus], width: Int) -> String {
        var parts = [
            statistics.iBeacons.counted("advert"), statistics.beaconsPresent.counted("beacon") + " present",
            "in \(statistics.regionsInside.counted("region"))", statistics.notificationCount.counted("notification"),
        ]
        for source in statistics.sources {
            switch source.state {
            case .failing: parts.append("\(source.name) fails")
            case .failed: parts.append("\(source.name) failed")
            case .starting, .running, .ended: break
            }
        }
        if statistics.unkept > 0 { parts.append("\(statistics.unkept) in memory only") }
        for queue in queues { parts.append("\(queue.name): \(state(queue))") }
        let line = parts.joined(separator: " · ")
        return line.count > width ? line.prefix(width - 1) + "…" : line
    }

    private static func state(_ queue: ConsumerStatus) -> String {
        var text = queue.waiting == 0 ? "ok" : "\(queue.waiting) waiting"
        if queue.failures > 0 {
            text += ", failing"
            if let seconds = queue.nextAttempt.map({ $0.seconds - Date.now.timeIntervalSince1970 }), seconds >= 1 {
                text += " (next in \(Int(seconds)) s)"
            }
        }
        if queue.deadLetters > 0 { text += ", \(queue.deadLetters) refused" }
        return text
    }

    /// Returns the lines of the summary at the end.
    ///
    /// - Parameters:
    ///   - statistics: the statistics of this run.
    ///   - before: the queues at the start of the run.
    ///   - queues: the queues now.
    ///   - launches: the number of started programs.
    static func summary(
        _ statistics: GatewayStatistics, before: [ConsumerStatus], queues: [ConsumerStatus], launches: Int
    ) -> [String] {
        var kinds = ""
        if !statistics.notifications.isEmpty {
            let words = statistics.notifications.sorted { $0.key.rawValue < $1.key.rawValue }
            kinds = " (" + words.map { "\($0.value) \($0.key)" }.joined(separator: ", ") + ")"
        }
        var first = "\(statistics.iBeacons.counted("advert")) from \(statistics.sources.count.counted("source")), "
        first += "\(statistics.notificationCount.counted("notification"))\(kinds)"
        if launches > 0 { first += ", \(launches.counted("launch", "launches"))" }
        if statistics.lost > 0 { first += ", \(statistics.lost) LOST because the outbox could not store them" }
        var lines = [first]
        for queue in queues {
            let earlier = before.first { $0.name == queue.name } ?? ConsumerStatus(name: "")
            var line =
                "\(queue.name): \(queue.handled - earlier.handled) delivered, \(queue.waiting) waiting"
            if queue.refused > earlier.refused { line += ", \(queue.refused - earlier.refused) refused" }
            if queue.deadLetters > 0 { line += ", \(queue.deadLetters) to review (beacond outbox list)" }
            let dropped = queue.dropped - earlier.dropped
            if dropped > 0 { line += ", \(dropped) dropped" }
            if let error = queue.lastError, queue.waiting > 0 { line += "; \(error.printable)" }
            lines.append(line)
        }
        return lines
    }
}

/// The live statistics on a terminal, redrawn every second.
struct LiveStatistics: Service {
    let daemon: GatewayDaemon

    func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                ErrorOutput.shared.show(
                    StatisticsText.line(daemon.statistics, daemon.queues, width: Terminal.error.size.columns))
                try? await Task.sleep(for: .seconds(1))
            }
        }
        ErrorOutput.shared.show("")
    }
}
