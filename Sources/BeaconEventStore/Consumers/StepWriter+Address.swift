import BeaconModel
import GRDB

/// Events for consumers that may have passed them already. They wait beside the order, among the dead letters that are
/// tried again: a consumer's position never moves back.
extension StepWriter {
    /// Queues an event for consumers that may have passed it.
    mutating func address(_ event: Event, to consumers: [String]) throws {
        var own = event
        own.audience = []
        var receipt = Receipt()
        let number = try insert(own, &receipt)
        let stored = StoredEvent(number: number, arrival: Timestamp(milliseconds: now), event: event)
        for index in ledger.consumers.indices where consumers.contains(ledger.consumers[index].status.name) {
            var record = ledger.consumers[index]
            let isNew =
                try tables.first(
                    "SELECT 1 FROM refused WHERE consumer = ? AND number = ?", [record.status.name, number]
                ) { _ in false } ?? true
            guard isNew else { continue }
            try tables.refuse(stored, by: record.status.name, reason: "", attempts: 0, at: now, state: 1)
            record.due.events += 1
            record.due.bytes += event.size
            record.status.appended += 1
            record.hasNews = true
            try enforceDueBounds(&record)
            record.total()
            ledger.consumers[index] = record
        }
    }

    /// Drops addressed events beyond a consumer's bounds, the lowest priority first, and of that the oldest.
    private mutating func enforceDueBounds(_ record: inout ConsumerRecord) throws {
        let name = record.status.name
        var dropped = 0
        while record.due.events > record.limits.events || record.due.bytes > record.limits.bytes {
            let first = try tables.first(
                """
                SELECT number, length(body) + \(Event.overhead) FROM refused
                WHERE consumer = ? AND state = 1 ORDER BY priority, number LIMIT 1
                """, [name]
            ) { (number: try $0.integer(0), bytes: try $0.count(1)) }
            guard let first else { break }
            try tables.run("DELETE FROM refused WHERE consumer = ? AND number = ?", [name, first.number])
            record.due.events -= 1
            record.due.bytes -= first.bytes
            dropped += 1
        }
        guard dropped > 0 else { return }
        record.status.droppedBySize += dropped
        skips.append((name, dropped, "more wait than its bounds allow"))
    }
}
