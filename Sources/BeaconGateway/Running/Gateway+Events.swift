import BeaconDelivery
import BeaconEngine
import BeaconModel
import BeaconMonitoring
import Foundation
import Logging

// What becomes of the core's events: notifications, what is shown, and then programs.

extension Gateway {
    // MARK: - Events

    /// Handles the core's events: notifications are written first, then programs are started.
    ///
    /// - Parameter time: the time of the source that reported, by the core's clock and by the source's own.
    func handleEvents(at time: (core: Timestamp, wall: Timestamp)? = nil) async {
        var events: [GatewayEvent] = []
        for event in core.takeEvents() {
            switch event {
            case .state(let change): handle(change, events: &events)
            case .ranged(let report): handle(report, events: &events)
            case .placed(let change): handle(change, events: &events)
            case .suspected(let event): handle(event, events: &events)
            case .located: break
            case .notice(let notice): logger.warning("\(notice)", metadata: ["kind": "\(notice.kind)"])
            }
        }
        if let time { add(policy.advance(to: time.core, at: time.wall), to: &events) }
        pending.add(events)
        if !mayGather { await settle() }
        publish()
    }

    /// True where more messages are there already, whose notifications can be written with those that wait.
    var mayGather: Bool {
        guard pending.events.count < Self.chunk, nextWrite == nil,
            !turns.isEmpty || sources.contains(where: \.runner.messages.hasElements)
        else { return false }
        if pending.isEmpty, unlaunched.isEmpty, isPresenceSaved { return true }
        let began = gatheringBegan ?? .now
        gatheringBegan = began
        return .now - began < Self.gatheringTime
    }

    /// Writes what waits, and starts programs for it.
    func settle() async {
        gatheringBegan = nil
        await write()
        let events = unlaunched
        unlaunched = []
        for event in events {
            switch event {
            case .change(let change, let application, let region):
                await launches?.startApplication(application, for: change, of: region)
            case .report(let report, let time, let receiver):
                await rules?.handle(
                    report, at: time, from: receiver, regions: configuration.notifiedRegions, beacons: known)
            }
        }
        await rules?.settle()
    }

    func handle(_ change: ConditionChange, events: inout [GatewayEvent]) {
        guard let owner = owners[change.condition], let constraint = monitored[owner]?.constraint else { return }
        let event = RegionEvent(
            change.kind, name: owner.name, constraint: constraint, time: change.wallTime,
            receiver: change.receiver.map(name), state: change.state, before: change.before,
            identity: change.identity)
        if owner.isConfigured { isPresenceSaved = false }
        tell(event, of: owner, at: change.time, events: &events)
    }

    /// Has those told of a change of a region who are to be.
    ///
    /// - Parameters:
    ///   - event: the change, by the wall clock.
    ///   - time: its time by the core's clock.
    func tell(
        _ event: RegionEvent, of owner: ConditionOwner, at time: Timestamp,
        events: inout [GatewayEvent]
    ) {
        log(event, of: owner)
        if case .region = owner {
            view.receive(event)
            var timed = event
            timed.time = time
            add(own(policy.receive(.region(timed), at: event.time)), shownAs: HistoryEvent(event), to: &events)
        }
        if owner.isConfigured {
            for destination in destinations { destination.receive?(.region(event)) }
        }
        if case .application(let identity, let id) = owner, event.state != .unknown {
            unlaunched.append(.change(event, of: identity, id))
        }
    }

    /// Logs that a region was entered or left, or that a beacon with a name came or left. A dry run prints what it
    /// would send.
    private func log(_ event: RegionEvent, of owner: ConditionOwner) {
        guard state != nil else { return }
        if case .application = owner { return }
        if case .beacon = owner {
            // Where a region is this beacon alone, it says the same.
            guard !configuration.regions.contains(where: { $0.region.constraint == event.constraint }) else { return }
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

    func handle(_ report: RangingRequestReport, events: inout [GatewayEvent]) {
        if !rangingListeners.isEmpty, deliverToListener(report) { return }
        var event = RangingEvent(
            time: report.time, receiver: name(report.receiver), constraint: report.constraint,
            beacons: report.beacons)
        let isForListeners = report.constraint.map { regionRangings[$0] == report.request } ?? false
        if !isForListeners, let constraint = report.constraint,
            ownConstraints.contains(constraint)
        {
            add(policy.receive(.ranged(event), at: report.wallTime), to: &events)
        }
        event.time = report.wallTime
        view.receive(event, at: report.time, from: report.receiver)
        if isForListeners { return }
        lists[Place(receiver: report.receiver, constraint: report.constraint)] = report.beacons.map(\.identity)
        for destination in destinations { destination.receive?(.ranged(event)) }
        if rules?.needsRanging == true {
            unlaunched.append(.report(event, at: report.time, from: report.receiver))
        }
    }

    func handle(_ change: PlaceEvent, events: inout [GatewayEvent]) {
        let isNews = view.receive(change, known: places[change.identity])
        notePlace(change)
        let shown = isNews ? HistoryEvent(change, name: title(of: change.identity)) : nil
        add(own(policy.receive(.placed(change), at: change.time)), shownAs: shown, to: &events)
        for destination in destinations { destination.receive?(.placed(change)) }
    }

    /// Keeps in mind where a beacon is.
    func notePlace(_ change: PlaceEvent) {
        // No more than the engine tracks: of beacons that it had to forget, nobody says that they left.
        let known = places[change.identity]
        if change.state != .unknown, known != change.place, known != nil || places.count < Self.mostPlaces {
            places[change.identity] = change.place
            isPresenceSaved = false
        }
    }

    /// Returns the notifications that are this machine's to send: in a fleet, who delivers sends those of regions and
    /// places.
    func own(_ notifications: [BeaconNotification]) -> [BeaconNotification] {
        fleet == nil ? notifications : notifications.filter { $0.kind == .heartbeat }
    }

    /// Logs receivers of places and positions that no source has: a name that is misspelt makes everything in its place
    /// unknown.
    func reportMissingReceivers() {
        // In a fleet they are other machines'.
        guard fleet == nil, configuration.places != nil || configuration.suspicions != nil, !hasReportedReceivers,
            let origin, let time = core.time, time.since(origin) > Self.receiverPatience
        else { return }
        hasReportedReceivers = true
        let names = Set(receivers.indices.map { name(ReceiverID(UInt16(clamping: $0))) })
        reportMissingPositions(names)
        let missing = configuration.places?.receiverNames.filter { !names.contains($0) } ?? []
        guard !missing.isEmpty else { return }
        logger.warning(
            "no source has the receiver \(missing.joined(separator: ", ")) of a place; there are \(names.sorted().joined(separator: ", ")). Until it comes, beacons that may be in its place are unknown"
        )
    }

    /// The name or the numbers of a beacon, for people.
    func title(of beacon: BeaconIdentity) -> String { names[beacon] ?? "\(beacon.major)/\(beacon.minor)" }

    /// Returns why a source's receivers do not hear, as the subject and verb of a sentence; nil where that is not
    /// known.
    func reason(of source: Int) -> String? {
        switch statistics.sources[source].state {
        case .failing(let reason), .failed(let reason): reason
        case .ended: "its source has ended"
        case .starting, .running: nil
        }
    }

    /// Takes in what a receiver's hearing is.
    func setHearing(_ hearing: MonitoringCore.Hearing, of receiver: ReceiverID) {
        core.setHearing(hearing, of: receiver)
        guard records[Int(receiver.index)].update(hearing, at: statistics.time), !isStopped else { return }
        let time = newestTime
        let reason = reason(of: receivers[Int(receiver.index)].source)
        view.change(.receivers)
        guard view.isKept else { return }
        let shown = HistoryEvent(
            receiver: name(receiver), isHearing: hearing == .hearing, because: reason, at: time)
        pending.add([GatewayEvent(shown, id: ids.next(at: time))])
    }

    /// Returns the condition of a region of the configuration.
    func condition(of region: String) -> ConditionID? { conditions[.region(region)] }

    /// Returns the state of a region of the configuration, as it is published.
    func state(of region: String) -> RegionState {
        if let fleet { return fleet.states[.region(region)]?.published ?? .unknown }
        return condition(of: region).map { core.publishedState(of: $0) } ?? .unknown
    }

    func name(_ receiver: ReceiverID) -> String {
        let (source, place) = receivers[Int(receiver.index)]
        return sources[source].name(place)
    }

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
    ///   - events: the events so far.
    func add(_ new: [BeaconNotification], shownAs shown: HistoryEvent? = nil, to events: inout [GatewayEvent]) {
        var shown = recorded(shown)
        for var notification in new {
            statistics.notifications[notification.kind, default: 0] += 1
            notification.beaconName = notification.beacon.flatMap { names[$0] }
            var history = recorded(HistoryEvent(notification, name: title))
            if let one = shown, one.kind.rawValue == notification.kind.rawValue,
                one.region == nil || one.region == notification.region?.name
            {
                (history, shown) = (one, nil)
            } else if let last = events.last(where: { $0.history != nil })?.history, let same = history,
                (last.kind, last.summary) == (same.kind, same.summary),
                (last.time, last.beacon, last.receiver) == (same.time, same.beacon, same.receiver)
            {
                // A beacon that belongs to two regions comes near once.
                history = nil
            }
            events.append(GatewayEvent(notification, history: history))
        }
        if let shown { events.append(GatewayEvent(shown, id: ids.next(at: shown.time))) }
    }

    func publish() {
        for (number, source) in sources.enumerated() {
            statistics.sources[number].packets = source.packets
            statistics.sources[number].iBeacons = source.iBeacons
        }
        statistics.regionsInside =
            fleet?.states.count { $0.key.isRegion && $0.value.known == .inside }
            ?? conditions.count { $0.key.isRegion && core.knownState(of: $0.value) == .inside }
        // The statistics are read no more often, and there may be thousands of beacons.
        if listsCounted.map({ .now - $0 > .milliseconds(500) }) ?? true || sources.allSatisfy(\.isEnded) {
            statistics.beaconsPresent = Set(lists.values.joined()).count
            listsCounted = .now
        }
        statistics.unkept = pending.notifications
        statistics.lost = pending.lost
        var shown = statistics
        shown.sources = zip(statistics.sources, sources).filter { !$0.1.isRemoved }.map(\.0)
        // Before the run, sources are not made yet.
        if sources.isEmpty { shown.sources = statistics.sources }
        published.withLock { [shown] in $0 = shown }
    }
}
