public import BeaconEventStore
import BeaconModel
import BeaconSupport
public import Logging
public import Metrics

/// The delivery of an event store's notifications: to each destination in order, at least once, and independently of
/// the other destinations.
///
/// ```swift
/// let sink = try WebhookSink(WebhookSettings(url: url))
/// let store = try EventStore(file: file)
/// let service = try DeliveryService(store: store, destinations: [Destination(name: "office", sink: sink)])
/// async let running: Void = service.run()
/// try await service.append(notifications)
/// ```
///
/// Each destination is a consumer of the store, under its name. After a failure the service waits as its
/// ``RetryPolicy`` specifies and tries again. Later notifications wait behind the failed one, so that the order is
/// kept. Waits use the service's clock, which is never set; a start, a connection and `beacond outbox retry` end them.
/// Canceling ``run()``'s task ends it at once: a request in flight may have arrived and is sent again at the next
/// start. ``shutdown()`` waits for requests in flight.
public final class DeliveryService<C: Clock>: Sendable where C.Duration == Duration {
    /// The event store.
    public let store: EventStore

    private let lines: Locked<[DestinationLine]>

    /// The lines that were asked to end but have not ended.
    private let leaving = Locked<[DestinationLine]>([])
    private let limits: Locked<ConsumerLimits>
    private let clock: C
    private let logger: Logger
    private let metrics: DeliveryMetrics
    private let start: C.Instant

    /// Signals that the lines changed, or that the service is ending.
    private let changes = AsyncSignal()
    private let isShuttingDown = Locked(false)

    /// Creates a service on a clock. It delivers once ``run()`` is called. The call blocks its thread while it writes.
    ///
    /// Consumers of the store that are no longer destinations are paused. Their queues stay, within the bounds, but
    /// receive no new notifications.
    ///
    /// - Parameters:
    ///   - store: an event store.
    ///   - destinations: the destinations. Their names differ.
    ///   - limits: the bounds of each destination's queue.
    ///   - number: the number of the event after which a new destination starts; nil for the newest event.
    ///   - clock: the clock of all waits. Tests pass their own.
    ///   - logger: a logger for failures and recoveries.
    ///   - metrics: the backend of the counters `beacon_delivery_appended_total`, `_delivered_total`, `_retried_total`,
    ///     `_dead_letters_total` and `_dropped_total`, and of the gauge `beacon_delivery_failing_since_seconds`, the
    ///     time since 1970 at which a destination started to fail, or 0; each by destination.
    /// - Throws: ``/BeaconEventStore/EventStoreError`` if the store cannot be written.
    public init(
        store: EventStore, destinations: [Destination], limits: ConsumerLimits = ConsumerLimits(),
        after number: Int64? = nil, clock: C, logger: Logger = Logger(label: "swift-beacon.delivery"),
        metrics: any MetricsFactory = MetricsSystem.factory
    ) throws(EventStoreError) {
        self.store = store
        self.limits = Locked(limits)
        self.clock = clock
        self.logger = logger
        start = clock.now
        let names = Set(destinations.map(\.name))
        let known = store.knownConsumers
        let gone = known.filter { !names.contains($0.name) }
        let consumers = try store.addConsumers(
            destinations.map { ($0.name, $0.filter) }, pausing: gone.map(\.name), limits: limits, after: number)
        lines = Locked(zip(destinations, consumers).map { DestinationLine($0, $1) })
        self.metrics = DeliveryMetrics(metrics, since: known)
        for status in gone where status.waiting > 0 {
            logger.warning(
                """
                notifications wait for a destination that is not configured; configure it to deliver them, or drop \
                them with `beacond outbox drop`
                """,
                metadata: ["destination": "\(status.name)", "count": "\(status.waiting)"])
        }
    }

    /// The destinations.
    private var destinations: [Destination] { lines.withLock { $0 }.map(\.destination) }

    /// Adds consumers for destinations that the store does not know.
    ///
    /// - Throws: ``/BeaconEventStore/EventStoreError`` if they cannot be added. None is added then.
    package func prepare(_ destinations: [Destination]) throws(EventStoreError) {
        let known = Set(store.knownConsumers.map(\.name))
        let new = destinations.filter { !known.contains($0.name) }
        try store.addConsumers(new.map { ($0.name, $0.filter) }, limits: limits.withLock { $0 })
    }

    /// Replaces the destinations, also while the service runs.
    ///
    /// Removed destinations finish the deliveries in progress, for a limited time. New ones begin after that, so that a
    /// connection is closed before the next one of the same name opens. New destinations receive the notifications from
    /// now on.
    ///
    /// - Parameters:
    ///   - destinations: all destinations. Their names differ.
    ///   - kept: the names of unchanged destinations, whose connections stay open. They may select other notifications.
    ///   - newLimits: the bounds of each destination's queue; nil for the current bounds.
    /// - Throws: ``/BeaconEventStore/EventStoreError`` if the store cannot be written. The destinations do not change
    ///   then.
    package func update(
        _ destinations: [Destination], keeping kept: Set<String>, limits newLimits: ConsumerLimits? = nil
    ) throws(EventStoreError) {
        let before = lines.withLock { $0 }
        let names = Set(destinations.map(\.name))
        let limits = newLimits ?? limits.withLock { $0 }
        let consumers = try store.addConsumers(
            destinations.map { ($0.name, $0.filter) },
            pausing: before.map(\.destination.name).filter { !names.contains($0) }, limits: limits)
        self.limits.withLock { $0 = limits }
        let gone = before.filter { !names.contains($0.destination.name) || !kept.contains($0.destination.name) }
        let predecessors = leaving.withLock { leaving in
            leaving = leaving.filter { $0.ended.count == 0 } + gone
            return leaving
        }
        let next = zip(destinations, consumers).map { destination, consumer in
            guard kept.contains(destination.name),
                let line = before.first(where: { $0.destination.name == destination.name })
            else { return DestinationLine(destination, consumer, after: predecessors) }
            line.update(destination)
            return line
        }
        lines.withLock { $0 = next }
        for line in gone { line.end() }
        changes.signal()
    }

    /// Stores notifications for the destinations that select them. When it returns, they are on the disk.
    ///
    /// A notification with a known id is not stored again. A caller that did not receive the acknowledgement may
    /// therefore repeat the call.
    ///
    /// - Throws: ``/BeaconEventStore/EventStoreError``. None of the notifications is stored then.
    public func append(_ notifications: [BeaconNotification]) async throws(EventStoreError) {
        let step = try step(notifications)
        if !step.events.isEmpty { try await store.append(step) }
    }

    /// Returns the event of a notification for the given destinations, whichever notifications they select.
    ///
    /// - Parameters:
    ///   - notification: the notification.
    ///   - names: the destinations. Unknown names are ignored.
    /// - Returns: The event, or nil if all names are unknown.
    /// - Throws: ``/BeaconEventStore/EventStoreError`` if it can never be stored.
    package func event(
        _ notification: BeaconNotification, for names: [String]
    ) throws(EventStoreError) -> Event? {
        let known = destinations.map(\.name).filter(names.contains)
        return known.isEmpty ? nil : try notification.event(for: known)
    }

    /// Stores a notification for the destinations that select it, for callers that cannot suspend. The call blocks the
    /// thread until the notification is on the disk.
    ///
    /// - Throws: ``/BeaconEventStore/EventStoreError``. The notification is not stored then.
    public func appendBlocking(_ notification: BeaconNotification) throws(EventStoreError) {
        let step = try step([notification])
        if !step.events.isEmpty { try store.appendBlocking(step) }
    }

    /// Returns a step with the notifications that at least one destination selects.
    private func step(_ notifications: [BeaconNotification]) throws(EventStoreError) -> Step {
        let destinations = destinations
        var step = Step()
        for notification in notifications where destinations.contains(where: { $0.wants(notification) }) {
            step.events.append(try notification.event())
        }
        return step
    }

    /// Returns the status of each destination, by name, including former ones.
    ///
    /// - Throws: ``/BeaconEventStore/EventStoreError`` if the store cannot be read.
    public func status() async throws(EventStoreError) -> [ConsumerStatus] { try await store.consumers() }

    /// Delivers notifications and enforces the store's bounds, until its task is canceled or ``shutdown()`` is called.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.store.run() }
            await withDiscardingTaskGroup { group in
                while true {
                    let seen = changes.count
                    if isEnding { break }
                    for line in lines.withLock({ $0 }) where line.begin() {
                        group.addTask { await self.run(line) }
                    }
                    await changes.wait(after: seen)
                }
            }
            group.cancelAll()
        }
        for status in (try? await status()) ?? [] { metrics.update(status) }
    }

    private func run(_ line: DestinationLine) async {
        defer { line.ended.signal() }
        for other in line.predecessors { await other.ended.wait(after: 0) }
        let clock = clock
        // End the connection after the last delivery.
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await line.destination.sink.run { line.connect() } }
            await withTaskGroup(of: Void.self) { deliveries in
                deliveries.addTask { await self.deliver(to: line) }
                deliveries.addTask {
                    await line.ending.wait(after: 0)
                    // A receiver that hangs must not delay the others.
                    try? await clock.sleep(for: DestinationLine.grace)
                }
                await deliveries.next()
                deliveries.cancelAll()
            }
            group.cancelAll()
        }
    }

    /// Ends ``run()`` after the requests in flight. Waiting notifications are delivered after the next start.
    public func shutdown() {
        isShuttingDown.withLock { $0 = true }
        changes.signal()
        for line in lines.withLock({ $0 }) { line.signal.signal() }
    }

    private var isEnding: Bool { Task.isCancelled || isShuttingDown.withLock { $0 } }

    private func deliver(to line: DestinationLine) async {
        let (signal, consumer) = (line.signal, line.consumer)
        var worker = DestinationWorker(destination: line.destination)
        /// The time of the next attempt after a failure. It is not stored on disk: a start ends the wait.
        var nextAttempt: C.Instant?
        while true {
            // Read the count before checking the store, so that a later signal ends the waits below.
            let seen = signal.count
            if isEnding || line.isEnding { return }
            worker.destination = line.destination
            do {
                if try await worker.storeOutcomes(in: store) {
                    nextAttempt = worker.takePause().map { clock.now.advanced(by: $0) }
                    continue
                }
                if line.takeConnection() { nextAttempt = nil }
                let left = nextAttempt.map { clock.now.duration(to: $0) } ?? .zero
                let (status, batch) = try await consumer.read(
                    limit: left > .zero ? 0 : line.destination.sink.maximumBatch)
                worker.update(from: status)
                metrics.update(status)
                if left > .zero {
                    // A request for a retry removes the time from the file.
                    if status.nextAttempt == nil {
                        nextAttempt = nil
                    } else {
                        await signal.wait(after: seen, atMost: left, by: clock)
                    }
                    continue
                }
                nextAttempt = nil
                guard let batch else {
                    await signal.wait(after: seen)
                    continue
                }
                // After the end, the notifications belong to the line's successor.
                if isEnding || line.isEnding { return }
                try await worker.deliver(batch, from: store, at: start.duration(to: clock.now), logger: logger)
                nextAttempt = worker.takePause().map { clock.now.advanced(by: $0) }
            } catch {
                if error.code == .closed { return }
                worker.storeFailures += 1
                let pause = RetryPolicy(maximum: .seconds(60)).bound(afterFailures: worker.storeFailures)
                logger.error(
                    "cannot use the event store; deliveries to the destination wait until the store works again",
                    metadata: [
                        "destination": "\(line.destination.name)", "error": "\(error)",
                        "retryAfter": "\(DurationText.text(pause))",
                    ])
                await signal.wait(after: signal.count, atMost: pause, by: clock)
            }
        }
    }
}

extension DeliveryService where C == ContinuousClock {
    /// Creates a service on the system's clock. It delivers once ``run()`` is called.
    ///
    /// - Parameters:
    ///   - store: an event store.
    ///   - destinations: the destinations. Their names differ.
    ///   - limits: the bounds of each destination's queue.
    ///   - number: the number of the event after which a new destination starts; nil for the newest event.
    ///   - logger: a logger for failures and recoveries.
    /// - Throws: ``/BeaconEventStore/EventStoreError`` if the store cannot be written.
    public convenience init(
        store: EventStore, destinations: [Destination], limits: ConsumerLimits = ConsumerLimits(),
        after number: Int64? = nil, logger: Logger = Logger(label: "swift-beacon.delivery")
    ) throws(EventStoreError) {
        try self.init(
            store: store, destinations: destinations, limits: limits, after: number, clock: ContinuousClock(),
            logger: logger)
    }
}
