import BeaconDelivery
import BeaconRadio
import BeaconService

/// A destination that takes one notification at a time, and keeps it until a test lets it go.
final class SlowSink: Sink {
    private struct State {
        var isBusy = false
        var isOpen = false
        var hasRun = false
    }

    private let state = Locked(State())
    let maximumBatch = 1

    var isBusy: Bool { state.withLock { $0.isBusy } }
    var hasRun: Bool { state.withLock { $0.hasRun } }

    func open() { state.withLock { $0.isOpen = true } }

    func deliver(_ batch: [OutboxEntry]) async -> [DeliveryOutcome] {
        state.withLock { $0.isBusy = true }
        while !state.withLock({ $0.isOpen }) {
            if Task.isCancelled { return [] }
            try? await Task.sleep(for: .milliseconds(1))
        }
        return [.delivered]
    }

    func run() async {
        state.withLock { $0.hasRun = true }
    }
}
