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

    private let destinations: [Destination]
    private let clock: C
    private let logger: Logger
    private let start: C.Instant

    /// A signal for each destination: there may be something to send, or the service is ending.
    private let signals: [String: AsyncSignal]

    /// The destinations that made a connection since their last attempt.
    private let connected = Locked<Set<String>>([])

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
        self.destinations = destinations
        self.clock = clock
        self.logger = logger
        start = clock.now
        signals = Dictionary(destinations.map { ($0.name, AsyncSignal()) }) { first, _ in first }
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
        for name in Set(addressed.flatMap(\.destinations)) { signals[name]?.signal() }
    }

    /// Returns the status of each destination's queue, by name.
    ///
    /// - Throws: ``OutboxError`` where the outbox cannot be read.
    public func status() async throws(OutboxError) -> [QueueStatus] { try await outbox.status() }

    /// Delivers until its task is cancelled or ``shutdown()`` is called.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            for destination in destinations {
                group.addTask {
                    // The connection ends after the last delivery.
                    await withTaskGroup(of: Void.self) { group in
                        group.addTask {
                            await destination.sink.run { [self] in
                                connected.withLock { _ = $0.insert(destination.name) }
                                signals[destination.name]?.signal()
                            }
                        }
                        await self.deliver(to: destination)
                        group.cancelAll()
                    }
                }
            }
            group.addTask { await self.expirePeriodically() }
        }
    }

    /// Ends ``run()`` once the requests in flight have ended. Notifications that still wait are delivered at the next
    /// start.
    public func shutdown() {
        isShuttingDown.withLock { $0 = true }
        for signal in signals.values { signal.signal() }
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
            for signal in signals.values { signal.signal() }
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

    private func deliver(to destination: Destination) async {
        guard let signal = signals[destination.name] else { return }
        var worker = DestinationWorker(destination: destination)
        /// The time of the next attempt, where one has failed. It is not on the disk: a start ends the wait.
        var nextAttempt: C.Instant?
        while true {
            // Before any question, so that a signal after it ends the waits below.
            let seen = signal.count
            if isEnding { return }
            do {
                if try await worker.storeOutcomes(in: outbox) {
                    nextAttempt = worker.takePause().map { clock.now.advanced(by: $0) }
                    continue
                }
                let status = try await outbox.status(of: destination.name)
                worker.failures = status.failures
                worker.failingSince = status.failingSince
                // Somebody who wants a retry removes the moment from the file.
                let isConnected = connected.withLock { $0.remove(destination.name) != nil }
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
