import BeaconModel
import BeaconSupport
public import Logging

/// The delivery of an outbox's notifications: to each destination in order, at least once, independently of the others.
///
/// ```swift
/// let sink = try WebhookSink(WebhookConfiguration(url: url))
/// let outbox = try Outbox(file: file, destinations: ["office"])
/// let service = DeliveryService(outbox: outbox, destinations: [Destination(name: "office", sink: sink)])
/// async let running: Void = service.run()
/// try await service.append(notifications)
/// ```
///
/// A destination that fails is tried again after the waits of its ``RetryPolicy``, and later notifications wait behind
/// the failed one, so that order is kept. Waits are by the service's clock, which nobody sets; a start, a connection
/// and `beacond outbox retry` end them. Cancelling the task of ``run()`` ends it at once: a request in flight may have
/// arrived and is sent again at the next start. ``shutdown()`` waits for requests in flight.
public final class DeliveryService<C: Clock>: Sendable where C.Duration == Duration {
    /// The outbox.
    public let outbox: Outbox

    private let lines: Locked<[DestinationLine]>

    /// The lines that are to end and have not.
    private let leaving = Locked<[DestinationLine]>([])
    private let clock: C
    private let logger: Logger
    private let start: C.Instant

    /// The signal that the lines changed, or that the service is ending.
    private let changes = AsyncSignal()

    /// The signal that the service is ending, for the expiry.
    private let expirySignal = AsyncSignal()
    private let isShuttingDown = Locked(false)

    /// The interval at which old notifications are dropped, and changes that an ``OutboxInspector`` made are looked
    /// for.
    private static var expiryInterval: Duration { .seconds(10) }

    /// Makes a service on a clock, which delivers once ``run()`` is called.
    ///
    /// - Parameters:
    ///   - outbox: an outbox with a queue for each destination.
    ///   - destinations: the destinations. Their names differ.
    ///   - clock: the clock of all waits; another than the system's is for tests.
    ///   - logger: a logger for failures and recoveries.
    public init(
        outbox: Outbox, destinations: [Destination], clock: C,
        logger: Logger = Logger(label: "swift-beacon.delivery")
    ) {
        self.outbox = outbox
        lines = Locked(destinations.map { DestinationLine($0) })
        self.clock = clock
        self.logger = logger
        start = clock.now
    }

    /// The destinations.
    private var destinations: [Destination] { lines.withLock { $0 }.map(\.destination) }

    /// Continues with other destinations, also while it runs.
    ///
    /// Those that end finish the deliveries under way, for a limited time. New ones begin after that, so that a
    /// connection of one name is closed before the next is made. Their notifications are put into their queues at once.
    ///
    /// - Parameters:
    ///   - destinations: all destinations from now on. Their names differ.
    ///   - kept: the names of those that are the same as before, with the same connection. They may want other
    ///     notifications.
    /// - Throws: ``OutboxError`` where queues cannot be created; the destinations stay as they are then.
    package func update(_ destinations: [Destination], keeping kept: Set<String>) async throws(OutboxError) {
        try await outbox.addQueues(of: destinations.map(\.name))
        let before = lines.withLock { $0 }
        let names = Set(destinations.map(\.name)).intersection(kept)
        let gone = before.filter { !names.contains($0.destination.name) }
        let predecessors = leaving.withLock { leaving in
            leaving = leaving.filter { $0.ended.count == 0 } + gone
            return leaving
        }
        let next = destinations.map { destination in
            guard names.contains(destination.name),
                let line = before.first(where: { $0.destination.name == destination.name })
            else { return DestinationLine(destination, after: predecessors) }
            line.destination = destination
            return line
        }
        lines.withLock { $0 = next }
        for line in gone { line.end() }
        changes.signal()
    }

    /// Puts notifications into the queues of the destinations that want them. When it returns, they are on the disk.
    ///
    /// - Throws: ``OutboxError``; none of the notifications was put in then.
    public func append(_ notifications: [BeaconNotification]) async throws(OutboxError) {
        let addressed = notifications.map { notification in
            AddressedNotification(
                notification: notification,
                destinations: destinations.filter { $0.wants(notification) }.map(\.name))
        }
        try await outbox.append(addressed)
        signal(addressed)
    }

    /// Puts notifications into the queues of destinations that somebody chose, whatever those want otherwise. When it
    /// returns, they are on the disk.
    ///
    /// - Parameters:
    ///   - notifications: the notifications, in order.
    ///   - names: the destinations. Those that there are not are passed over.
    /// - Throws: ``OutboxError``; none of the notifications was put in then.
    public func append(
        _ notifications: [BeaconNotification], to names: [String]
    ) async throws(OutboxError) {
        let known = destinations.map(\.name).filter(names.contains)
        guard !known.isEmpty else { return }
        let addressed = notifications.map { AddressedNotification(notification: $0, destinations: known) }
        try await outbox.append(addressed)
        signal(addressed)
    }

    /// Puts a notification into the queues of the destinations that want it, for callers that cannot suspend. The call
    /// blocks the thread until the notification is on the disk.
    ///
    /// - Throws: ``OutboxError``; the notification was not put in then.
    public func appendBlocking(_ notification: BeaconNotification) throws(OutboxError) {
        let addressed = AddressedNotification(
            notification: notification, destinations: destinations.filter { $0.wants(notification) }.map(\.name))
        guard !addressed.destinations.isEmpty else { return }
        try outbox.appendBlocking([notification], to: addressed.destinations)
        signal([addressed])
    }

    private func signal(_ addressed: [AddressedNotification]) {
        let names = Set(addressed.flatMap(\.destinations))
        for line in lines.withLock({ $0 }) where names.contains(line.destination.name) { line.signal.signal() }
    }

    /// Returns the status of each destination's queue, by name.
    ///
    /// - Throws: ``OutboxError`` where the outbox cannot be read.
    public func status() async throws(OutboxError) -> [QueueStatus] { try await outbox.status() }

    /// Delivers until its task is cancelled or ``shutdown()`` is called.
    public func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.expirePeriodically() }
            while true {
                let seen = changes.count
                if isEnding { break }
                for line in lines.withLock({ $0 }) where line.begin() {
                    group.addTask { await self.run(line) }
                }
                await changes.wait(after: seen)
            }
        }
    }

    private func run(_ line: DestinationLine) async {
        defer { line.ended.signal() }
        for other in line.predecessors { await other.ended.wait(after: 0) }
        let clock = clock
        // The connection ends after the last delivery.
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await line.destination.sink.run { line.connect() } }
            await withTaskGroup(of: Void.self) { deliveries in
                deliveries.addTask { await self.deliver(to: line) }
                deliveries.addTask {
                    await line.ending.wait(after: 0)
                    // A receiver that hangs holds up no other.
                    try? await clock.sleep(for: DestinationLine.grace)
                }
                await deliveries.next()
                deliveries.cancelAll()
            }
            group.cancelAll()
        }
    }

    /// Ends ``run()`` once the requests in flight have ended. Notifications that still wait are delivered at the next
    /// start.
    public func shutdown() {
        isShuttingDown.withLock { $0 = true }
        changes.signal()
        for line in lines.withLock({ $0 }) { line.signal.signal() }
        expirySignal.signal()
    }

    private var isEnding: Bool { Task.isCancelled || isShuttingDown.withLock { $0 } }

    private func expirePeriodically() async {
        while true {
            // Before the question, so that a signal after it ends the wait below.
            let seen = expirySignal.count
            if isEnding { return }
            do {
                try await outbox.expire()
            } catch {
                logger.warning(
                    "cannot drop notifications that are too old; they are kept and tried again",
                    metadata: ["error": "\(error)"])
            }
            for line in lines.withLock({ $0 }) { line.signal.signal() }
            await wait(for: expirySignal, after: seen, atMost: Self.expiryInterval)
        }
    }

    /// Waits until a signal is sent, a time has passed, or the task is cancelled.
    private func wait(for signal: AsyncSignal, after seen: Int, atMost duration: Duration?) async {
        guard let duration else { return await signal.wait(after: seen) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await signal.wait(after: seen) }
            group.addTask { try? await self.clock.sleep(for: duration) }
            await group.next()
            group.cancelAll()
        }
    }

    private func deliver(to line: DestinationLine) async {
        let signal = line.signal
        var worker = DestinationWorker(destination: line.destination)
        /// The time of the next attempt, where one has failed. It is not on the disk: a start ends the wait.
        var nextAttempt: C.Instant?
        while true {
            // Before any question, so that a signal after it ends the waits below.
            let seen = signal.count
            if isEnding || line.isEnding { return }
            let destination = line.destination
            do {
                if try await worker.storeOutcomes(in: outbox) {
                    nextAttempt = worker.takePause().map { clock.now.advanced(by: $0) }
                    continue
                }
                let status = try await outbox.status(of: destination.name)
                worker.failures = status.failures
                worker.failingSince = status.failingSince
                // Somebody who wants a retry removes the moment from the file.
                let isConnected = line.takeConnection()
                if isConnected || status.notBefore == nil { nextAttempt = nil }
                if let due = nextAttempt {
                    let left = clock.now.duration(to: due)
                    if left > .zero {
                        await wait(for: signal, after: seen, atMost: left)
                        continue
                    }
                    nextAttempt = nil
                }
                let entries = try await outbox.page(of: destination.name, limit: max(destination.sink.maximumBatch, 1))
                guard !entries.isEmpty else {
                    await signal.wait(after: seen)
                    continue
                }
                // Read after the page: the notifications in it were chosen by this filter, or by an earlier one.
                worker.destination = line.destination
                try await worker.deliver(entries, from: outbox, at: start.duration(to: clock.now), logger: logger)
                nextAttempt = worker.takePause().map { clock.now.advanced(by: $0) }
            } catch {
                worker.outboxFailures += 1
                let pause = RetryPolicy(maximum: .seconds(60)).bound(afterFailures: worker.outboxFailures)
                logger.error(
                    "cannot use the outbox; deliveries to the destination wait and are tried again",
                    metadata: [
                        "destination": "\(destination.name)", "error": "\(error)",
                        "retryAfter": "\(DurationText.text(pause))",
                    ])
                await wait(for: signal, after: signal.count, atMost: pause)
            }
        }
    }
}

extension DeliveryService where C == ContinuousClock {
    /// Makes a service on the system's clock, which delivers once ``run()`` is called.
    ///
    /// - Parameters:
    ///   - outbox: an outbox with a queue for each destination.
    ///   - destinations: the destinations. Their names differ.
    ///   - logger: a logger for failures and recoveries.
    public convenience init(
        outbox: Outbox, destinations: [Destination], logger: Logger = Logger(label: "swift-beacon.delivery")
    ) {
        self.init(outbox: outbox, destinations: destinations, clock: ContinuousClock(), logger: logger)
    }
}
