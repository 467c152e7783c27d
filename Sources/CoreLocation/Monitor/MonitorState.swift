internal import BeaconApplications
internal import BeaconModel
internal import BeaconMonitoring
internal import BeaconRadio
import Foundation

/// The state of a monitor, as a value: its conditions, their events, and the readers that wait for events.
struct MonitorState: Sendable {
    /// One iteration over the events.
    struct ReaderID: Hashable, Sendable {
        let number: UInt64
    }

    /// One call that waits for an event.
    struct WaitID: Hashable, Sendable {
        let number: UInt64
    }

    /// An event on its way to a reader that waits for it.
    struct Delivery: Sendable {
        let continuation: CheckedContinuation<CLMonitor.Event?, Never>
        let event: CLMonitor.Event
    }

    /// A constraint for the center to monitor.
    struct MonitoredCondition: Sendable {
        var id: ClientConditionID
        var constraint: BeaconConstraint
        var state: RegionState
    }

    /// The outcome of adding a condition.
    enum Addition: Sendable {
        /// The condition was there already.
        case kept
        /// The condition is new; the center may have to stop monitoring the one that it replaces.
        case added(replacing: ClientConditionID?)
    }

    private struct Entry: Sendable {
        var conditionID: ClientConditionID
        var condition: any CLCondition
        var kind: ConditionKind
        /// The state as it is known or assumed, also where there are obstacles to monitoring.
        var known: CLMonitor.Event.State
        var refinement: CLMonitor.BeaconIdentityCondition?
        var isBeyondLimit = false
        /// The last event that was made, and the last that was dealt with.
        var newest: CLMonitor.Event
        var dealtWith: CLMonitor.Event
    }

    /// An event, and the condition that it is about: another one may by now have its identifier.
    private struct Issued: Sendable {
        var event: CLMonitor.Event
        var conditionID: ClientConditionID
    }

    /// The most events that wait for slow readers; beyond that, only the newest of each condition does.
    private static let longestQueue = 1000

    var authorization: AuthorizationStatus
    var isAsking: Bool
    var radio: RadioState
    /// A Boolean value that says that the conditions can be stored.
    var isPersistent = true

    private var entries: [String: Entry] = [:]
    private var order: [String] = []
    private var identifiersByCondition: [ClientConditionID: String] = [:]
    private var queue: [Issued] = []
    private var readers: Set<ReaderID> = []
    private var inHand: [ReaderID: Issued] = [:]
    private var waits: [(id: WaitID, reader: ReaderID, continuation: CheckedContinuation<CLMonitor.Event?, Never>)] = []
    private var isChanged = false

    init(authorization: AuthorizationStatus, isAsking: Bool, radio: RadioState) {
        self.authorization = authorization
        self.isAsking = isAsking
        self.radio = radio
    }

    // MARK: - Conditions

    var identifiers: [String] { order }

    func record(for identifier: String) -> CLMonitor.Record? {
        entries[identifier].map { CLMonitor.Record(lastEvent: $0.dealtWith, condition: $0.condition) }
    }

    /// The constraints for the center to monitor, in the order in which they were added.
    var monitored: [MonitoredCondition] { order.compactMap { entries[$0].flatMap { monitored($0.conditionID) } } }

    /// Returns the constraint to monitor under this name; nil where it is not a beacon's, or was removed.
    func monitored(_ id: ClientConditionID) -> MonitoredCondition? {
        guard let identifier = identifiersByCondition[id], let entry = entries[identifier],
            case .beacons(let constraint) = entry.kind
        else { return nil }
        return MonitoredCondition(id: id, constraint: constraint, state: RegionState(entry.known))
    }

    mutating func add(
        _ condition: any CLCondition, _ identifier: String, assuming state: CLMonitor.Event.State,
        conditionID: ClientConditionID,
        at date: Date
    ) -> Addition {
        let kind = ConditionKind(condition)
        let old = entries[identifier]
        if let old, kind != .foreign, old.kind == kind { return .kept }
        if let old { forget(old.conditionID) } else { order.append(identifier) }
        let first = CLMonitor.Event(identifier: identifier, state: state, date: date)
        entries[identifier] = Entry(
            conditionID: conditionID, condition: condition, kind: kind, known: state, newest: first, dealtWith: first)
        identifiersByCondition[conditionID] = identifier
        isChanged = true
        review(identifier, at: date)
        return .added(replacing: old?.conditionID)
    }

    /// Removes a condition, and returns the name under which the center monitored it.
    mutating func remove(_ identifier: String) -> ClientConditionID? {
        guard let entry = entries.removeValue(forKey: identifier) else { return nil }
        order.removeAll { $0 == identifier }
        forget(entry.conditionID)
        isChanged = true
        return entry.conditionID
    }

    private mutating func forget(_ conditionID: ClientConditionID) {
        identifiersByCondition[conditionID] = nil
        queue.removeAll { $0.conditionID == conditionID }
    }

    // MARK: - Events

    /// Applies a report of the center's.
    mutating func take(_ report: ConditionReport, at date: Date) {
        guard let identifier = identifiersByCondition[report.condition] else { return }
        entries[identifier]?.isBeyondLimit = report.isBeyondLimit
        entries[identifier]?.known = CLMonitor.Event.State(report.state)
        entries[identifier]?.refinement = report.identity.map(CLMonitor.BeaconIdentityCondition.init)
        review(identifier, at: report.time.map { Date(timeIntervalSince1970: $0.seconds) } ?? date)
    }

    /// Makes an event of each condition for which something is no longer as its last event said.
    mutating func reviewAll(at date: Date) {
        for identifier in order { review(identifier, at: date) }
    }

    private mutating func review(_ identifier: String, at date: Date) {
        guard let entry = entries[identifier] else { return }
        let obstacles = obstacles(entry)
        let state = obstacles.isEmpty ? entry.known : .unmonitored
        var diagnostics = isPersistent ? obstacles : obstacles.union(.persistenceUnavailable)
        if isAsking, !authorization.isGranted { diagnostics.insert(.authorizationRequestInProgress) }
        guard state != entry.newest.state || diagnostics != entry.newest.diagnostics else { return }
        issue(
            CLMonitor.Event(
                identifier: identifier, state: state, date: date,
                refinement: state == .satisfied ? entry.refinement : nil, diagnostics: diagnostics),
            entry.conditionID)
    }

    /// Returns the obstacles to monitoring a condition.
    private func obstacles(_ entry: Entry) -> CLMonitor.Diagnostics {
        var result: CLMonitor.Diagnostics = []
        if authorization == .denied || radio == .unauthorized { result.insert(.authorizationDenied) }
        if authorization == .restricted { result.insert(.authorizationRestricted) }
        if !entry.kind.isSupported || radio == .unsupported { result.insert(.conditionUnsupported) }
        if entry.isBeyondLimit { result.insert(.conditionLimitExceeded) }
        return result
    }

    private mutating func issue(_ event: CLMonitor.Event, _ conditionID: ClientConditionID) {
        if readers.isEmpty || queue.count >= Self.longestQueue { queue.removeAll { $0.conditionID == conditionID } }
        queue.append(Issued(event: event, conditionID: conditionID))
        entries[event.identifier]?.newest = event
        isChanged = true
    }

    // MARK: - Readers

    mutating func addReader(_ reader: ReaderID) { readers.insert(reader) }

    mutating func removeReader(_ reader: ReaderID) {
        finish(reader)
        readers.remove(reader)
    }

    /// Returns true where the condition of a reader's event is still there.
    func isCurrent(_ reader: ReaderID) -> Bool {
        inHand[reader].map { identifiersByCondition[$0.conditionID] != nil } ?? false
    }

    /// Notes that a reader has dealt with its event.
    mutating func finish(_ reader: ReaderID) {
        guard let issued = inHand.removeValue(forKey: reader), identifiersByCondition[issued.conditionID] != nil else {
            return
        }
        entries[issued.event.identifier]?.dealtWith = issued.event
        isChanged = true
    }

    mutating func wait(
        _ id: WaitID, for reader: ReaderID, resuming continuation: CheckedContinuation<CLMonitor.Event?, Never>
    ) {
        waits.append((id, reader, continuation))
    }

    /// Removes and returns a call that waits; nil where it does not any more.
    mutating func cancel(_ id: WaitID) -> CheckedContinuation<CLMonitor.Event?, Never>? {
        waits.firstIndex { $0.id == id }.map { waits.remove(at: $0).continuation }
    }

    /// Returns events for readers that wait, first come, first served.
    mutating func takeDeliveries() -> [Delivery] {
        var result: [Delivery] = []
        while !queue.isEmpty, !waits.isEmpty {
            let issued = queue.removeFirst()
            let wait = waits.removeFirst()
            inHand[wait.reader] = issued
            result.append(Delivery(continuation: wait.continuation, event: issued.event))
        }
        return result
    }

    // MARK: - Store

    /// Returns true where there is something to store since the last call.
    mutating func takeIsChanged() -> Bool {
        defer { isChanged = false }
        return isChanged
    }

    /// The conditions as they are stored across launches. An event that has not been dealt with is delivered again.
    var stored: [StoredCondition] {
        order.compactMap { identifier in
            entries[identifier].flatMap { entry in
                StoredCondition(identifier, entry.condition, dealtWith: entry.dealtWith, pending: pending(entry))
            }
        }
    }

    private func pending(_ entry: Entry) -> CLMonitor.Event? {
        let isPending =
            queue.contains { $0.conditionID == entry.conditionID }
            || inHand.values.contains { $0.conditionID == entry.conditionID }
        return isPending ? entry.newest : nil
    }

    /// Adds a condition from an earlier launch.
    mutating func restore(_ stored: StoredCondition, conditionID: ClientConditionID) {
        guard entries[stored.identifier] == nil else { return }
        let condition = stored.condition
        let dealtWith = stored.lastEvent.event(stored.identifier)
        let pending = stored.pending?.event(stored.identifier)
        let newest = pending ?? dealtWith
        entries[stored.identifier] = Entry(
            conditionID: conditionID, condition: condition, kind: ConditionKind(condition),
            known: newest.state == .unmonitored ? .unknown : newest.state,
            refinement: newest.refinement as? CLMonitor.BeaconIdentityCondition, newest: newest, dealtWith: dealtWith)
        order.append(stored.identifier)
        identifiersByCondition[conditionID] = stored.identifier
        if let pending { queue.append(Issued(event: pending, conditionID: conditionID)) }
    }
}
