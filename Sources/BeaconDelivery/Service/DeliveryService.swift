import BeaconModel
import BeaconRadio
import BeaconService
public import Logging

/// Delivers an outbox's notifications: to each destination in order, at least once, independently of the others.
///
/// ```swift
/// let sink = try WebhookSink(WebhookConfiguration(url: url))
/// let outbox = try Outbox(file: file, destinations: ["office"])
/// let service = DeliveryService(outbox: outbox, destinations: [Destination(name: "office", sink: sink)])
/// async let running: Void = service.run()
/// try await service.append(notifications)
/// ```
///
/// A destination that fails is tried again by its ``BackOff``, and what comes after waits behind, so that order is kept.
/// Cancelling the task of ``run()`` ends it at once: a request on its way may have arrived and is sent again at the next
/// start. ``shutdown()`` lets requests on their way end first.
public final class DeliveryService<C: Clock>: Sendable where C.Duration == Duration {
    /// What is waiting.
    public let outbox: Outbox

    private let destinations: [Destination]
    private let clock: C
    private let logger: Logger
    private let start: C.Instant

    /// One for each destination: something may be there to be sent, or it is time to end.
    private let bells: [String: Bell]
    private let housekeeping = Bell()
    private let isShuttingDown = Locked(false)

    /// How often ages are checked, and what somebody changed in the file from beside is looked for.
    private static var housekeepingInterval: Duration { .seconds(10) }

    /// Delivers what an outbox holds.
    ///
    /// - Parameters:
    ///   - outbox: it has a queue for each destination.
    ///   - destinations: where to. Their names differ.
    ///   - clock: what waits are counted by; another than the default is for tests.
    ///   - logger: where failures and recoveries are told.
    public init(
        outbox: Outbox, destinations: [Destination], clock: C,
        logger: Logger = Logger(label: "swift-beacon.delivery")
    ) {
        self.outbox = outbox
        self.destinations = destinations
        self.clock = clock
        self.logger = logger
        start = clock.now
        bells = Dictionary(destinations.map { ($0.name, Bell()) }) { first, _ in first }
    }

    /// Puts notifications into the queues of the destinations that want them. When it returns, they are on the disk.
    ///
    /// - Throws: ``OutboxError``; none of the notifications was put in then.
    public func append(_ notifications: [BeaconNotification]) async throws(OutboxError) {
        let appendings = notifications.map { notification in
            Appending(
                notification: notification,
                destinations: destinations.filter { $0.wants(notification) }.map(\.name))
        }
        try await outbox.append(appendings)
        ring(appendings)
    }

    /// The same for callers that cannot wait by suspending. It blocks the thread until the notification is on the disk.
    public func appendBlocking(_ notification: BeaconNotification) throws(OutboxError) {
        let appending = Appending(
            notification: notification, destinations: destinations.filter { $0.wants(notification) }.map(\.name))
        guard !appending.destinations.isEmpty else { return }
        try outbox.appendBlocking([notification], to: appending.destinations)
        ring([appending])
    }

    private func ring(_ appendings: [Appending]) {
        for name in Set(appendings.flatMap(\.destinations)) { bells[name]?.ring() }
    }

    /// How each destination's queue stands, by name.
    public func status() async throws(OutboxError) -> [QueueStatus] { try await outbox.status() }

    /// Delivers until its task is cancelled or ``shutdown()`` is called.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            for destination in destinations {
                group.addTask {
                    // The connection ends after the last delivery.
                    await withTaskGroup(of: Void.self) { group in
                        group.addTask { await destination.sink.run() }
                        await self.deliver(to: destination)
                        group.cancelAll()
                    }
                }
            }
            group.addTask { await self.keepHouse() }
        }
    }

    /// Has ``run()`` return once the requests on their way have ended. What still waits is delivered at the next start.
    public func shutdown() {
        isShuttingDown.withLock { $0 = true }
        for bell in bells.values { bell.ring() }
        housekeeping.ring()
    }

    private var isEnding: Bool { Task.isCancelled || isShuttingDown.withLock { $0 } }

    private func keepHouse() async {
        while true {
            // Before it is asked, so that a ring after it ends the wait below.
            let seen = housekeeping.rings
            if isEnding { return }
            do {
                try await outbox.expire(uptime: start.duration(to: clock.now))
            } catch {
                logger.warning("what has grown too old cannot be dropped", metadata: ["error": "\(error)"])
            }
            for bell in bells.values { bell.ring() }
            await wait(for: housekeeping, after: seen, atMost: Self.housekeepingInterval)
        }
    }

    /// Waits until a bell rings, a time has passed, or the task is cancelled.
    private func wait(for bell: Bell, after seen: Int, atMost duration: Duration?) async {
        guard let duration else { return await bell.wait(after: seen) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await bell.wait(after: seen) }
            group.addTask { try? await self.clock.sleep(for: duration) }
            await group.next()
            group.cancelAll()
        }
    }

    private func deliver(to destination: Destination) async {
        guard let bell = bells[destination.name] else { return }
        var course = DeliveryCourse(destination: destination)
        while true {
            // Before anything is asked, so that a ring after it ends the waits below.
            let seen = bell.rings
            if isEnding { return }
            do {
                if try await course.settle(in: outbox) { continue }
                let status = try await outbox.status(of: destination.name)
                course.failures = status.failures
                if let notBefore = status.notBefore, status.failures > 0 {
                    let left = notBefore.since(outbox.wallTime())
                    // Where the wall clock was set back, the wait is not longer than it can have been meant.
                    let longest = (destination.backOff.maximumRetryAfter + destination.backOff.base).clampedNanoseconds
                    if left > 0 {
                        await wait(for: bell, after: seen, atMost: .nanoseconds(min(left, longest)))
                        continue
                    }
                }
                let entries = try await outbox.page(of: destination.name, limit: max(destination.sink.maximumBatch, 1))
                guard !entries.isEmpty else {
                    await bell.wait(after: seen)
                    continue
                }
                try await course.deliver(entries, from: outbox, logger)
            } catch {
                course.outboxFailures += 1
                let pause = BackOff(maximum: .seconds(60)).bound(afterFailures: course.outboxFailures)
                logger.error(
                    "the outbox cannot be used; deliveries wait",
                    metadata: [
                        "destination": "\(destination.name)", "error": "\(error)", "retryAfter": "\(pause)",
                    ])
                await wait(for: bell, after: bell.rings, atMost: pause)
            }
        }
    }
}

extension DeliveryService where C == ContinuousClock {
    /// Delivers what an outbox holds, by the system's clock.
    public convenience init(
        outbox: Outbox, destinations: [Destination], logger: Logger = Logger(label: "swift-beacon.delivery")
    ) {
        self.init(outbox: outbox, destinations: destinations, clock: ContinuousClock(), logger: logger)
    }
}
