import BeaconModel
import Logging

/// How the deliveries to one destination go.
struct DeliveryCourse {
    private let destination: Destination

    /// How many attempts in a row have failed.
    var failures = 0

    /// How often in a row the outbox could not be used.
    var outboxFailures = 0

    /// What became of the last entries, where it is not written yet. Until it is, nothing more is sent: it would be sent
    /// again and again while the disk is full.
    private var unsettled: QueueResolution?

    init(destination: Destination) { self.destination = destination }

    /// Writes what became of the last entries, where that failed before.
    ///
    /// - Returns: whether there was anything to write.
    mutating func settle(in outbox: Outbox) async throws(OutboxError) -> Bool {
        guard let unsettled else { return false }
        try await outbox.resolve(unsettled, of: destination.name)
        self.unsettled = nil
        outboxFailures = 0
        return true
    }

    /// Sends entries, and writes what became of them.
    mutating func deliver(_ entries: [OutboxEntry], from outbox: Outbox, _ logger: Logger) async throws(OutboxError) {
        var resolution = QueueResolution()
        // What was wanted when it came in may not be by the settings of this start.
        let wanted = entries.filter { destination.wants($0.notification) }
        if wanted.count < entries.count {
            resolution.unwanted = entries.filter { !destination.wants($0.notification) }.map(\.sequence)
        }
        if !wanted.isEmpty {
            var outcomes = await destination.sink.deliver(wanted)
            if outcomes.isEmpty {
                // Nothing was tried, since the task is cancelled.
                if Task.isCancelled { return }
                outcomes = [.retry(reason: "the destination said nothing")]
            }
            note(outcomes, of: wanted, in: &resolution, at: outbox.wallTime(), logger)
        }
        unsettled = resolution
        _ = try await settle(in: outbox)
    }

    private mutating func note(
        _ outcomes: [DeliveryOutcome], of entries: [OutboxEntry], in resolution: inout QueueResolution,
        at now: Timestamp, _ logger: Logger
    ) {
        let failuresBefore = failures
        for (entry, outcome) in zip(entries, outcomes) {
            switch outcome {
            case .delivered:
                resolution.delivered.append(entry.sequence)
                failures = 0
            case .refused(let reason):
                resolution.refused.append(QueueResolution.Refused(sequence: entry.sequence, reason: reason))
                failures = 0
                logger.error(
                    "a notification was refused for good and is parked",
                    metadata: [
                        "destination": "\(destination.name)", "id": "\(entry.notification.id)", "reason": "\(reason)",
                    ])
            case .retry(let reason, let after):
                // Only the first that fails waits; those behind it have not had their turn.
                guard resolution.failure == nil else { continue }
                failures += 1
                var generator = SystemRandomNumberGenerator()
                let pause = destination.backOff.wait(afterFailures: failures, asked: after, using: &generator)
                resolution.failure = QueueResolution.Failure(
                    sequence: entry.sequence, reason: reason, failures: failures,
                    notBefore: now.advanced(by: pause.clampedNanoseconds).milliseconds + 1)
                // Told once, and then when it is over.
                logger.log(
                    level: failures == 1 ? .warning : .debug, "a delivery failed and is tried again",
                    metadata: [
                        "destination": "\(destination.name)", "reason": "\(reason)", "failures": "\(failures)",
                        "retryAfter": "\(pause)",
                    ])
            }
        }
        guard failuresBefore > 0, resolution.failure == nil else { return }
        resolution.isRecovery = true
        logger.info(
            "deliveries go on",
            metadata: ["destination": "\(destination.name)", "afterFailures": "\(failuresBefore)"])
    }
}
