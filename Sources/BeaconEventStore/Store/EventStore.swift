import BeaconModel
import BeaconSupport
import Dispatch
public import Foundation
import GRDB
public import Logging
public import Metrics

/// A durable store of events in a file, with the state derived from them and a mailbox for each consumer.
///
/// ```swift
/// let store = try EventStore(file: file)
/// async let running: Void = store.run()
/// try await store.append(Step([event]))          // on the disk when it returns
/// ```
///
/// There are two ways to add events. ``append(_:)`` and ``appendBlocking(_:)`` return once the step is on the disk, or
/// throw an error. After an error nothing of the step is kept, and the caller may repeat the call or give up.
/// ``enqueue(_:atOnce:)`` returns at once and never fails. While the disk fails, the step waits in memory, whole and
/// within bounds, and ``health`` reports the failure. Steps that arrive during a write are written and synced together.
///
/// Only one process at a time may write to a file. ``EventStoreInspector`` can read and edit the file at the same time.
public actor EventStore {
    /// The file.
    public nonisolated let file: URL

    /// The recovery from a damaged file; nil if the file was intact.
    public nonisolated var recovery: EventStoreRecovery? { shared.withLock { $0.recovery } }

    nonisolated let executor = SerialQueueExecutor(label: "swift-beacon.event-store")
    nonisolated let settings: EventStoreSettings

    /// The bounds of the history.
    public nonisolated var retention: EventStoreSettings.Retention { shared.withLock { $0.retention } }
    nonisolated let clock: EventStoreClock
    nonisolated let logger: Logger
    nonisolated let metrics: any MetricsFactory
    let storedCounter: Counter
    let failingGauge: Gauge

    /// The state that callers on other threads share with the writer.
    struct Shared {
        var file: StoreFile?
        var recovery: EventStoreRecovery?
        var tail: MemoryTail
        var retention: EventStoreSettings.Retention
        /// The ledger after the last write.
        var ledger: Ledger
        var health = EventStoreHealth()
        /// The time since boot at which the write in progress began.
        var writing: Int64?
        /// The time since boot of the last attempt to write.
        var lastAttempt = Int64.min
        /// Whether a flush is on the queue that takes all waiting steps.
        var isFlushScheduled = false
        /// Whether a flush will be on the queue, after the time for coalescing.
        var isFlushPlanned = false
        var arrivals: [String: AsyncSignal] = [:]
        /// The wall clock's offset as stored in the file; nil before the first write.
        var storedLead: Int64?
        var followers: [(receive: @Sendable ([StoredEvent]) -> Void, failing: @Sendable () -> Void)] = []
    }

    nonisolated let shared: Locked<Shared>
    /// Signals ``run()`` that the writer has something to do.
    nonisolated let attention = AsyncSignal()

    var lock: StoreLock?
    var ledger = Ledger()
    /// The consumers to set up with the next write.
    var setups: [Setup] = []
    /// Whether a write has succeeded since the opening.
    private(set) var hasWritten = false
    private var isSynced: Bool?
    /// A closure that throws an error in place of a write, for tests of faults.
    private let fault: (@Sendable () throws -> Void)?
    private var isHousekeepingScheduled = false
    /// The events that each consumer skipped since the last log line about it, and the time since boot of that line.
    var unreportedSkips: [String: (count: Int, logged: Int64?)] = [:]

    /// An executor with a separate dispatch queue for the store, because a disk can be slow.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Opens the store in a file, and creates the file if it is missing.
    ///
    /// A damaged file is set aside, and its readable rows go into a new one. ``recovery`` and the log describe it.
    ///
    /// - Parameters:
    ///   - file: a file on a local disk. SQLite's log does not work over a network.
    ///   - settings: the bounds.
    ///   - logger: a logger for failures, drops and damage.
    ///   - metrics: the backend of the counters `beacon_event_store_events_total` and `_dropped_total` by kind, and of
    ///     the gauge `beacon_event_store_failing_since_seconds`, counted from 1970, or 0.
    ///   - clock: the clocks. Tests pass clocks other than the system's.
    /// - Throws: ``EventStoreError``: `inUse` if another process has the file; `cannotOpen`, `full`, `locked` or
    ///   `notOurs` if it cannot be used.
    public init(
        file: URL, settings: EventStoreSettings = EventStoreSettings(),
        logger: Logger = Logger(label: "swift-beacon.event-store"),
        metrics: any MetricsFactory = MetricsSystem.factory, clock: EventStoreClock = .system
    ) throws(EventStoreError) {
        try self.init(
            file: file, settings: settings, logger: logger, metrics: metrics, clock: clock, fault: nil)
    }

    /// Opens the store, with a closure that may throw an error in place of a write.
    package init(
        file: URL, settings: EventStoreSettings, logger: Logger, metrics: any MetricsFactory, clock: EventStoreClock,
        fault: (@Sendable () throws -> Void)?
    ) throws(EventStoreError) {
        self.file = file
        self.settings = settings
        self.logger = logger
        self.clock = clock
        self.fault = fault
        self.metrics = metrics
        storedCounter = Counter(label: "beacon_event_store_events_total", factory: metrics)
        failingGauge = Gauge(label: "beacon_event_store_failing_since_seconds", factory: metrics)
        let (opened, lock) = try Self.open(file, settings: settings, clock: clock, logger: logger)
        (self.lock, ledger) = (lock, opened.ledger)
        shared = Locked(
            Shared(
                file: opened.file, recovery: opened.recovery, tail: MemoryTail(settings),
                retention: settings.retention, ledger: opened.ledger))
    }

    // MARK: - Writing

    /// Stores a step. When the call returns, it is on the disk.
    ///
    /// A step whose events are already stored changes nothing. A caller that did not receive the acknowledgement may
    /// therefore repeat the call.
    ///
    /// - Returns: The numbers of the events.
    /// - Throws: ``EventStoreError``, within about a second of a disk failure: `full`, `locked`, `cannotWrite`,
    ///   `damaged`; `crowded` while too many steps wait in memory; `invalid`, `conflict`, `unknownConsumer` for an
    ///   error of this step; `closed`. Nothing of the step is stored then.
    @discardableResult
    public nonisolated func append(_ step: Step) async throws(EventStoreError) -> Receipt {
        try step.check()
        let result: Result<Receipt, EventStoreError> = await withCheckedContinuation { continuation in
            submit(PendingStep(step) { continuation.resume(returning: $0) })
        }
        return try result.get()
    }

    /// Stores a step, for callers that cannot suspend. The call blocks its thread until the step is on the disk.
    ///
    /// - Returns: The numbers of the events.
    /// - Throws: ``EventStoreError``, like ``append(_:)``.
    @discardableResult
    public nonisolated func appendBlocking(_ step: Step) throws(EventStoreError) -> Receipt {
        try step.check()
        let outcome = Locked<Result<Receipt, EventStoreError>?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        submit(
            PendingStep(step) { result in
                outcome.withLock { $0 = result }
                isDone.signal()
            })
        isDone.wait()
        guard let result = outcome.withLock({ $0 }) else { throw .closed(file) }
        return try result.get()
    }

    /// Stores a step soon. The call returns at once.
    ///
    /// While the disk fails, the step waits in memory. If more steps wait than the bounds allow, whole steps are
    /// dropped: those whose most important event has the lowest priority first, and among these the oldest. Drops are
    /// counted in ``health`` and logged. A step that can never be stored is logged and dropped.
    ///
    /// - Parameters:
    ///   - step: the step.
    ///   - atOnce: true to begin the write now; false to wait up to ``EventStoreSettings/coalescing`` for more steps.
    public nonisolated func enqueue(_ step: Step, atOnce: Bool = false) {
        do throws(EventStoreError) {
            try step.check()
            submit(PendingStep(step), atOnce: atOnce)
        } catch {
            drop(step, error)
        }
    }

    /// Reads the state and decides what to store, without any other write in between.
    ///
    /// ```swift
    /// let isNew = try await store.update { state, step in
    ///     guard try state.row("app", name) == nil else { return false }
    ///     step.set("app", name, to: key)
    ///     return true
    /// }
    /// ```
    ///
    /// - Parameter body: a closure that reads the state and fills the step. After a failure it may be called again.
    /// - Returns: The result of `body`, once the step is on the disk.
    /// - Throws: ``EventStoreError``, like ``append(_:)``, and the errors of `body`. Nothing is stored then.
    public nonisolated func update<Value: Sendable>(
        _ body: @escaping @Sendable (StateReader, inout Step) throws -> Value
    ) async throws -> Value {
        let outcome = Locked<Value?>(nil)
        var step = Step()
        step.decision = { state, step in
            let value = try body(state, &step)
            outcome.withLock { $0 = value }
        }
        do {
            try await append(step)
        } catch {
            throw error.code == .conflict ? error.cause ?? error : error
        }
        guard let value = outcome.withLock({ $0 }) else { throw EventStoreError.closed(file) }
        return value
    }

    private nonisolated func drop(_ step: Step, _ error: EventStoreError) {
        logger.error("dropped a step: \(error)")
        countDropped([step])
    }

    private nonisolated func submit(_ pending: PendingStep, atOnce: Bool = true) {
        let isAwaited = pending.completion != nil
        let now = clock.sinceBoot()
        let dropped = shared.withLock { shared -> Result<[Step], EventStoreError> in
            guard shared.file != nil else { return .failure(.closed(file)) }
            guard let dropped = shared.tail.add(pending) else {
                let message = "too many steps wait for the disk; see the health of the event store"
                return .failure(EventStoreError(.crowded, message))
            }
            let isFailing = shared.health.failure != nil
            let isDue = now - Self.retryNanoseconds >= shared.lastAttempt
            if isAwaited || !isFailing || isDue {
                schedule(&shared, atOnce || isFailing || settings.coalescing <= .zero)
            }
            if isFailing { attention.signal() }
            return .success(dropped)
        }
        switch dropped {
        case .success(let steps): if !steps.isEmpty { countDropped(steps) }
        case .failure(let error):
            if let completion = pending.completion {
                completion(.failure(error))
            } else if !pending.step.events.isEmpty || !pending.step.addressed.isEmpty {
                drop(pending.step, error)
            }
        }
    }

    private static let retryNanoseconds = EventStoreSettings.retry.milliseconds * 1_000_000

    /// Schedules a flush on the queue.
    private nonisolated func schedule(_ shared: inout Shared, _ isAtOnce: Bool) {
        guard !shared.isFlushScheduled else { return }
        if isAtOnce {
            shared.isFlushScheduled = true
            executor.queue.async { self.assumeIsolated { _ = $0.flush() } }
        } else if !shared.isFlushPlanned {
            shared.isFlushPlanned = true
            let pause = DispatchTimeInterval.milliseconds(Int(settings.coalescing.milliseconds))
            executor.queue.asyncAfter(deadline: .now() + pause) { self.assumeIsolated { _ = $0.flush() } }
        }
    }

    /// Writes a group of the waiting steps, and schedules the next one. In between, other work of the queue has its
    /// turn: on a slow disk, steps may arrive faster than they are written.
    ///
    /// - Returns: true if it wrote a group, and more steps wait.
    func flush() -> Bool {
        let (group, isFailing) = shared.withLock { shared in
            (shared.isFlushScheduled, shared.isFlushPlanned) = (false, false)
            let isFailing = shared.health.failure != nil
            guard shared.file != nil else { return ([PendingStep](), isFailing) }
            // On a nearly full disk, single steps may succeed even if the group fails.
            return (shared.tail.take(isFailing ? 1 : EventStoreSettings.group), isFailing)
        }
        guard !group.isEmpty else { return false }
        do {
            let steps = group.map(\.step)
            let hasToBeSynced = isFailing || steps.contains(where: \.hasToBeSynced)
            let (results, writer) = try write(synced: hasToBeSynced) { writer in
                // A step without changes would succeed on a full disk, and falsely end the failure.
                if isFailing { try StoreSchema.touch(writer.tables.database) }
                return try steps.map { try writer.store($0) }
            }
            shared.withLock { $0.tail.removeWritten() }
            if isFailing { endFailure() }
            // Report before the callers return, so that a new follower does not receive these events.
            report(writer)
            for (pending, result) in zip(group, results) {
                if pending.completion == nil, case .failure(let error) = result { drop(pending.step, error) }
                pending.completion?(result)
            }
            maintainSoon()
            return shared.withLock { shared in
                if !shared.tail.entries.isEmpty { schedule(&shared, true) }
                return shared.isFlushScheduled
            }
        } catch {
            fail(EventStoreError(error, file, otherwise: .cannotWrite))
            return false
        }
    }

    /// Writes in one transaction, and reports the results.
    func change<Value>(
        synced: Bool = true, _ body: (inout StepWriter) throws -> Value
    ) throws(EventStoreError) -> Value {
        do {
            let (value, writer) = try write(synced: synced, body)
            report(writer)
            return value
        } catch {
            throw EventStoreError(error, file, otherwise: .cannotWrite)
        }
    }

    /// Writes in one transaction. It tries once more if the file was damaged and is replaced, or if the log filled the
    /// disk.
    func write<Value>(
        synced: Bool, _ body: (inout StepWriter) throws -> Value
    ) throws -> (Value, StepWriter) {
        let began = clock.sinceBoot()
        shared.withLock { ($0.writing, $0.lastAttempt) = (began, began) }
        defer { shared.withLock { $0.writing = nil } }
        do {
            return try transact(synced, body)
        } catch {
            let failure = EventStoreError(error, file, otherwise: .cannotWrite)
            switch failure.code {
            case .damaged: try replaceDamagedFile(because: failure)
            case .full:
                let file = shared.withLock { $0.file }
                try? file?.writer.use { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
                // Deleting events that no consumer needs makes room for new ones.
                _ = try? transact(false) { writer in _ = try writer.sweep(false) }
            default: throw failure
            }
            return try transact(synced, body)
        }
    }

    private func transact<Value>(
        _ synced: Bool, _ body: (inout StepWriter) throws -> Value
    ) throws -> (Value, StepWriter) {
        guard let open = shared.withLock({ $0.file }) else { throw EventStoreError.closed(file) }
        return try open.writer.use { database in
            if database.isInsideTransaction { try database.rollback() }
            // FULL makes a commit wait for the disk (SQLite, PRAGMA synchronous).
            if synced != isSynced {
                try database.execute(sql: "PRAGMA synchronous = \(synced ? "FULL" : "NORMAL")")
                isSynced = synced
            }
            // One moment: if the clock were set between two readings of it, everything would be years old.
            let clock = clock.stopped
            let (lead, isSet) = (clock.lead, isClockSet(to: clock.lead))
            let result = try StoreTables.transaction(in: database) { tables in
                try fault?()
                var settings = settings
                settings.retention = retention
                var writer = StepWriter(tables: tables, settings: settings, now: clock.now, ledger: ledger)
                try writer.ledger.refresh(tables)
                // This must happen before anything is added with the new time or counts as old by it.
                if isSet { try writer.correctTimes(by: clock) }
                for setup in setups { try writer.apply(setup) }
                let value = try body(&writer)
                try writer.ledger.write(tables, hasCounts: writer.hasCounts)
                return (value, writer)
            }
            if isSet { shared.withLock { $0.storedLead = lead } }
            (ledger, setups, hasWritten) = (result.1.ledger, [], true)
            let changedConsumers = ledger.changedConsumers
            ledger.changedConsumers = []
            let signals = shared.withLock { [ledger] shared in
                shared.ledger = ledger
                return changedConsumers.compactMap { shared.arrivals[$0] }
            }
            for signal in signals { signal.signal() }
            try open.checkPlace(file)
            return result
        }
    }

    /// Forgets the connection's state after the file was replaced.
    func forgetConnection() {
        isSynced = nil
        shared.withLock { $0.storedLead = nil }
    }

    /// True if the wall clock was set since the last write, so that the next one corrects times.
    nonisolated func isClockSet(to lead: Int64) -> Bool {
        shared.withLock { $0.storedLead }.map { (lead &- $0).magnitude >= UInt64(EventStoreClock.smallestStep) }
            ?? true
    }

    // MARK: - Housekeeping

    /// Deletes events, state and dead letters beyond their bounds, in pieces, so that steps can be written in between.
    /// ``run()`` does this every ten seconds, and the store itself does it when a bound is exceeded.
    ///
    /// - Throws: ``EventStoreError`` if the disk fails.
    public func maintain() async throws(EventStoreError) { try await maintain(expiring: true) }

    /// - Parameter isExpiring: whether to look for old state as well, which reads all of it.
    private func maintain(expiring isExpiring: Bool) async throws(EventStoreError) {
        while try maintainOnce() { await Task.yield() }
        while isExpiring, try maintainOnce(expiring: true) { await Task.yield() }
    }

    /// Sets the bounds of the history. The next housekeeping enforces them.
    public func setRetention(_ retention: EventStoreSettings.Retention) {
        shared.withLock { $0.retention = retention }
    }

    private func maintainSoon() {
        guard !isHousekeepingScheduled else { return }
        let slack = settings.piece
        let history = ledger.events.count - ledger.behind.count
        let bytes = ledger.events.bytes - ledger.behind.bytes
        // Apart, since the compiler needs seconds for them in one expression.
        let isLong = history >= retention.events + slack
        let isLarge = bytes > retention.bytes + retention.bytes / 64
        guard isLong || isLarge || ledger.consumers.contains(where: { $0.isBeyondBounds(MailState.waiting) }) else {
            return
        }
        isHousekeepingScheduled = true
        executor.queue.async {
            self.assumeIsolated { store in
                store.isHousekeepingScheduled = false
                do {
                    if try store.maintainOnce() { store.maintainSoon() }
                } catch {
                    store.logger.debug("cannot enforce the bounds of the event store yet: \(error)")
                }
            }
        }
    }

    /// Does a piece of the work.
    ///
    /// - Returns: Whether there is more.
    private func maintainOnce(expiring isExpiring: Bool = false) throws(EventStoreError) -> Bool {
        let clock = clock
        return try change(synced: false) { try $0.maintain(by: clock, expiring: isExpiring) }
    }

    /// Repeats failed writes, enforces bounds by age, and detects events from other processes, until the task is
    /// canceled or the store is closed.
    public nonisolated func run() async {
        let pause = EventStoreSettings.housekeeping.milliseconds * 1_000_000
        var (next, round) = (clock.sinceBoot() + pause, 0)
        while !Task.isCancelled, shared.withLock({ $0.file != nil }) {
            let seen = attention.count
            let isBusy = shared.withLock { !$0.tail.entries.isEmpty }
            if isBusy {
                try? await clock.sleep(.milliseconds(500))
            } else {
                let (clock, attention, pause) = (clock, attention, settings.watch)
                _ = await result {
                    await attention.wait(after: seen)
                } before: {
                    try? await clock.sleep(pause)
                }
            }
            let now = clock.sinceBoot()
            shared.withLock { shared in
                let isDue = now - Self.retryNanoseconds >= shared.lastAttempt
                if !shared.tail.entries.isEmpty, isDue, shared.writing == nil { schedule(&shared, true) }
            }
            let (isDue, isOutdated) = (now >= next, await isOutdated)
            guard isDue || isOutdated else { continue }
            do throws(EventStoreError) {
                try await maintain(expiring: isDue && round.isMultiple(of: EventStoreSettings.roundsOfExpiry))
            } catch {
                logger.debug("cannot enforce the bounds of the event store yet: \(error)")
            }
            if isDue { (next, round) = (now + pause, round + 1) }
        }
    }

    /// Whether another process has changed the file. The next transaction takes over the changes.
    private var isOutdated: Bool {
        let open = shared.withLock { $0.file }
        return (try? open?.writer.use { try ledger.isOutdated($0) }) ?? false
    }

    /// Makes a last attempt to write the waiting steps, and closes the file. Later calls throw `closed`.
    ///
    /// - Returns: The number of events that could not be written, and are lost.
    @discardableResult
    public func close() -> Int {
        while flush() {}
        // The counts of the consumers.
        _ = try? write(synced: false) { $0.hasCounts = true }
        let (open, rest, arrivals) = shared.withLock { shared in
            defer { shared.file = nil }
            return (shared.file, shared.tail.removeAll(), Array(shared.arrivals.values))
        }
        // They arrived during the last write, or it failed.
        for pending in rest { pending.completion?(.failure(.closed(file))) }
        let lost = rest.reduce(0) { $0 + ($1.completion == nil ? $1.amount.count : 0) }
        if lost > 0 { logger.error("lost \(lost) events that waited in memory for the disk") }
        open?.close()
        lock = nil
        for signal in arrivals { signal.signal() }
        attention.signal()
        return lost
    }
}
