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
        var notifications: [BeaconNotification] = []
        for event in core.takeEvents() {
            switch event {
            case .state(let change): handle(change, notifications: &notifications)
            case .ranged(let report): handle(report, notifications: &notifications)
            case .placed(let change): handle(change, notifications: &notifications)
            case .suspected(let event): handle(event, notifications: &notifications)
            case .located: break
            case .notice(let notice): logger.warning("\(notice)", metadata: ["kind": "\(notice.kind)"])
            }
        }
        if let time { add(policy.advance(to: time.core, at: time.wall), to: &notifications) }
        pending.add(notifications)
        if !mayGather { await settle() }
        publish()
    }

    /// True where more messages are there already, whose notifications can be written with those that wait.
    var mayGather: Bool {
        guard pending.notifications.count < Self.chunk, nextWrite == nil,
            !turns.isEmpty || sources.contains(where: \.runner.messages.hasElements)
        else { return false }
        if pending.notifications.isEmpty, unlaunched.isEmpty, isPresenceSaved, !view.hasUnwritten { return true }
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
            case .change(let change): await launch(change)
            case .report(let report, let time, let receiver):
                await rules?.handle(
                    report, at: time, from: receiver, regions: configuration.notifiedRegions, beacons: known)
            case .place(let change):
                let names = configuration.regions.filter { $0.region.constraint.matches(change.identity) }.map(\.name)
                await rules?.handle(change, of: names, title: title(of: change.identity))
            case .suspicion(let event):
                let names = configuration.regions.filter { $0.region.constraint.matches(event.identity) }.map(\.name)
                await rules?.handle(
                    event, of: names, title: title(of: event.identity), in: known[event.identity]?.place)
            }
        }
        await rules?.settle()
    }

    func handle(_ change: ConditionChange, notifications: inout [BeaconNotification]) {
        guard let owner = owners[change.condition], let constraint = monitored[owner]?.constraint else { return }
        let event = RegionEvent(
            change.kind, name: owner.name, constraint: constraint, time: change.wallTime,
            receiver: change.receiver.map(name), state: change.state, before: change.before,
            identity: change.identity)
        if case .region = owner { view.receive(event) }
        if owner.isConfigured { isPresenceSaved = false }
        tell(event, of: owner, at: change.time, notifications: &notifications)
    }

    /// Has those told of a change of a region who are to be.
    ///
    /// - Parameters:
    ///   - event: the change, by the wall clock.
    ///   - time: its time by the core's clock.
    func tell(
        _ event: RegionEvent, of owner: ConditionOwner, at time: Timestamp,
        notifications: inout [BeaconNotification]
    ) {
        log(event, of: owner)
        if case .region = owner {
            var timed = event
            timed.time = time
            add(own(policy.receive(.region(timed), at: event.time)), to: &notifications)
        }
        if owner.isConfigured {
            for destination in destinations { destination.receive?(.region(event)) }
        }
        if event.state != .unknown { unlaunched.append(.change(GatewayChange(owner: owner, event: event))) }
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

    func handle(_ report: RangingRequestReport, notifications: inout [BeaconNotification]) {
        if !rangingListeners.isEmpty, deliverToListener(report) { return }
        var event = RangingEvent(
            time: report.time, receiver: name(report.receiver), constraint: report.constraint,
            beacons: report.beacons)
        let isForListeners = report.constraint.map { regionRangings[$0] == report.request } ?? false
        if !isForListeners, let constraint = report.constraint,
            ownConstraints.contains(constraint)
        {
            add(policy.receive(.ranged(event), at: report.wallTime), to: &notifications)
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

    func handle(_ change: PlaceEvent, notifications: inout [BeaconNotification]) {
        view.receive(change, known: places[change.identity], title: title(of: change.identity))
        notePlace(change)
        tell(change, notifications: &notifications)
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

    /// Has those told of a beacon's change of place who are to be.
    func tell(_ change: PlaceEvent, notifications: inout [BeaconNotification]) {
        add(own(policy.receive(.placed(change), at: change.time)), to: &notifications)
        for destination in destinations { destination.receive?(.placed(change)) }
        if rules?.needsPlaces == true { unlaunched.append(.place(change)) }
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
        view.keep(
            HistoryEvent(receiver: name(receiver), isHearing: hearing == .hearing, because: reason, at: time),
            as: .receivers)
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

    func add(_ new: [BeaconNotification], to notifications: inout [BeaconNotification]) {
        for notification in new {
            statistics.notifications[notification.kind, default: 0] += 1
            view.keep(HistoryEvent(notification, name: title))
            var notification = notification
            notification.beaconName = notification.beacon.flatMap { names[$0] }
            notifications.append(notification)
        }
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
        statistics.unkept = pending.notifications.count
        statistics.lost = pending.lost
        var shown = statistics
        shown.sources = zip(statistics.sources, sources).filter { !$0.1.isRemoved }.map(\.0)
        // Before the run, sources are not made yet.
        if sources.isEmpty { shown.sources = statistics.sources }
        published.withLock { [shown] in $0 = shown }
    }

    // MARK: - Programs

    func launch(_ change: GatewayChange) async {
        switch change.owner {
        case .region: await rules?.handle(change.event)
        case .beacon: return
        case .application(let identity, let id): await launches?.startApplication(identity, for: change.event, of: id)
        }
    }
}
