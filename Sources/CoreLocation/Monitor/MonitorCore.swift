internal import BeaconApplications
internal import BeaconModel
internal import BeaconMonitoring
internal import BeaconSupport
import Foundation
internal import Logging
internal import Synchronization

extension BeaconCenter {
    /// Returns the core that all monitors with a name share. The first of them creates it, and it lives as long as the
    /// center. Its conditions are monitored even while no monitor is open, as on Apple's systems.
    nonisolated func monitorCore(_ name: String) -> MonitorCore {
        companion("monitor \(name)") {
            let core = MonitorCore(name, in: self)
            core.begin(self)
            return core
        }
    }

    /// Monitors the stored conditions of monitors that the application has not opened, as a device does.
    package nonisolated func monitorStoredConditions(of names: [String]) {
        for name in names { _ = monitorCore(name) }
    }

    /// Reports an error of the application for which iOS ends it. The strict mode does, too.
    nonisolated func reportMisuse(_ problem: String) {
        guard isStrict else {
            return Logger(label: "swift-beacon").warning("iOS would end this app: \(problem)")
        }
        FileHandle.standardError.write(Data("swift-beacon ends this app, as iOS does: \(problem)\n".utf8))
        fatalError(problem)
    }
}

/// The part that monitors with the same name share: the state, behind a lock, with the center's client and the store.
///
/// An added condition exists immediately. The center is updated on its own queue from the state at that time, so that
/// the order of concurrent callers does not matter.
final class MonitorCore: Sendable {
    private let name: String
    private let store: any MonitorStore
    private let client: ClientID
    /// False if the stored conditions could not be read. They are then not overwritten, so that the user can correct
    /// them.
    private let mayStore: Bool
    /// The conditions that were last loaded or saved.
    private let saved: Locked<[StoredCondition]>
    private let state: Locked<MonitorState>
    private let nextNumber = Atomic<UInt64>(0)
    private let isSaveDue = Atomic<Bool>(false)
    private let openMonitors = Atomic<Int>(0)

    /// Reads the stored conditions. Monitoring starts with ``begin(_:)``.
    init(_ name: String, in center: BeaconCenter) {
        self.name = name
        store = center.monitorStore
        client = center.makeClientID()
        let snapshot = center.snapshot
        var state = MonitorState(
            authorization: snapshot.authorization, isAsking: snapshot.isAsking, radio: snapshot.radio)
        var mayStore = true
        var stored: [StoredCondition] = []
        do {
            stored = try store.load(name)
            for condition in stored { state.restore(condition, conditionID: center.makeConditionID()) }
        } catch {
            Logger(label: "swift-beacon.monitor").error("cannot read the conditions of the monitor \(name): \(error)")
            mayStore = false
            state.isPersistent = false
        }
        self.mayStore = mayStore
        saved = Locked(stored)
        self.state = Locked(state)
    }

    /// Starts to receive the center's events and to monitor the restored conditions.
    func begin(_ center: BeaconCenter) {
        center.addClient(client) { [weak self, weak center] event in
            guard let self, let center else { return }
            self.handle(event, in: center)
        }
        center.perform { [self] center in
            let conditions = state.withLock { $0.monitored }
            for condition in conditions {
                center.startMonitoring(
                    condition.id, condition.constraint, assuming: condition.state, client: client)
            }
            change(in: center) { $0.reviewAll(at: $1) }
        }
    }

    // MARK: - Opening

    /// A monitor that is open for as long as this object lives.
    final class Opening: Sendable {
        private let core: MonitorCore

        fileprivate init(_ core: MonitorCore) { self.core = core }

        deinit { core.openMonitors.subtract(1, ordering: .acquiringAndReleasing) }
    }

    /// Opens a monitor, after the checks that iOS makes.
    func open(in center: BeaconCenter) -> Opening {
        // Apple's talk asks for letters and digits.
        if name.isEmpty || !name.utf8.allSatisfy(Self.isAllowed) {
            center.reportMisuse(
                "Monitor name is not valid: \"\(name)\". Use ASCII letters and digits only in the name of a CLMonitor")
        }
        if openMonitors.add(1, ordering: .acquiringAndReleasing).oldValue > 0 {
            center.reportMisuse(
                """
                Monitor name is already in use: "\(name)". Keep one CLMonitor of a name, and let all parts of the app \
                share it
                """)
        }
        return Opening(self)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }

    // MARK: - Conditions

    var identifiers: [String] { state.withLock { $0.identifiers } }

    func record(for identifier: String) -> CLMonitor.Record? { state.withLock { $0.record(for: identifier) } }

    func add(
        _ condition: any CLCondition, identifier: String, assuming assumed: CLMonitor.Event.State,
        in center: BeaconCenter
    ) {
        let id = center.makeConditionID()
        let outcome = change(in: center) { state, date in
            state.add(condition, identifier, assuming: assumed, conditionID: id, at: date)
        }
        guard case .added(let replaced) = outcome else { return }
        center.perform { [self] center in
            if let replaced { center.stopMonitoring(replaced) }
            // The app may have removed or replaced the condition before the center reached this work.
            guard let condition = state.withLock({ $0.monitored(id) }) else { return }
            center.startMonitoring(id, condition.constraint, assuming: condition.state, client: client)
        }
    }

    func remove(_ identifier: String, in center: BeaconCenter) {
        guard let id = change(in: center, body: { state, _ in state.remove(identifier) }) else { return }
        center.perform { $0.stopMonitoring(id) }
    }

    // MARK: - Readers

    func addReader() -> MonitorState.ReaderID {
        let id = MonitorState.ReaderID(number: nextNumber.wrappingAdd(1, ordering: .relaxed).newValue)
        state.withLock { $0.addReader(id) }
        return id
    }

    /// Returns false if the condition of the reader's event was removed before the event reached the reader.
    func isCurrent(_ reader: MonitorState.ReaderID) -> Bool { state.withLock { $0.isCurrent(reader) } }

    func removeReader(_ reader: MonitorState.ReaderID, in center: BeaconCenter) {
        change(in: center) { state, _ in state.removeReader(reader) }
    }

    func makeWaitID() -> MonitorState.WaitID {
        MonitorState.WaitID(number: nextNumber.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    func wait(
        _ id: MonitorState.WaitID, for reader: MonitorState.ReaderID,
        resuming continuation: CheckedContinuation<CLMonitor.Event?, Never>, in center: BeaconCenter
    ) {
        let isCancelled = change(in: center) { state, _ in
            state.finish(reader)
            // If the task is cancelled from now on, the cancellation waits for the lock and then finds this wait.
            if Task.isCancelled { return true }
            state.wait(id, for: reader, resuming: continuation)
            return false
        }
        if isCancelled { continuation.resume(returning: nil) }
    }

    func cancel(_ id: MonitorState.WaitID) {
        state.withLock { $0.cancel(id) }?.resume(returning: nil)
    }

    // MARK: - Center

    private func handle(_ event: ClientEvent, in center: BeaconCenter) {
        switch event {
        case .authorization(let status, let isAsking):
            change(in: center) { state, date in
                state.authorization = status
                state.isAsking = isAsking
                state.reviewAll(at: date)
            }
        case .limits(let limits):
            change(in: center) { state, date in
                state.limits = limits
                state.reviewAll(at: date)
            }
        case .radio(let radio):
            change(in: center) { state, date in
                state.radio = radio
                state.reviewAll(at: date)
            }
        case .condition(let report):
            change(in: center) { state, date in state.take(report, at: date) }
        default: break
        }
    }

    /// Changes the state, delivers pending events to iterating tasks, and saves the state if necessary.
    ///
    /// - Parameter body: receives the radio's time, or the wall clock's if the radio has not reported one.
    @discardableResult
    private func change<Result: Sendable>(
        in center: BeaconCenter, body: (inout MonitorState, Date) -> Result
    ) -> Result {
        let date = center.wallTime.map { Date(timeIntervalSince1970: $0.seconds) } ?? Date()
        let (result, deliveries, isChanged) = state.withLock { state in
            let result = body(&state, date)
            return (result, state.takeDeliveries(), state.takeIsChanged())
        }
        for delivery in deliveries { center.wake { delivery.continuation.resume(returning: delivery.event) } }
        if isChanged { saveSoon(center) }
        return result
    }

    // MARK: - Store

    /// Saves once, after all work that is pending on the center's queue.
    private func saveSoon(_ center: BeaconCenter) {
        guard mayStore, !isSaveDue.exchange(true, ordering: .acquiringAndReleasing) else { return }
        center.perform { [self] center in
            // A change from here on triggers another write.
            isSaveDue.store(false, ordering: .releasing)
            center.performOnDisk { [weak center] in
                if let center { self.save(center) }
            }
        }
    }

    private func save(_ center: BeaconCenter) {
        var isPersistent = true
        do {
            let conditions = state.withLock { $0.stored }
            try store.save(conditions, replacing: saved.withLock { $0 }, as: name)
            saved.withLock { $0 = conditions }
        } catch {
            Logger(label: "swift-beacon.monitor").error("cannot save the conditions of the monitor \(name): \(error)")
            isPersistent = false
        }
        change(in: center) { state, date in
            guard state.isPersistent != isPersistent else { return }
            state.isPersistent = isPersistent
            state.reviewAll(at: date)
        }
    }
}

/// A monitor's core together with the center that drives it.
///
/// The center owns the core, so the core must not own the center. A monitor owns both.
struct BoundMonitor: Sendable {
    let center: BeaconCenter
    let core: MonitorCore

    func add(_ condition: any CLCondition, identifier: String, assuming state: CLMonitor.Event.State) {
        core.add(condition, identifier: identifier, assuming: state, in: center)
    }

    func remove(_ identifier: String) { core.remove(identifier, in: center) }
}

/// One iteration over a monitor's events.
final class MonitorReader: Sendable {
    private let monitor: BoundMonitor
    private let id: MonitorState.ReaderID

    init(_ monitor: BoundMonitor) {
        self.monitor = monitor
        id = monitor.core.addReader()
    }

    deinit { monitor.core.removeReader(id, in: monitor.center) }

    /// Returns the next event. The previous event counts as handled.
    func next(isolation: isolated (any Actor)?) async -> CLMonitor.Event? {
        while true {
            let wait = monitor.core.makeWaitID()
            let event = await withTaskCancellationHandler {
                await withCheckedContinuation { monitor.core.wait(wait, for: id, resuming: $0, in: monitor.center) }
            } onCancel: {
                monitor.core.cancel(wait)
            }
            guard let event else { return nil }
            guard monitor.core.isCurrent(id) else { continue }
            monitor.center.noteObservation(.monitorEvent("\(event.state)"))
            return event
        }
    }
}
