import BeaconModel
import Foundation
import GRDB

/// A writer of steps within a transaction.
struct StepWriter {
    let tables: StoreTables
    let settings: EventStoreSettings
    /// The wall clock, in milliseconds since 1970.
    let now: Int64
    var ledger: Ledger
    /// The new events, for followers.
    var stored: [StoredEvent] = []
    /// The skipped events of consumers, to be logged once the transaction is written.
    var skips: [(consumer: String, count: Int, reason: String)] = []
    /// Whether to write the consumers' counts, which otherwise wait for the next housekeeping.
    var hasCounts = false

    /// Stores a step.
    ///
    /// All checks precede the first write, so that a refused step leaves no traces.
    ///
    /// - Returns: The receipt, or an error that concerns only this step.
    /// - Throws: An error of the file, which fails the whole transaction.
    mutating func store(_ step: Step) throws -> Result<Receipt, EventStoreError> {
        var step = step
        do {
            try step.decision?(StateReader(tables, ledger), &step)
            try step.check()
        } catch {
            // An error of the caller's closure is not a fault of the file.
            guard error is DatabaseError || error is DamagedRow else {
                return .failure(error as? EventStoreError ?? EventStoreError(.conflict, "\(error)", cause: error))
            }
            throw error
        }
        var receipt = Receipt()
        var known: [Int64?] = []
        // If the step has only events, inserting them shows whether they are known.
        let isPlain = step.changes.isEmpty && step.progress.isEmpty && step.addressed.isEmpty
        for event in step.events { known.append(isPlain ? nil : try number(of: event.id)) }
        var (repeated, new) = (0, 0)
        for progress in step.progress {
            switch try verdict(on: progress) {
            case .success(true): new += 1
            case .success(false):
                repeated += 1
                endFailures(of: progress.consumer)
            case .failure(let error): return .failure(error)
            }
        }
        let isKnown = known.allSatisfy { $0 != nil } && new == 0
        if isKnown, step.addressed.isEmpty, !step.events.isEmpty || repeated > 0 {
            receipt.numbers = known.compactMap { $0 }
            receipt.isRepeated = true
            return .success(receipt)
        }
        guard repeated == 0 || step.changes.isEmpty && step.events.isEmpty else {
            return .failure(
                EventStoreError(.conflict, "one consumer of the step has passed its batch already, and another has not")
            )
        }
        for event in step.events { receipt.numbers.append(try insert(event, &receipt)) }
        for (event, consumers) in step.addressed { try address(event, to: consumers) }
        try store(step.changes)
        for progress in step.progress { try store(progress) }
        receipt.isRepeated = isPlain && receipt.new == 0 && !step.events.isEmpty
        return .success(receipt)
    }

    // MARK: - Events

    func number(of id: EventID) throws -> Int64? {
        try tables.first("SELECT number FROM known WHERE id = ?", [id.bytes]) { row in
            let number = try row.integer(0)
            guard number > 0, number <= ledger.sequence else {
                throw DamagedRow(description: "the number \(number) of an id was never assigned")
            }
            return number
        }
    }

    mutating func insert(_ event: Event, _ receipt: inout Receipt) throws -> Int64 {
        let number = ledger.sequence + 1
        guard try tables.addName(event.id, number) else { return try self.number(of: event.id) ?? 0 }
        let event = StoredEvent(number: number, arrival: Timestamp(milliseconds: now), event: event)
        try tables.insert(event)
        ledger.sequence = number
        ledger.names += 1
        ledger.events += Amount(count: 1, bytes: event.event.size)
        let receivers = ledger.consumers.indices.filter { index in
            let consumer = ledger.consumers[index]
            return consumer.isActive && consumer.wants(event.event.kind, event.event.region, event.event.audience)
        }
        try post(number, event.event.priority, size: event.event.body.count, to: receivers)
        stored.append(event)
        receipt.new += 1
        return number
    }

    // MARK: - State

    private mutating func store(_ changes: [StateChange]) throws {
        /// The namespaces, and the senders whose values have changed in each.
        var touched: [String: Set<String>] = [:]
        for change in changes {
            try remove(change.namespace, change.key)
            guard let value = change.value else { continue }
            try tables.insert(change, modified: now)
            ledger.count(change.namespace, change.sender, Amount(count: 1, bytes: value.count))
            touched[change.namespace, default: []].formUnion([change.sender].compactMap { $0 })
        }
        for (namespace, senders) in touched {
            for sender in senders { try enforceBounds(of: namespace, sender: sender) }
            try enforceBounds(of: namespace)
        }
    }

    private mutating func remove(_ namespace: String, _ key: String) throws {
        let found = try tables.first(
            "SELECT length(value), sender FROM state WHERE namespace = ? AND key = ?", [namespace, key]
        ) { (bytes: try $0.count(0), sender: try $0.optionalText(1)) }
        guard let found else { return }
        try tables.run("DELETE FROM state WHERE namespace = ? AND key = ?", [namespace, key])
        ledger.count(namespace, found.sender, Amount(count: -1, bytes: -found.bytes))
    }

    /// Removes the values with the oldest changes, until a namespace, or a sender's part of it, is within its bounds.
    private mutating func enforceBounds(of namespace: String, sender: String? = nil) throws {
        let limits = settings.limits(of: namespace)
        var (rows, bytes) = (limits.rows, limits.bytes)
        var amount = ledger.namespaces[namespace]?.all ?? Amount()
        var selection = "FROM state WHERE namespace = ?"
        var arguments: StatementArguments = [namespace]
        if let sender {
            amount = ledger.namespaces[namespace]?.senders[sender] ?? Amount()
            (rows, bytes) = (limits.rowsPerSender, limits.bytesPerSender)
            selection += " AND sender = ?"
            arguments += [sender]
        }
        guard amount.count > rows || amount.bytes > bytes else { return }
        // Finding the oldest value reads the whole namespace, so remove several at once.
        if sender == nil, rows > 1_000 { (rows, bytes) = (rows - rows / 64, bytes - bytes / 64) }
        var oldest: [String] = []
        try tables.each("SELECT key, length(value) \(selection) ORDER BY modified, key", arguments) { row in
            guard amount.count > rows || amount.bytes > bytes else { return false }
            oldest.append(try row.text(0))
            amount.count -= 1
            amount.bytes -= try row.count(1)
            return true
        }
        for key in oldest { try remove(namespace, key) }
    }

    /// Removes values that have been unchanged for longer than their namespace allows.
    ///
    /// - Returns: Whether there were any.
    mutating func expireState() throws -> Bool {
        for namespace in ledger.namespaces.keys.sorted() {
            guard let age = settings.limits(of: namespace).age else { continue }
            var old: [String] = []
            try tables.each(
                "SELECT key FROM state WHERE namespace = ? AND modified < ? LIMIT 500",
                [namespace, now - age.milliseconds]
            ) { row in
                old.append(try row.text(0))
                return true
            }
            for key in old { try remove(namespace, key) }
            if !old.isEmpty { return true }
        }
        return false
    }
}
