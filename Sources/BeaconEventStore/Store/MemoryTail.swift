/// A step that waits to be written, with its caller.
final class PendingStep: Sendable {
    let step: Step
    /// Its number of events and bytes.
    let amount: Amount
    /// The priority of its most important event.
    let priority: Event.Priority

    /// Called with the outcome; nil if no caller waits for it. A step with a caller is never dropped, and never kept
    /// after a failure, because its caller receives the outcome.
    let completion: (@Sendable (Result<Receipt, EventStoreError>) -> Void)?

    init(_ step: Step, completion: (@Sendable (Result<Receipt, EventStoreError>) -> Void)? = nil) {
        self.step = step
        amount = Amount(count: step.events.count + step.addressed.count, bytes: step.size)
        priority = step.priority
        self.completion = completion
    }
}

/// The steps that wait to be written. Each waits as a whole, and all are within bounds.
struct MemoryTail {
    private(set) var entries: [PendingStep] = []
    /// The events and bytes of all entries.
    private(set) var amount = Amount()

    /// The number of the first steps that are being written now. The size of a transaction bounds them. If the write
    /// fails, they count for the bounds again.
    private var inFlight = 0
    private var amountInFlight = Amount()

    /// The number of the first steps that were waiting when the current write began. They fail if the write fails.
    private var present = 0

    /// For each priority, the number of first steps among which none of it can be dropped. A drop among thousands of
    /// steps need not look at all of them.
    private var searched: [Event.Priority: Int] = [:]

    private let maximumEvents: Int
    private let maximumBytes: Int

    init(_ settings: EventStoreSettings) {
        (maximumEvents, maximumBytes) = (settings.waitingEvents, settings.waitingBytes)
    }

    private var isCrowded: Bool {
        amount.count - amountInFlight.count > maximumEvents || amount.bytes - amountInFlight.bytes > maximumBytes
    }

    /// Adds a step, and drops others until all are within the bounds: the lowest priority first, and among these the
    /// oldest.
    ///
    /// - Returns: The dropped steps; nil if there is no room for the step of a waiting caller.
    mutating func add(_ pending: PendingStep) -> [Step]? {
        entries.append(pending)
        amount += pending.amount
        guard isCrowded else { return [] }
        // An empty store accepts any step that it can write.
        if pending.completion != nil {
            guard entries.count > 1 else { return [] }
            _ = remove(at: entries.count - 1)
            return nil
        }
        return dropExcess()
    }

    private mutating func dropExcess() -> [Step] {
        var dropped: [Step] = []
        while isCrowded, let index = mostDispensable { dropped.append(remove(at: index)) }
        return dropped
    }

    private var mostDispensable: Int? {
        mutating get {
            for priority in (0..<Event.Priority.count).map({ Event.Priority(UInt8($0)) }) {
                var index = max(searched[priority] ?? 0, inFlight)
                while index < entries.count,
                    entries[index].priority != priority || entries[index].completion != nil
                {
                    index += 1
                }
                searched[priority] = index
                if index < entries.count { return index }
            }
            return nil
        }
    }

    private mutating func remove(at index: Int) -> Step {
        let pending = entries.remove(at: index)
        if index < present { present -= 1 }
        searched = searched.mapValues { $0 > index ? $0 - 1 : $0 }
        amount -= pending.amount
        return pending.step
    }

    /// Returns the first steps, up to a number of events. They stay here until they are written.
    mutating func take(_ limit: Int) -> [PendingStep] {
        var count = 0
        setInFlight(0)
        present = entries.count
        var taken = 0
        for entry in entries {
            count += max(entry.step.events.count, 1)
            if taken > 0, count > limit { break }
            taken += 1
        }
        setInFlight(taken)
        return Array(entries.prefix(taken))
    }

    private mutating func setInFlight(_ count: Int) {
        inFlight = count
        amountInFlight = entries.prefix(count).reduce(into: Amount()) { $0 += $1.amount }
    }

    /// Removes the steps that were written.
    mutating func removeWritten() {
        amount -= amountInFlight
        entries.removeFirst(inFlight)
        searched = searched.mapValues { max($0 - inFlight, 0) }
        setInFlight(0)
    }

    /// Removes all steps, while none is being written.
    mutating func removeAll() -> [PendingStep] {
        defer { (entries, amount, present, searched) = ([], Amount(), 0, [:]) }
        setInFlight(0)
        return entries
    }

    /// Removes the steps whose callers waited for the failed write.
    ///
    /// - Returns: These steps, and the steps that exceed the bounds.
    mutating func fail() -> (callers: [PendingStep], dropped: [Step]) {
        setInFlight(0)
        let callers = entries.prefix(present).filter { $0.completion != nil }
        entries = entries.prefix(present).filter { $0.completion == nil } + Array(entries.dropFirst(present))
        searched = [:]
        for caller in callers { amount -= caller.amount }
        return (callers, dropExcess())
    }
}
