internal import BeaconEngine
internal import BeaconModel
internal import BeaconRadio
internal import BeaconService
import Foundation

/// What a monitor knows, as a value: its conditions, their events, and who waits for events.
struct MonitorState: Sendable {
    /// One iteration over the events.
    struct ReaderID: Hashable, Sendable {
        let number: UInt64
    }

    /// One call that waits for an event.
    struct WaitID: Hashable, Sendable {
        let number: UInt64
    }

    /// An event on its way to somebody who waits for it.
    struct Delivery: Sendable {
        let continuation: CheckedContinuation<CLMonitor.Event?, Never>
        let event: CLMonitor.Event
    }

    /// What the center is to watch.
    struct Watch: Sendable {
        var id: WatchID
        var constraint: BeaconConstraint
        var state: RegionState
    }

    /// What came of adding a condition.
    enum Addition: Sendable {
        /// It was there already.
        case kept
        /// It is new; the center may have to stop watching what it replaces.
        case added(replacing: WatchID?)
    }

    private struct Entry: Sendable {
        var watch: WatchID
        var condition: any CLCondition
        var kind: ConditionKind
        /// What is known or assumed of the state, whether or not anything stands in the way.
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
        var watch: WatchID
    }

    /// As many events wait for readers that are slow; beyond that, only the newest of each condition.
    private static let longestQueue = 1000

    var authorization: AuthorizationStatus
    var radio: RadioState
    /// Whether what is monitored can be stored.
    var isPersistent = true

    private var entries: [String: Entry] = [:]
    private var order: [String] = []
    private var identifiersByWatch: [WatchID: String] = [:]
    private var queue: [Issued] = []
    private var readers: Set<ReaderID> = []
    private var inHand: [ReaderID: Issued] = [:]
    private var waits: [(id: WaitID, reader: ReaderID, continuation: CheckedContinuation<CLMonitor.Event?, Never>)] = []
    private var isChanged = false

    init(authorization: AuthorizationStatus, radio: RadioState) {
        self.authorization = authorization
        self.radio = radio
    }

    // MARK: - Conditions

    var identifiers: [String] { order }

    func record(for identifier: String) -> CLMonitor.Record? {
        entries[identifier].map { CLMonitor.Record(lastEvent: $0.dealtWith, condition: $0.condition) }
    }

    /// What the center is to watch, in the order in which it was added.
    var watches: [Watch] { order.compactMap { entries[$0].flatMap { watch($0.watch) } } }

    /// What the center is to watch under this name; nil where it is not a beacon's, or gone.
    func watch(_ id: WatchID) -> Watch? {
        guard let identifier = identifiersByWatch[id], let entry = entries[identifier],
            case .beacons(let constraint) = entry.kind
        else { return nil }
        return Watch(id: id, constraint: constraint, state: RegionState(entry.known))
    }

    mutating func add(
        _ condition: any CLCondition, _ identifier: String, assuming state: CLMonitor.Event.State, watch: WatchID,
        at date: Date
    ) -> Addition {
        let kind = ConditionKind(condition)
        let old = entries[identifier]
        if let old, kind != .foreign, old.kind == kind { return .kept }
        if let old { forget(old.watch) } else { order.append(identifier) }
        let first = CLMonitor.Event(identifier: identifier, state: state, date: date)
        entries[identifier] = Entry(
            watch: watch, condition: condition, kind: kind, known: state, newest: first, dealtWith: first)
        identifiersByWatch[watch] = identifier
        isChanged = true
        review(identifier, at: date)
        return .added(replacing: old?.watch)
    }

    /// Takes a condition out, and tells what the center has to stop watching.
    mutating func remove(_ identifier: String) -> WatchID? {
        guard let entry = entries.removeValue(forKey: identifier) else { return nil }
        order.removeAll { $0 == identifier }
        forget(entry.watch)
        isChanged = true
        return entry.watch
    }

    private mutating func forget(_ watch: WatchID) {
        identifiersByWatch[watch] = nil
        queue.removeAll { $0.watch == watch }
    }

    // MARK: - Events

    /// Takes in what the center tells.
    mutating func take(_ report: WatchReport, at date: Date) {
        guard let identifier = identifiersByWatch[report.watch] else { return }
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
        let diagnostics = isPersistent ? obstacles : obstacles.union(.persistenceUnavailable)
        guard state != entry.newest.state || diagnostics != entry.newest.diagnostics else { return }
        issue(
            CLMonitor.Event(
                identifier: identifier, state: state, date: date,
                refinement: state == .satisfied ? entry.refinement : nil, diagnostics: diagnostics),
            entry.watch)
    }

    /// Why a condition is not monitored; empty where it is.
    private func obstacles(_ entry: Entry) -> CLMonitor.Diagnostics {
        var result: CLMonitor.Diagnostics = []
        if authorization == .denied || radio == .unauthorized { result.insert(.authorizationDenied) }
        if authorization == .restricted { result.insert(.authorizationRestricted) }
        if !entry.kind.isSupported || radio == .unsupported { result.insert(.conditionUnsupported) }
        if entry.isBeyondLimit { result.insert(.conditionLimitExceeded) }
        return result
    }

    private mutating func issue(_ event: CLMonitor.Event, _ watch: WatchID) {
        if readers.isEmpty || queue.count >= Self.longestQueue { queue.removeAll { $0.watch == watch } }
        queue.append(Issued(event: event, watch: watch))
        entries[event.identifier]?.newest = event
        isChanged = true
    }

    // MARK: - Readers

    mutating func addReader(_ reader: ReaderID) { readers.insert(reader) }

    mutating func removeReader(_ reader: ReaderID) {
        finish(reader)
        readers.remove(reader)
    }

    /// The event that a reader was given has been dealt with.
    mutating func finish(_ reader: ReaderID) {
        guard let issued = inHand.removeValue(forKey: reader), identifiersByWatch[issued.watch] != nil else { return }
        entries[issued.event.identifier]?.dealtWith = issued.event
        isChanged = true
    }

    mutating func wait(
        _ id: WaitID, _ reader: ReaderID, _ continuation: CheckedContinuation<CLMonitor.Event?, Never>
    ) {
        waits.append((id, reader, continuation))
    }

    /// Takes back a call that waits; nil where it does not any more.
    mutating func cancel(_ id: WaitID) -> CheckedContinuation<CLMonitor.Event?, Never>? {
        waits.firstIndex { $0.id == id }.map { waits.remove(at: $0).continuation }
    }

    /// Events for those who wait, first come, first served.
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

    /// Whether there is something to store since the last call.
    mutating func takeIsChanged() -> Bool {
        defer { isChanged = false }
        return isChanged
    }

    /// What is kept across launches. An event that has not been dealt with is delivered again.
    var stored: StoredMonitor {
        StoredMonitor(
            conditions: order.compactMap { identifier in
                entries[identifier].flatMap { entry in
                    StoredMonitor.Condition(
                        identifier, entry.condition, dealtWith: entry.dealtWith, pending: pending(entry))
                }
            })
    }

    private func pending(_ entry: Entry) -> CLMonitor.Event? {
        let isPending =
            queue.contains { $0.watch == entry.watch } || inHand.values.contains { $0.watch == entry.watch }
        return isPending ? entry.newest : nil
    }

    /// Takes in a condition from an earlier launch.
    mutating func restore(_ stored: StoredMonitor.Condition, watch: WatchID) {
        guard let condition = stored.condition, entries[stored.identifier] == nil else { return }
        let dealtWith = stored.lastEvent.event(stored.identifier)
        let pending = stored.pending?.event(stored.identifier)
        let newest = pending ?? dealtWith
        entries[stored.identifier] = Entry(
            watch: watch, condition: condition, kind: ConditionKind(condition),
            known: newest.state == .unmonitored ? .unknown : newest.state,
            refinement: newest.refinement as? CLMonitor.BeaconIdentityCondition, newest: newest, dealtWith: dealtWith)
        order.append(stored.identifier)
        identifiersByWatch[watch] = stored.identifier
        if let pending { queue.append(Issued(event: pending, watch: watch)) }
    }
}
