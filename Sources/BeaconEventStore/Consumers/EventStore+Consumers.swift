public import BeaconModel
import BeaconSupport
import GRDB

/// The position at which a new consumer begins.
public struct ConsumerStart: Hashable, Sendable {
    /// The number of the last event that it does not get; nil for the newest.
    let position: Int64?

    /// With the next event that is stored.
    public static let end = ConsumerStart(position: nil)
    /// With the oldest event that is kept.
    public static let beginning = ConsumerStart(position: 0)
    /// With the first event after one of this number.
    public static func after(_ number: Int64) -> ConsumerStart { ConsumerStart(position: max(number, 0)) }
}

extension EventStore {
    /// Adds a consumer, or continues one of this name with other bounds and another filter. Nothing is written for one
    /// that the file has.
    ///
    /// Events of before that a former filter kept from it do not come again. The file keeps the consumer until it is
    /// removed: while the process that reads for it does not run, events wait, up to its bounds.
    ///
    /// - Parameters:
    ///   - name: the name, which does not begin with a full stop.
    ///   - start: where a new consumer begins.
    ///   - limits: the bounds of what waits for it.
    ///   - filter: returns true for the events that are for it. It is called again for the same event, on any thread,
    ///     and has to return the same.
    /// - Returns: the consumer. One that was returned earlier must not be used any longer.
    /// - Throws: ``EventStoreError`` where the name is not valid, or a new consumer cannot be written.
    @discardableResult
    public func addConsumer(
        _ name: String, start: ConsumerStart = .end, limits: ConsumerLimits = ConsumerLimits(),
        filter: @escaping @Sendable (Event) -> Bool = { _ in true }
    ) throws(EventStoreError) -> EventConsumer {
        try check(name)
        let generation = shared.withLock { shared in
            shared.generation += 1
            return shared.generation
        }
        if ledger.index(of: name) == nil {
            try change { writer in
                var record = ConsumerRecord(ConsumerStatus(name: name))
                record.status.position = min(start.position ?? writer.ledger.sequence, writer.ledger.sequence)
                record.isChanged = true
                writer.ledger.consumers.append(record)
            }
        }
        guard let index = ledger.index(of: name), let open = shared.withLock({ $0.file }) else { throw .closed(file) }
        var record = ledger.consumers[index]
        (record.limits, record.filter, record.generation) = (limits, filter, generation)
        do {
            let sequence = ledger.sequence
            try open.writer.inDatabase { try record.recount(StoreTables($0), through: sequence) }
        } catch {
            throw EventStoreError(error, file, otherwise: .cannotRead)
        }
        ledger.consumers[index] = record
        let arrivals = shared.withLock { shared in
            let signal = shared.arrivals[name] ?? AsyncSignal()
            shared.arrivals[name] = signal
            return signal
        }
        return EventConsumer(name: name, store: self, generation: generation, arrivals: arrivals, filter: filter)
    }

    /// Removes a consumer with its position and its dead letters, so that no event waits for it any longer.
    ///
    /// - Throws: ``EventStoreError`` where it cannot be removed; `unknownConsumer` where it does not exist.
    public func removeConsumer(_ name: String) throws(EventStoreError) {
        try check(name)
        guard ledger.index(of: name) != nil else { throw .unknown(name) }
        try change { writer in
            try writer.tables.run("DELETE FROM consumer WHERE name = ?", [name])
            try writer.tables.run("DELETE FROM refused WHERE consumer = ?", [name])
            writer.ledger.consumers.removeAll { $0.status.name == name }
        }
        // A task that waits for its events learns that there will be none.
        shared.withLock { $0.arrivals.removeValue(forKey: name) }?.signal()
    }

    /// Gives a consumer another name. Add it under that name to read for it.
    ///
    /// - Parameters:
    ///   - name: the consumer.
    ///   - newName: the name that it gets, which no other has.
    /// - Throws: ``EventStoreError`` where it cannot be renamed.
    public func renameConsumer(_ name: String, to newName: String) throws(EventStoreError) {
        try check(name)
        try check(newName)
        guard let index = ledger.index(of: name) else { throw .unknown(name) }
        guard ledger.index(of: newName) == nil else {
            throw EventStoreError(
                .conflict, "there is a consumer \"\(newName)\" already. Remove it, or choose another name")
        }
        try change { writer in
            try writer.tables.run("DELETE FROM consumer WHERE name = ?", [name])
            try writer.tables.run("UPDATE refused SET consumer = ? WHERE consumer = ?", [newName, name])
            writer.ledger.consumers[index].status.name = newName
            writer.ledger.consumers[index].isChanged = true
        }
        shared.withLock { $0.arrivals.removeValue(forKey: name) }?.signal()
    }

    /// Returns the status of all consumers, by name, also of those that this process did not add.
    ///
    /// - Throws: ``EventStoreError`` where the file cannot be read.
    public nonisolated func consumers() async throws(EventStoreError) -> [ConsumerStatus] {
        try await read { try $0.statuses() }
    }

    /// Returns the dead letters of a consumer, oldest first.
    ///
    /// - Parameters:
    ///   - consumer: the consumer's name.
    ///   - limit: the most to return.
    /// - Throws: ``EventStoreError`` where the file cannot be read.
    public nonisolated func refused(
        by consumer: String, limit: Int = 100
    ) async throws(EventStoreError) -> [RefusedEvent] {
        try await read { try $0.refused(by: consumer, limit: limit) }
    }

    /// Has dead letters tried again, before all other events, and makes the consumer's next attempt due.
    ///
    /// - Parameters:
    ///   - id: the event; nil for all dead letters.
    ///   - consumer: the consumer's name.
    /// - Returns: the number of dead letters that are tried again.
    /// - Throws: ``EventStoreError`` where there is no such consumer, or the file cannot be written.
    @discardableResult
    public func retry(_ id: EventID? = nil, for consumer: String) throws(EventStoreError) -> Int {
        guard ledger.index(of: consumer) != nil else { throw .unknown(consumer) }
        let count = try change { writer in
            let count = try writer.tables.retry(id, of: consumer)
            try writer.ledger.reload(consumer, writer.tables)
            return count
        }
        shared.withLock { $0.arrivals[consumer] }?.signal()
        return count
    }

    /// Drops dead letters and, where asked, events that wait.
    ///
    /// - Parameters:
    ///   - id: the event; nil for all.
    ///   - consumer: the consumer's name.
    ///   - deadLettersOnly: false to drop events that wait as well.
    /// - Returns: the number of events that were dropped.
    /// - Throws: ``EventStoreError`` where there is no such consumer, or the file cannot be written.
    @discardableResult
    public func drop(
        _ id: EventID? = nil, for consumer: String, deadLettersOnly: Bool = true
    ) throws(EventStoreError) -> Int {
        guard let index = ledger.index(of: consumer) else { throw .unknown(consumer) }
        let filter = ledger.consumers[index].filter ?? { _ in true }
        return try change { writer in
            let count = try writer.tables.drop(id, of: consumer, deadLettersOnly: deadLettersOnly, filter: filter)
            try writer.ledger.reload(consumer, writer.tables)
            return count
        }
    }

    private func change<Value>(_ body: (inout StepWriter) throws -> Value) throws(EventStoreError) -> Value {
        do {
            let (value, writer) = try write(synced: true, body)
            report(writer, except: [])
            return value
        } catch {
            throw EventStoreError(error, file, otherwise: .cannotWrite)
        }
    }

    private func check(_ name: String) throws(EventStoreError) {
        if !name.isEmpty, !EventLookup.isReserved(name), Event.fault(ofText: name) == nil { return }
        throw EventStoreError(
            .invalid,
            "\"\(name.prefix(40))\" is no name of a consumer: it is empty, too long, or begins with a full stop")
    }
}

extension Ledger {
    /// Reads a consumer's row after it was changed there.
    mutating func reload(_ consumer: String, _ tables: StoreTables) throws {
        guard let index = index(of: consumer), var record = try tables.consumers(consumer).first else { return }
        let old = consumers[index]
        (record.limits, record.filter, record.generation) = (old.limits, old.filter, old.generation)
        try record.recount(tables, through: sequence)
        consumers[index] = record
    }
}
