import BeaconApplications
package import BeaconDelivery
import BeaconEngine
import BeaconEventStore
import BeaconMQTT
import BeaconModel
import BeaconMonitoring
import Logging

/// The reporting of the core's events: as notifications and in the history, to the console's view, to destinations that
/// keep states, and to programs.
struct EventReporter {
    /// The outcome of some events, in order.
    struct Outcome {
        /// The events for the store.
        var step = Step()
        /// The changes of regions that applications monitor under a name.
        var changes: [(event: RegionEvent, application: ApplicationIdentity, region: LaunchTrigger.ID)] = []
        /// The ranging reports for rules, with their times by the core's clock and their receivers.
        var reports: [(event: RangingEvent, time: Timestamp, receiver: ReceiverID)] = []
        var changesPresence = false
        /// The number of events that cannot be encoded.
        var unwritable = 0
    }

    /// The consumers of an event.
    enum Reach: Sendable {
        /// Rules, and the destinations that want a notification.
        case everyone
        /// Only destinations, since the store already has the event for the rest. Used for events of a fleet, which one
        /// machine delivers.
        case destinations
        /// Only the history: an event of the fleet while this machine was away.
        case history
    }

    /// The receiver and the region of a ranging report.
    private struct Place: Hashable {
        var receiver: ReceiverID
        var constraint: BeaconConstraint?
    }

    static let maximumPlaces = EngineConfiguration.defaultMaximumTrackedBeacons

    var destinations: [ConfiguredDestination]
    /// The state for the console.
    var view: GatewayView
    /// The user's names for beacons.
    private(set) var names: [BeaconIdentity: String]
    /// The settings of named beacons.
    private(set) var known: [BeaconIdentity: BeaconSettings]
    /// The last known places of beacons.
    private(set) var places: [BeaconIdentity: String] = [:]
    /// The last reported states of beacons' places. They may be unknown although the last place is known.
    private var placeStates: [BeaconIdentity: RegionState] = [:]
    /// The number of notifications, by kind.
    private(set) var counts: [BeaconNotification.Kind: Int] = [:]

    private var policy: NotificationPolicy
    private var ownConstraints: Set<BeaconConstraint>
    private var ids = EventIDs()
    /// The beacons of the newest report of each place, their number, and the time of the count.
    private var lists: [Place: [BeaconIdentity]] = [:]
    private var beaconsPresent = 0
    private var listsCounted: ContinuousClock.Instant?
    private let rules: RuleEngine?
    private let isInFleet: Bool
    private let isDryRun: Bool
    private let logger: Logger

    init(
        _ configuration: GatewayConfiguration, destinations: [ConfiguredDestination], rules: RuleEngine?,
        isShown: Bool, isInFleet: Bool, isDryRun: Bool, logger: Logger
    ) {
        self.destinations = destinations
        self.rules = rules
        self.isInFleet = isInFleet
        self.isDryRun = isDryRun
        self.logger = logger
        view = GatewayView(isKept: isShown)
        names = configuration.beaconNames
        known = configuration.beaconsByIdentity
        let regions = configuration.notifiedRegions
        policy = NotificationPolicy(rules: configuration.notify, regions: regions)
        ownConstraints = Set(regions.map(\.constraint))
    }

    // MARK: - The configuration

    /// Switches to another configuration.
    mutating func configure(_ new: GatewayConfiguration, renamed: RenamedItems) {
        names = new.beaconNames
        known = new.beaconsByIdentity
        policy.configure(rules: new.notify, regions: new.notifiedRegions, renamed: renamed.regions)
        ownConstraints = Set(new.notifiedRegions.map(\.constraint))
        view.rename(renamed)
        places = places.mapValues { renamed.places[$0] ?? $0 }
        for destination in destinations { destination.configure?(new, renamed) }
    }

    /// Forgets places that are not in a plan.
    mutating func keepPlaces(of plan: PlacePlan) { places = places.filter { plan.placeNames.contains($0.value) } }

    /// The beacons whose place was reported or restored, in order.
    var located: [BeaconIdentity] { Set(places.keys).union(placeStates.keys).sorted() }

    /// Returns the present place of a beacon as an event without a change; nil if it was neither reported nor restored.
    func presentPlace(of beacon: BeaconIdentity, at time: Timestamp) -> PlaceEvent? {
        let place = places[beacon]
        guard var state = placeStates[beacon] ?? place.map({ _ in .unknown }) else { return nil }
        // The place was removed from the plan.
        if state == .inside, place == nil { state = .unknown }
        return PlaceEvent(
            time: time, identity: beacon, state: state, place: state == .inside ? place : nil, before: place)
    }

    /// Sends an event to destinations that keep states.
    func report(_ event: BeaconEvent) {
        for destination in destinations { destination.receive?(event) }
    }

    // MARK: - Earlier runs

    /// Passes the state of a configured region to the policy, without a notification.
    mutating func restore(_ event: RegionEvent) { _ = policy.receive(.region(event), at: .zero) }

    /// Restores the state of a configured region or of a named beacon, without a notification. Destinations receive the
    /// known state and then the published one.
    ///
    /// - Parameters:
    ///   - known: the last known state.
    ///   - published: the state that is shown, which is unknown while no receiver hears.
    ///   - time: the time of the change, by the wall clock.
    mutating func restore(
        _ owner: ConditionOwner, _ constraint: BeaconConstraint, known: RegionState, published: RegionState,
        at time: Timestamp
    ) {
        var event = RegionEvent(stateOf: owner, constraint, known, before: known, at: .zero)
        if owner.isRegion { restore(event) }
        event.time = time
        report(.region(event))
        event.state = published
        if published != known { report(.region(event)) }
    }

    /// Restores the place of a beacon.
    ///
    /// - Parameters:
    ///   - place: the last known place; nil for none.
    ///   - state: the state that is shown: unknown if the beacon has to be heard first.
    mutating func restore(_ beacon: BeaconIdentity, in place: String?, _ state: RegionState, at time: Timestamp) {
        places[beacon] = place
        placeStates[beacon] = state
        if let place { view.restore(beacon, in: place, at: time) }
        if let event = presentPlace(of: beacon, at: time) { report(.placed(event)) }
    }

    // MARK: - Events

    /// Reports a change of a region, of a named beacon or of an application's region.
    ///
    /// - Parameters:
    ///   - event: the change, by the wall clock.
    ///   - time: its time by the core's clock.
    ///   - id: the event's id if a fleet decided it.
    mutating func report(
        _ event: RegionEvent, of owner: ConditionOwner, at time: Timestamp, as id: EventID? = nil,
        to outcome: inout Outcome
    ) {
        log(event, of: owner)
        if case .region = owner {
            view.receive(event)
            var timed = event
            timed.time = time
            let selected = own(policy.receive(.region(timed), at: event.time))
            add(selected, of: .region(event), at: event.time, as: id, to: &outcome)
        }
        if owner.isConfigured {
            var shown = event
            shown.isPresence = !owner.isRegion
            report(.region(shown))
        }
        if case .application(let identity, let id) = owner, event.state != .unknown {
            outcome.changes.append((event, identity, id))
        }
    }

    /// Logs that a region was entered or left, or that a named beacon arrived or left. A dry run prints its
    /// notifications instead.
    private func log(_ event: RegionEvent, of owner: ConditionOwner) {
        guard !isDryRun else { return }
        if case .application = owner { return }
        if case .beacon = owner {
            // The log line of a region with only this beacon is enough.
            guard !ownConstraints.contains(event.constraint) else { return }
            if event.kind == .enter {
                logger.info("\(event.name) arrived\(event.receiver.map { ", heard by \($0)" } ?? "")")
            } else if event.kind == .exit {
                logger.info("\(event.name) left")
            }
            return
        }
        switch event.kind {
        case .enter:
            let beacon = event.identity.map { " by \(names[$0] ?? "beacon \($0.major)/\($0.minor)")" } ?? ""
            logger.info("\(event.name) was entered\(beacon)\(event.receiver.map { ", heard by \($0)" } ?? "")")
        case .exit: logger.info("\(event.name) was left")
        default: logger.debug("\(event.name) is \(event.state)")
        }
    }

    /// Reports ranged beacons.
    ///
    /// - Parameters:
    ///   - receiver: the receiver's name.
    ///   - isForClients: true if they are ranged only for the console.
    mutating func report(
        _ report: RangingRequestReport, from receiver: String, isForClients: Bool, to outcome: inout Outcome
    ) {
        var event = RangingEvent(
            time: report.time, receiver: receiver, constraint: report.constraint, beacons: report.beacons)
        if !isForClients, let constraint = report.constraint, ownConstraints.contains(constraint) {
            add(policy.receive(.ranged(event), at: report.wallTime), to: &outcome)
        }
        event.time = report.wallTime
        view.receive(event, at: report.time, from: report.receiver)
        if isForClients { return }
        lists[Place(receiver: report.receiver, constraint: report.constraint)] = report.beacons.map(\.identity)
        self.report(.ranged(event))
        if rules?.needsRanging == true { outcome.reports.append((event, report.time, report.receiver)) }
    }

    /// Reports a beacon's change of place.
    ///
    /// - Parameter id: the event's id if a fleet decided it.
    mutating func report(_ change: PlaceEvent, as id: EventID? = nil, to outcome: inout Outcome) {
        let known = places[change.identity]
        let isChange = view.receive(change, known: known, isNamed: names[change.identity] != nil)
        if change.state != .unknown, known != change.place, known != nil || hasPlace(for: change.identity) {
            places[change.identity] = change.place
            outcome.changesPresence = true
        }
        if names[change.identity] != nil || placeStates.count < Self.maximumPlaces {
            placeStates[change.identity] = change.state
        }
        let selected = own(policy.receive(.placed(change), at: change.time))
        add(selected, of: isChange ? .placed(change) : nil, at: change.time, as: id, to: &outcome)
        report(.placed(change))
    }

    /// Returns true if the place of another beacon can be kept: of a named one always, and of no more others than the
    /// engine tracks. It never reports that a beacon left that it had to forget.
    func hasPlace(for beacon: BeaconIdentity) -> Bool { names[beacon] != nil || places.count < Self.maximumPlaces }

    /// Reports a beacon that may have been cloned.
    ///
    /// - Parameter id: the event's id if a fleet decided it.
    mutating func report(_ event: SuspicionEvent, as id: EventID? = nil, to outcome: inout Outcome) {
        let title = names[event.identity] ?? "\(event.identity.major)/\(event.identity.minor)"
        let summary = BeaconNotification.summary(of: event.grounds, title)
        logger.warning("\(summary)", metadata: ["beacon": "\(event.identity)"])
        let selected = own(policy.receive(.suspected(event), at: event.time))
        add(selected, of: .suspected(event), at: event.time, as: id, to: &outcome)
        report(.suspected(event))
    }

    /// Reports receivers that hear again or no longer, and forgets reports of receivers that are gone.
    mutating func report(_ changes: GatewayListener.Changes, to outcome: inout Outcome) {
        for receiver in changes.gone {
            view.forget(receiver: receiver)
            lists = lists.filter { $0.key.receiver != receiver }
        }
        if changes.haveNumbers { outcome.changesPresence = true }
        for change in changes.hearing where view.isKept {
            view.change(.receivers)
            var event = BeaconNotification(id: ids.next(at: change.time), kind: .receiver, time: change.time)
            (event.receiver, event.isHearing) = (change.receiver, change.isHearing)
            let cause = change.reason.map { ": \($0)" } ?? ""
            event.summary = change.receiver + (change.isHearing ? " hears" : " does not hear\(cause)")
            store(event, isSelected: false, in: &outcome)
        }
    }

    /// Advances the policy's clock.
    ///
    /// - Parameters:
    ///   - time: the time by the core's clock.
    ///   - wall: the same time by the wall clock.
    mutating func advance(to time: Timestamp, at wall: Timestamp, _ outcome: inout Outcome) {
        add(policy.advance(to: time, at: wall), to: &outcome)
    }

    /// Returns the outcome of a fleet's event for the store only.
    ///
    /// - Parameters:
    ///   - id: its id.
    ///   - reach: its consumers: destinations if this machine delivers it, otherwise the history.
    mutating func record(
        _ event: BeaconEvent, at time: Timestamp, as id: EventID, for reach: Reach
    ) -> Outcome {
        var (outcome, shown) = (Outcome(), BeaconEvent?(event))
        if case .placed(let change) = event, change.state == .outside, change.before == nil {
            // A beacon that was never heard has not left a place.
            shown = nil
        }
        var selected: [BeaconNotification] = []
        if reach == .destinations {
            // The policy remembers shown events only, so a copy of it decides on notifications here.
            var policy = policy
            selected = policy.receive(event, at: time).filter { $0.kind != .heartbeat }
            if selected.isEmpty { return outcome }
        }
        add(selected, of: shown, at: time, as: id, for: reach, to: &outcome)
        return outcome
    }

    /// Returns the notifications that this machine has to send. In a fleet, another machine may deliver those of
    /// regions and places.
    private func own(_ notifications: [BeaconNotification]) -> [BeaconNotification] {
        isInFleet ? notifications.filter { $0.kind == .heartbeat } : notifications
    }

    /// Adds the event of a change, or all events that the policy selects for a report.
    ///
    /// - Parameters:
    ///   - selected: the notifications of the change.
    ///   - change: the change; nil for none that the history shows.
    ///   - time: its time by the wall clock.
    ///   - id: the id of the change's event; nil for a new one.
    ///   - reach: the consumers.
    private mutating func add(
        _ selected: [BeaconNotification], of change: BeaconEvent? = nil, at time: Timestamp = .zero,
        as id: EventID? = nil, for reach: Reach = .everyone, to outcome: inout Outcome
    ) {
        var isSelected = false
        for var notification in selected {
            counts[notification.kind, default: 0] += 1
            if notification.kind != .heartbeat { isSelected = true }
            if notification.kind != .heartbeat, let id { notification.id = id }
            store(notification, isSelected: true, for: reach, in: &outcome)
        }
        guard !isSelected, let change, var event = policy.notification(of: change, at: time) else { return }
        if let id { event.id = id }
        store(event, isSelected: false, for: reach, in: &outcome)
    }

    /// Adds an event to the step, unless no destination, console or rule needs it.
    ///
    /// - Parameters:
    ///   - notification: the event.
    ///   - isSelected: whether destinations may get it.
    private func store(
        _ notification: BeaconNotification, isSelected: Bool, for reach: Reach = .everyone, in outcome: inout Outcome
    ) {
        var notification = notification
        if let beacon = notification.beacon.flatMap({ known[$0] }) {
            (notification.beaconName, notification.beaconAttributes) = (beacon.name, beacon.attributes)
        }
        let kind = notification.kind
        if notification.summary.isEmpty, kind != .heartbeat { notification.summary = notification.summarized() }
        let recipients =
            isSelected ? destinations.map(\.destination).filter { $0.wants(notification) }.map(\.name) : []
        let isForRules = BeaconNotification.Kind.forRules.contains(kind) && rules?.hasRules == true
        let isRecorded = kind != .heartbeat && (view.isKept || isForRules)
        guard !recipients.isEmpty || isRecorded && reach != .destinations else { return }
        let own = reach == .everyone && BeaconNotification.Kind.forRules.contains(kind) ? [Event.rules] : []
        do throws(EventStoreError) {
            let event = try notification.event(for: recipients.isEmpty ? own : nil)
            try Step([event]).check()
            if reach == .destinations {
                outcome.step.address(event, to: recipients)
            } else {
                outcome.step.events.append(event)
            }
        } catch {
            // Other events must not wait for it.
            outcome.unwritable += 1
            logger.error("an event is lost: \(error)", metadata: ["event": "\(notification.id)"])
        }
    }

    // MARK: - Counts

    /// Returns the number of beacons in the newest reports.
    ///
    /// - Parameter isLast: true to count them in any case.
    mutating func countBeacons(isLast: Bool) -> Int {
        // Throttled: the statistics are read less often, and there may be thousands of beacons.
        if isLast || listsCounted.map({ .now - $0 > .milliseconds(500) }) ?? true {
            beaconsPresent = Set(lists.values.joined()).count
            listsCounted = .now
        }
        return beaconsPresent
    }
}

extension GatewayConfiguration {
    /// The names of beacons.
    package var beaconNames: [BeaconIdentity: String] { beaconsByIdentity.mapValues(\.name) }

    /// The named beacons by identity.
    var beaconsByIdentity: [BeaconIdentity: BeaconSettings] {
        Dictionary(beacons.map { ($0.identity, $0) }) { first, _ in first }
    }

    /// The regions in the form of notifications.
    package var notifiedRegions: [BeaconNotification.Region] {
        regions.map { BeaconNotification.Region(name: $0.name, constraint: $0.region.constraint) }
    }
}
