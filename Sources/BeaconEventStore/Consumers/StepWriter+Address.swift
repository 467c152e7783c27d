import BeaconModel
import GRDB

/// Events for consumers that may have passed them already. They wait out of order, in the table of dead letters,
/// because a consumer's position never moves back.
extension StepWriter {
    /// Queues an event for consumers that may have passed it.
    mutating func address(_ event: Event, to consumers: [String]) throws {
        var own = event
        own.audience = []
        var receipt = Receipt()
        let number = try insert(own, &receipt)
        // The stored event may also be for consumers that have not reached it yet.
        var known: StoredEvent?
        if receipt.new == 0 {
            try tables.events("number = ?", [number]) {
                known = $0; return false
            }
        }
        let stored = StoredEvent(number: number, arrival: Timestamp(milliseconds: now), event: event)
        for index in ledger.consumers.indices where consumers.contains(ledger.consumers[index].name) {
            var consumer = ledger.consumers[index]
            let isNew =
                try tables.first("SELECT 1 FROM refused WHERE consumer = ? AND number = ?", [consumer.name, number]) {
                    _ in false
                } ?? true
            let isAhead = known.map { number > consumer.position && consumer.wants($0) } ?? false
            guard isNew, !isAhead else { continue }
            try tables.refuse(stored, by: consumer.name, reason: "", attempts: 0, at: now, state: 1)
            consumer.due += Amount(count: 1, bytes: event.size)
            consumer.appended += 1
            ledger.changedConsumers.insert(consumer.name)
            try enforceDueBounds(&consumer)
            ledger.consumers[index] = consumer
        }
    }

    /// Drops addressed events beyond a consumer's bounds: the lowest priority first, and among these the oldest.
    private mutating func enforceDueBounds(_ consumer: inout ConsumerStatus) throws {
        let name = consumer.name
        var dropped = 0
        while consumer.due.count > consumer.limits.events || consumer.due.bytes > consumer.limits.bytes {
            let first = try tables.first(
                """
                SELECT number, \(Event.sizeSQL) FROM refused
                WHERE consumer = ? AND state = 1 ORDER BY priority, number LIMIT 1
                """, [name]
            ) { (number: try $0.integer(0), bytes: try $0.count(1)) }
            guard let first else { break }
            try tables.run("DELETE FROM refused WHERE consumer = ? AND number = ?", [name, first.number])
            consumer.due -= Amount(count: 1, bytes: first.bytes)
            dropped += 1
        }
        guard dropped > 0 else { return }
        consumer.droppedBySize += dropped
        skips.append((name, dropped, "more wait than its bounds allow"))
    }
}
