import BeaconDelivery
import BeaconModel
import BeaconSupport

/// A sink whose outcomes a test controls. It keeps the accepted notifications. Tests of HTTP use a real server.
final class MemorySink: Sink {
    private let answers: @Sendable (BeaconNotification) -> DeliveryOutcome
    private let taken = Locked<[BeaconNotification]>([])
    private let tried = Locked(0)
    let maximumBatch: Int

    init(
        maximumBatch: Int = 10,
        answers: @escaping @Sendable (BeaconNotification) -> DeliveryOutcome = { _ in .delivered }
    ) {
        self.maximumBatch = maximumBatch
        self.answers = answers
    }

    /// The accepted notifications, in order.
    var notifications: [BeaconNotification] { taken.withLock { $0 } }

    /// The minor values of the accepted notifications, in order.
    var minors: [UInt16] { notifications.compactMap { $0.beacon?.minor } }

    /// The number of notifications that it was asked to deliver.
    var attempts: Int { tried.withLock { $0 } }

    func deliver(_ batch: [QueuedNotification]) async -> [DeliveryOutcome] {
        var outcomes: [DeliveryOutcome] = []
        for entry in batch {
            tried.withLock { $0 += 1 }
            let outcome = answers(entry.notification)
            outcomes.append(outcome)
            if outcome == .delivered { taken.withLock { $0.append(entry.notification) } }
            if case .retry = outcome { break }
        }
        return outcomes
    }
}

/// A sink that handles one notification at a time, and holds it until a test releases it.
final class SlowSink: Sink {
    private struct State {
        var isBusy = false
        var isOpen = false
        var hasRun = false
    }

    private let state = Locked(State())
    private let outcomesOfCancelled: [DeliveryOutcome]
    let maximumBatch = 1

    /// - Parameter outcomesOfCancelled: the outcomes to return if it is canceled.
    init(outcomesOfCancelled: [DeliveryOutcome] = []) { self.outcomesOfCancelled = outcomesOfCancelled }

    var isBusy: Bool { state.withLock { $0.isBusy } }
    var hasRun: Bool { state.withLock { $0.hasRun } }

    func open() { state.withLock { $0.isOpen = true } }

    func deliver(_ batch: [QueuedNotification]) async -> [DeliveryOutcome] {
        state.withLock { $0.isBusy = true }
        while !state.withLock({ $0.isOpen }) {
            if Task.isCancelled { return outcomesOfCancelled }
            try? await Task.sleep(for: .milliseconds(1))
        }
        return [.delivered]
    }

    func run(onConnection: @escaping @Sendable () -> Void) async {
        state.withLock { $0.hasRun = true }
    }
}

/// A sink that accepts notifications once a test connects it.
final class ConnectingSink: Sink {
    private let signal = AsyncSignal()
    private let isConnected = Locked(false)
    let maximumBatch = 10

    func connect() {
        isConnected.withLock { $0 = true }
        signal.signal()
    }

    func deliver(_ batch: [QueuedNotification]) async -> [DeliveryOutcome] {
        isConnected.withLock { $0 }
            ? batch.map { _ in .delivered } : [.retry(reason: "no connection", after: .seconds(80_000))]
    }

    func run(onConnection: @escaping @Sendable () -> Void) async {
        await signal.wait(after: 0)
        onConnection()
    }
}
