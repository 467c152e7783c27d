import BeaconDelivery
import BeaconEngine
import BeaconEventStore
import BeaconMQTT
import BeaconModel
import BeaconMonitoring
import Logging

/// The reporting of the core's events: as notifications and in the history, to the console's view, to destinations that
/// keep states, and to programs.
struct EventReporter {
    /// What came of some events, in order.
    struct Outcome {
        /// The events for the store.
        var step = Step()
        var launches: [LaunchEvent] = []
        var changesPresence = false
        /// The number of events that cannot be written in any form.
        var unwritable = 0
        /// The newest event that is shown.
        fileprivate var shown: HistoryEvent?
    }

    /// The consumers of an event.
    enum Reach: Sendable {
        /// Rules, and the destinations that want its notification.
        case everyone
        /// The destinations alone: the store has the event, for the others. So it is with events of a fleet, which one
        /// machine delivers.
        case destinations
        /// The history alone: it happened in a fleet while this machine was away.
        case history
    }

    /// The place that a ranging report is from.
    private struct Place: Hashable {
        var receiver: ReceiverID
        var constraint: BeaconConstraint?
    }

    static let mostPlaces = EngineConfiguration.usualMaximumTrackedBeacons

    var destinations: [ConfiguredDestination]
    /// The state for the console.
    var view: GatewayView
    /// The user's names for beacons.
    private(set) var names: [BeaconIdentity: String]
    /// The settings of named beacons.
    private(set) var known: [BeaconIdentity: BeaconSettings]
    /// The places that beacons were known to be in last.
    private(set) var places: [BeaconIdentity: String] = [:]
    /// The number of notifications that were made, by kind.
    private(set) var counts: [BeaconNotification.Kind: Int] = [:]

    private var policy: NotificationPolicy
    private var ownConstraints: Set<BeaconConstraint>
    private var ids = EventIDs()
    /// The beacons of the newest report of each place, their number, and when they were counted.
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

    /// Continues with another configuration.
    mutating func configure(_ new: GatewayConfiguration, renamed: RenamedItems) {
        names = new.beaconNames
        known = new.beaconsByIdentity
        policy.configure(rules: new.notify, regions: new.notifiedRegions, renamed: renamed.regions)
        ownConstraints = Set(new.notifiedRegions.map(\.constraint))
        view.rename(renamed)
        places = places.mapValues { renamed.places[$0] ?? $0 }
        for destination in destinations { destination.configure?(new, renamed) }
    }

    /// Forgets the places that a plan does not have.
    mutating func keepPlaces(of plan: PlacePlan) { places = places.filter { plan.placeNames.contains($0.value) } }

    /// Sends an event to destinations that keep states.
    func report(_ event: BeaconEvent) {
        for destination in destinations { destination.receive?(event) }
    }

    // MARK: - What was known before

    /// Tells the policy the state of a region of the configuration, which is no notification.
    mutating func restore(_ event: RegionEvent) { _ = policy.receive(.region(event), at: .zero) }

    /// Restores where a beacon was.
    mutating func restore(_ beacon: BeaconIdentity, in place: String, at time: Timestamp) {
        places[beacon] = place
        view.restore(beacon, in: place, at: time)
    }

    // MARK: - Events

    /// Reports a change of a region, of a named beacon or of an application's region.
    ///
    /// - Parameters:
    ///   - event: the change, by the wall clock.
    ///   - time: its time by the core's clock.
    ///   - id: its id, where a fleet decided it.
    mutating func report(
        _ event: RegionEvent, of owner: ConditionOwner, at time: Timestamp, as id: EventID? = nil,
        to outcome: inout Outcome
    ) {
        log(event, of: owner)
        if case .region = owner {
            view.receive(event)
            var timed = event
            timed.time = time
            add(own(policy.receive(.region(timed), at: event.time)), shownAs: HistoryEvent(event), as: id, to: &outcome)
        }
        if owner.isConfigured { report(.region(event)) }
        if case .application(let identity, let id) = owner, event.state != .unknown {
            outcome.launches.append(.change(event, of: identity, id))
        }
    }

    /// Logs that a region was entered or left, or that a beacon with a name came or left. A dry run prints what it
    /// would send.
    private func log(_ event: RegionEvent, of owner: ConditionOwner) {
        guard !isDryRun else { return }
        if case .application = owner { return }
        if case .beacon = owner {
            // Where a region is this beacon alone, it says the same.
            guard !ownConstraints.contains(event.constraint) else { return }
            if event.kind == .enter {
                logger.info("\(event.name) came\(event.receiver.map { ", heard by \($0)" } ?? "")")
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

    /// Reports what was ranged.
    ///
    /// - Parameters:
    ///   - receiver: the receiver's name.
    ///   - isForClients: true where it is ranged for the console alone.
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
        if rules?.needsRanging == true {
            outcome.launches.append(.report(event, at: report.time, from: report.receiver))
        }
    }

    /// Reports a beacon's change of place.
    ///
    /// - Parameter id: its id, where a fleet decided it.
    mutating func report(_ change: PlaceEvent, as id: EventID? = nil, to outcome: inout Outcome) {
        let known = places[change.identity]
        let isChange = view.receive(change, known: known)
        // No more than the engine tracks: it never reports that a beacon left which it had to forget.
        if change.state != .unknown, known != change.place, known != nil || places.count < Self.mostPlaces {
            places[change.identity] = change.place
            outcome.changesPresence = true
        }
        let shown = isChange ? HistoryEvent(change, name: title(of: change.identity)) : nil
        add(own(policy.receive(.placed(change), at: change.time)), shownAs: shown, as: id, to: &outcome)
        report(.placed(change))
    }

    /// Reports a beacon that may have been cloned.
    ///
    /// - Parameter id: its id, where a fleet decided it.
    mutating func report(_ event: SuspicionEvent, as id: EventID? = nil, to outcome: inout Outcome) {
        let record = HistoryEvent(event, name: title(of: event.identity))
        logger.warning("\(record.summary)", metadata: ["beacon": "\(event.identity)"])
        add(own(policy.receive(.suspected(event), at: event.time)), shownAs: record, as: id, to: &outcome)
        report(.suspected(event))
    }

    /// Reports which receivers hear again or no longer, and forgets what those that are gone reported.
    mutating func report(_ changes: GatewayListener.Changes, to outcome: inout Outcome) {
        for receiver in changes.gone {
            view.forget(receiver: receiver)
            lists = lists.filter { $0.key.receiver != receiver }
        }
        for event in changes.hearing where view.isKept {
            view.change(.receivers)
            store(nil, shownAs: event, as: ids.next(at: event.time), in: &outcome)
        }
    }

    /// Advances the policy's clock.
    ///
    /// - Parameters:
    ///   - time: the time by the core's clock.
    ///   - wall: the same by the wall clock.
    mutating func advance(to time: Timestamp, at wall: Timestamp, _ outcome: inout Outcome) {
        add(policy.advance(to: time, at: wall), to: &outcome)
    }

    /// Returns an event that a fleet decided, for the store alone.
    ///
    /// - Parameters:
    ///   - id: its id.
    ///   - reach: the consumers that it is for: destinations, where this machine delivers it, or none.
    mutating func record(
        _ event: BeaconEvent, at time: Timestamp, as id: EventID, for reach: Reach
    ) -> Outcome {
        let shown: HistoryEvent?
        switch event {
        case .region(var change):
            change.time = time
            shown = HistoryEvent(change)
        case .placed(let change):
            // A beacon that was never heard has not left a place.
            let isUnseen = change.state == .outside && change.before == nil
            shown = isUnseen ? nil : HistoryEvent(change, name: title(of: change.identity))
        case .suspected(let event): shown = HistoryEvent(event, name: title(of: event.identity))
        case .ranged, .located: shown = nil
        }
        var outcome = Outcome()
        var notifications: [BeaconNotification] = []
        if reach == .destinations {
            // The policy remembers shown events only; a copy of it decides about notifications here.
            var policy = policy
            notifications = policy.receive(event, at: time).filter { $0.kind != .heartbeat }
            if notifications.isEmpty { return outcome }
        }
        add(notifications.map { $0.named(id) }, shownAs: shown, as: id, for: reach, to: &outcome)
        return outcome
    }

    /// Returns the notifications that are this machine's to send: in a fleet, who delivers sends those of regions and
    /// places.
    private func own(_ notifications: [BeaconNotification]) -> [BeaconNotification] {
        isInFleet ? notifications.filter { $0.kind == .heartbeat } : notifications
    }

    /// The name or the numbers of a beacon, for people.
    private func title(of beacon: BeaconIdentity) -> String { names[beacon] ?? "\(beacon.major)/\(beacon.minor)" }

    /// Returns an event as the console shows it or rules look at it; nil where they do not.
    private func recorded(_ event: HistoryEvent?) -> HistoryEvent? {
        guard let event, view.isKept || event.kind.isForRules && rules?.hasRules == true else { return nil }
        return event
    }

    /// Makes events of notifications and of an event of the history.
    ///
    /// - Parameters:
    ///   - new: the notifications.
    ///   - shown: the history's event, which is the same event as the notification of it; nil where it shows none.
    ///   - id: the id of the history's event; nil for a new one.
    ///   - reach: the consumers that they are for.
    private mutating func add(
        _ new: [BeaconNotification], shownAs shown: HistoryEvent? = nil, as id: EventID? = nil,
        for reach: Reach = .everyone, to outcome: inout Outcome
    ) {
        var shown = recorded(shown)
        for var notification in new {
            counts[notification.kind, default: 0] += 1
            notification.beaconName = notification.beacon.flatMap { names[$0] }
            var history = recorded(HistoryEvent(notification, name: title))
            if let one = shown, one.kind.rawValue == notification.kind.rawValue,
                one.region == nil || one.region == notification.region?.name
            {
                (history, shown) = (one, nil)
            } else if let last = outcome.shown, let same = history,
                (last.kind, last.summary) == (same.kind, same.summary),
                (last.time, last.beacon, last.receiver) == (same.time, same.beacon, same.receiver)
            {
                // A beacon that belongs to two regions comes near once.
                history = nil
            }
            store(notification, shownAs: history, as: notification.id, for: reach, in: &outcome)
        }
        if let shown { store(nil, shownAs: shown, as: id ?? ids.next(at: shown.time), for: reach, in: &outcome) }
    }

    /// Adds an event to the step, unless no destination, console or rule needs it.
    ///
    /// - Parameters:
    ///   - notification: its form for destinations; nil without one.
    ///   - history: its form for the console and the rules; nil without these.
    private func store(
        _ notification: BeaconNotification?, shownAs history: HistoryEvent?, as id: EventID,
        for reach: Reach = .everyone, in outcome: inout Outcome
    ) {
        let recipients = notification.map { notification in
            destinations.map(\.destination).filter { $0.wants(notification) }.map(\.name)
        }
        let event: Event
        do throws(EventStoreError) {
            if let notification, recipients?.isEmpty == false {
                var sent = try notification.event()
                history?.add(to: &sent)
                event = sent
            } else if let history {
                let isForRules = reach == .everyone && history.kind.isForRules
                event = history.event(id, for: isForRules ? [HistoryEvent.rules] : [])
            } else {
                return
            }
            try Step([event]).check()
        } catch {
            // It holds up no others.
            outcome.unwritable += 1
            return logger.error("an event is lost: \(error)", metadata: ["event": "\(id)"])
        }
        if let history { outcome.shown = history }
        if reach == .destinations {
            outcome.step.address(event, to: recipients ?? [])
        } else {
            outcome.step.events.append(event)
        }
    }

    // MARK: - Counts

    /// Returns the number of beacons in the newest reports.
    ///
    /// - Parameter isLast: true to count them in any case.
    mutating func countBeacons(isLast: Bool) -> Int {
        // The statistics are read no more often, and there may be thousands of beacons.
        if isLast || listsCounted.map({ .now - $0 > .milliseconds(500) }) ?? true {
            beaconsPresent = Set(lists.values.joined()).count
            listsCounted = .now
        }
        return beaconsPresent
    }
}

extension GatewayConfiguration {
    /// The names of beacons.
    var beaconNames: [BeaconIdentity: String] { beaconsByIdentity.mapValues(\.name) }

    /// The named beacons by identity.
    var beaconsByIdentity: [BeaconIdentity: BeaconSettings] {
        Dictionary(beacons.map { ($0.identity, $0) }) { first, _ in first }
    }

    /// The regions as notifications name them.
    var notifiedRegions: [BeaconNotification.Region] {
        regions.map { BeaconNotification.Region(name: $0.name, constraint: $0.region.constraint) }
    }
}
