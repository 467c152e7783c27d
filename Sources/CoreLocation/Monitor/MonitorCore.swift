internal import BeaconModel
import BeaconRadio
internal import BeaconService
import Foundation
internal import Logging
internal import Synchronization

extension BeaconCenter {
    /// What the monitors of a name share: it is there once, from when the first of them is made, as long as the center.
    /// Its conditions go on being monitored while none is open, as on Apple's systems.
    func monitorCore(_ name: String) -> MonitorCore {
        companion("monitor \(name)") { center in
            let core = MonitorCore(name, center)
            core.begin(center)
            return core
        }
    }
}

/// What the monitors of a name share: the state, behind a lock, and its ties to the center and to the store.
///
/// Whoever adds a condition sees it at once. What follows from it for the center is done on the center's queue, by what
/// the state says then, so that it does not matter in which order two callers get there.
final class MonitorCore: Sendable {
    private let name: String
    private let store: any MonitorStore
    private let client: ClientID
    /// False where what was stored could not be read: it is left as it is, for somebody to mend.
    private let mayStore: Bool
    private let state: Locked<MonitorState>
    private let nextNumber = Atomic<UInt64>(0)
    private let isSaveDue = Atomic<Bool>(false)

    /// Reads what is stored. Nothing is monitored before ``begin(_:)``.
    init(_ name: String, _ center: isolated BeaconCenter) {
        self.name = name
        store = center.monitorStore
        client = center.makeClientID()
        let snapshot = center.snapshot
        var state = MonitorState(authorization: snapshot.authorization, radio: snapshot.radio)
        var mayStore = true
        do {
            if let data = try store.load(name) {
                let stored = try StoredMonitor(data)
                for condition in stored.conditions { state.restore(condition, watch: center.makeWatchID()) }
            }
        } catch {
            Logger(label: "swift-beacon.monitor").error("the conditions of the monitor \(name) are lost: \(error)")
            mayStore = false
            state.isPersistent = false
        }
        self.mayStore = mayStore
        self.state = Locked(state)
    }

    /// Begins to listen to the center, and to watch what was restored.
    func begin(_ center: isolated BeaconCenter) {
        center.addClient(client) { [weak self, weak center] event in
            guard let self, let center else { return }
            self.handle(event, center)
        }
        center.perform { [self] center in
            let watches = state.withLock { $0.watches }
            for watch in watches {
                center.watch(watch.id, for: watch.constraint, assuming: watch.state, client: client)
            }
            change(center) { $0.reviewAll(at: $1) }
        }
    }

    // MARK: - Conditions

    var identifiers: [String] { state.withLock { $0.identifiers } }

    func record(for identifier: String) -> CLMonitor.Record? { state.withLock { $0.record(for: identifier) } }

    func add(
        _ condition: any CLCondition, _ identifier: String, assuming assumed: CLMonitor.Event.State,
        _ center: BeaconCenter
    ) {
        let id = center.makeWatchID()
        let outcome = change(center) { state, date in
            state.add(condition, identifier, assuming: assumed, watch: id, at: date)
        }
        guard case .added(let replaced) = outcome else { return }
        center.perform { [self] center in
            if let replaced { center.stopWatching(replaced) }
            // Somebody may have removed or replaced it before the center got here.
            guard let watch = state.withLock({ $0.watch(id) }) else { return }
            center.watch(id, for: watch.constraint, assuming: watch.state, client: client)
        }
    }

    func remove(_ identifier: String, _ center: BeaconCenter) {
        guard let watch = change(center, { state, _ in state.remove(identifier) }) else { return }
        center.perform { $0.stopWatching(watch) }
    }

    // MARK: - Readers

    func addReader() -> MonitorState.ReaderID {
        let id = MonitorState.ReaderID(number: nextNumber.wrappingAdd(1, ordering: .relaxed).newValue)
        state.withLock { $0.addReader(id) }
        return id
    }

    func removeReader(_ reader: MonitorState.ReaderID, _ center: BeaconCenter) {
        change(center) { state, _ in state.removeReader(reader) }
    }

    func makeWaitID() -> MonitorState.WaitID {
        MonitorState.WaitID(number: nextNumber.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    func wait(
        _ id: MonitorState.WaitID, _ reader: MonitorState.ReaderID,
        _ continuation: CheckedContinuation<CLMonitor.Event?, Never>, _ center: BeaconCenter
    ) {
        let isCancelled = change(center) { state, _ in
            state.finish(reader)
            // A task that is cancelled from now on waits for the lock to say so, and then finds what waits.
            if Task.isCancelled { return true }
            state.wait(id, reader, continuation)
            return false
        }
        if isCancelled { continuation.resume(returning: nil) }
    }

    func cancel(_ id: MonitorState.WaitID) {
        state.withLock { $0.cancel(id) }?.resume(returning: nil)
    }

    // MARK: - Center

    private func handle(_ event: ClientEvent, _ center: BeaconCenter) {
        switch event {
        case .authorization(let status):
            change(center) { state, date in
                state.authorization = status
                state.reviewAll(at: date)
            }
        case .radio(let radio):
            change(center) { state, date in
                state.radio = radio
                state.reviewAll(at: date)
            }
        case .watched(let report):
            change(center) { state, date in state.take(report, at: date) }
        default: break
        }
    }

    /// Changes the state, hands out what there is to those who wait, and sees to it that it is stored.
    ///
    /// - Parameter body: is told the radio's time, or that on the wall where the radio has told none.
    @discardableResult
    private func change<Result: Sendable>(
        _ center: BeaconCenter, _ body: (inout MonitorState, Date) -> Result
    ) -> Result {
        let date = center.wallTime.map { Date(timeIntervalSince1970: $0.seconds) } ?? Date()
        let (result, deliveries, isChanged) = state.withLock { state in
            let result = body(&state, date)
            return (result, state.takeDeliveries(), state.takeIsChanged())
        }
        for delivery in deliveries { delivery.continuation.resume(returning: delivery.event) }
        if isChanged { saveSoon(center) }
        return result
    }

    // MARK: - Store

    /// Writes once, after all that is waiting on the center's queue has been done.
    private func saveSoon(_ center: BeaconCenter) {
        guard mayStore, !isSaveDue.exchange(true, ordering: .acquiringAndReleasing) else { return }
        center.perform { [self] center in
            // Whoever changes something from here on asks for another write.
            isSaveDue.store(false, ordering: .releasing)
            save(center)
        }
    }

    private func save(_ center: BeaconCenter) {
        var isPersistent = true
        do {
            try store.save(state.withLock { $0.stored }.data(), as: name)
        } catch {
            Logger(label: "swift-beacon.monitor").error("the monitor \(name) is not kept: \(error)")
            isPersistent = false
        }
        change(center) { state, date in
            guard state.isPersistent != isPersistent else { return }
            state.isPersistent = isPersistent
            state.reviewAll(at: date)
        }
    }
}
