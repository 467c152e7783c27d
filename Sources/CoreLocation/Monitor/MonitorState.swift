internal import BeaconApplications
internal import BeaconModel
internal import BeaconMonitoring
internal import BeaconRadio
import Foundation

/// The state of a monitor as a value: its conditions, their events, and the readers that wait for events.
struct MonitorState: Sendable {
    /// One iteration over the events.
    struct ReaderID: Hashable, Sendable {
        let number: UInt64
    }

    /// One call that waits for an event.
    struct WaitID: Hashable, Sendable {
        let number: UInt64
    }

    /// An event for a waiting reader.
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
        /// An equal condition exists already.
        case kept
        /// The condition is new. The center must stop monitoring the replaced one, if any.
        case added(replacing: ClientConditionID?)
    }

    private struct Entry: Sendable {
        var conditionID: ClientConditionID
        var condition: any CLCondition
        var kind: ConditionKind
        /// The known or assumed state, even if there are obstacles to monitoring.
        var known: CLMonitor.Event.State
        var refinement: CLMonitor.BeaconIdentityCondition?
        var isBeyondLimit = false
        /// The last event that was created, and the last one that was handled.
        var newest: CLMonitor.Event
        var handled: CLMonitor.Event
    }

    /// An event and its condition. By now, another condition may have the same identifier.
    private struct Issued: Sendable {
        var event: CLMonitor.Event
        var conditionID: ClientConditionID
    }

    /// The maximum number of events that wait for slow readers. Beyond it, only the newest event of each condition
    /// waits.
    private static let longestQueue = 1000

    var authorization: AuthorizationStatus
    var isAsking: Bool
    var radio: RadioState
    /// The obstacles that the authorization does not show.
    var limits: UsageLimits = []
    /// A Boolean value indicating whether the conditions can be stored.
    var isPersistent = true

    private var entries: [String: Entry] = [:]
    private var order: [String] = []
    private var identifiersByCondition: [ClientConditionID: String] = [:]
    private var queue: [Issued] = []
    private var readers: Set<ReaderID> = []
    private var current: [ReaderID: Issued] = [:]
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
        entries[identifier].map { CLMonitor.Record(lastEvent: $0.handled, condition: $0.condition) }
    }

    /// The constraints for the center to monitor, in the order in which they were added.
    var monitored: [MonitoredCondition] { order.compactMap { entries[$0].flatMap { monitored($0.conditionID) } } }

    /// Returns the constraint to monitor for an identifier; nil if it is not a beacon condition or was removed.
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
            conditionID: conditionID, condition: condition, kind: kind, known: state, newest: first, handled: first)
        identifiersByCondition[conditionID] = identifier
        isChanged = true
        review(identifier, at: date)
        return .added(replacing: old?.conditionID)
    }

    /// Removes a condition, and returns the center's identifier for it.
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

    /// Applies a report of the center.
    mutating func take(_ report: ConditionReport, at date: Date) {
        guard let identifier = identifiersByCondition[report.condition] else { return }
        entries[identifier]?.isBeyondLimit = report.isBeyondLimit
        entries[identifier]?.known = CLMonitor.Event.State(report.state)
        entries[identifier]?.refinement = report.identity.map(CLMonitor.BeaconIdentityCondition.init)
        review(identifier, at: report.time.map { Date(timeIntervalSince1970: $0.seconds) } ?? date)
    }

    /// Creates an event for each condition whose last event is outdated.
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
        if limits.contains(.reducedAccuracy) { result.insert(.accuracyLimited) }
        if limits.contains(.serviceSessionRequired) { result.insert(.serviceSessionRequired) }
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

    /// Returns true if the condition of a reader's event still exists.
    func isCurrent(_ reader: ReaderID) -> Bool {
        current[reader].map { identifiersByCondition[$0.conditionID] != nil } ?? false
    }

    /// Records that a reader has handled its event.
    mutating func finish(_ reader: ReaderID) {
        guard let issued = current.removeValue(forKey: reader), identifiersByCondition[issued.conditionID] != nil else {
            return
        }
        entries[issued.event.identifier]?.handled = issued.event
        isChanged = true
    }

    mutating func wait(
        _ id: WaitID, for reader: ReaderID, resuming continuation: CheckedContinuation<CLMonitor.Event?, Never>
    ) {
        waits.append((id, reader, continuation))
    }

    /// Removes and returns a waiting call; nil if it no longer waits.
    mutating func cancel(_ id: WaitID) -> CheckedContinuation<CLMonitor.Event?, Never>? {
        waits.firstIndex { $0.id == id }.map { waits.remove(at: $0).continuation }
    }

    /// Returns events for waiting readers, first come, first served.
    mutating func takeDeliveries() -> [Delivery] {
        var result: [Delivery] = []
        while !queue.isEmpty, !waits.isEmpty {
            let issued = queue.removeFirst()
            let wait = waits.removeFirst()
            current[wait.reader] = issued
            result.append(Delivery(continuation: wait.continuation, event: issued.event))
        }
        return result
    }

    // MARK: - Store

    /// Returns true if something must be stored since the last call.
    mutating func takeIsChanged() -> Bool {
        defer { isChanged = false }
        return isChanged
    }

    /// The conditions in the form that is stored across launches. An event that has not been handled is delivered
    /// again.
    var stored: [StoredCondition] {
        order.compactMap { identifier in
            entries[identifier].flatMap { entry in
                StoredCondition(identifier, entry.condition, handled: entry.handled, pending: pending(entry))
            }
        }
    }

    private func pending(_ entry: Entry) -> CLMonitor.Event? {
        let isPending =
            queue.contains { $0.conditionID == entry.conditionID }
            || current.values.contains { $0.conditionID == entry.conditionID }
        return isPending ? entry.newest : nil
    }

    /// Adds a condition from an earlier launch.
    mutating func restore(_ stored: StoredCondition, conditionID: ClientConditionID) {
        guard entries[stored.identifier] == nil else { return }
        let condition = stored.condition
        let handled = stored.lastEvent.event(stored.identifier)
        let pending = stored.pending?.event(stored.identifier)
        let newest = pending ?? handled
        entries[stored.identifier] = Entry(
            conditionID: conditionID, condition: condition, kind: ConditionKind(condition),
            known: newest.state == .unmonitored ? .unknown : newest.state,
            refinement: newest.refinement as? CLMonitor.BeaconIdentityCondition, newest: newest, handled: handled)
        order.append(stored.identifier)
        identifiersByCondition[conditionID] = stored.identifier
        if let pending { queue.append(Issued(event: pending, conditionID: conditionID)) }
    }
}
