import BeaconEngine
public import BeaconModel
import BeaconSupport

/// A filter that turns the events of monitoring and ranging into the few notifications that a backend needs.
///
/// It is pure: time is an argument and it does no I/O, so that the same events give the same notifications except for
/// their ids. It remembers a bounded number of beacons.
///
/// The Kumulos recipe, the model of this policy, does not send a beacon "already in the collection, at the same range"
/// again, but compares only the identity. This policy compares the proximity as well.
public struct NotificationPolicy: Sendable {
    /// The rules of the selection.
    public private(set) var rules: NotificationRules

    /// The number of times that a beacon in a report was ignored because the policy already remembered the maximum.
    public private(set) var ignoredBeacons = 0

    /// A region and a receiver that ranges it.
    private struct HistoryKey: Hashable {
        var receiver: String
        var region: String?
    }

    /// The ranging history of a region by one receiver, with the state of its notifications.
    private struct History {
        var reports = ProximityReports()
        var machine = ProximityMachine([])
    }

    private var regions: [BeaconNotification.Region] {
        didSet { regionsByConstraint = Dictionary(grouping: regions, by: \.constraint) }
    }
    private var regionsByConstraint: [BeaconConstraint: [BeaconNotification.Region]]
    private var states: [String: RegionState] = [:]
    private var histories: [HistoryKey: History] = [:]
    private var rememberedBeacons = 0
    private var ids: EventIDs
    private var newest = Timestamp.zero
    private var nextHeartbeat: Timestamp?

    /// The age at which the last report of a silent receiver no longer counts for presence. A scanning receiver reports
    /// each second, even if it hears nothing. A region is left after 30 s.
    private static let reportLifetime = 30 * Timestamp.nanosecondsPerSecond

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - rules: the rules of the selection.
    ///   - regions: the monitored regions. A ranging report belongs to the regions with the same constraint.
    ///   - ids: the generator of notification ids.
    public init(
        rules: NotificationRules, regions: [BeaconNotification.Region], ids: EventIDs = EventIDs()
    ) {
        self.rules = rules
        self.regions = regions.filter { rules.regions?.contains($0.name) ?? true }
        regionsByConstraint = Dictionary(grouping: self.regions, by: \.constraint)
        self.ids = ids
    }

    /// Replaces the rules and the monitored regions. Regions that stay keep their states and beacons, even if they are
    /// renamed.
    ///
    /// - Parameters:
    ///   - rules: the rules of the selection.
    ///   - regions: the monitored regions.
    ///   - renamed: the new names of regions, by the old ones.
    public mutating func configure(
        rules: NotificationRules, regions: [BeaconNotification.Region], renamed: [String: String] = [:]
    ) {
        if rules.heartbeatInterval != self.rules.heartbeatInterval { nextHeartbeat = nil }
        self.rules = rules
        if !renamed.isEmpty {
            states = Dictionary(states.map { (renamed[$0.key] ?? $0.key, $0.value) }) { first, _ in first }
            let moved = histories.map { key, history in
                let region = key.region.map { renamed[$0] ?? $0 }
                return (HistoryKey(receiver: key.receiver, region: region), history)
            }
            histories = Dictionary(moved) { first, _ in first }
            rememberedBeacons = histories.values.reduce(0) { $0 + $1.machine.count }
            for index in self.regions.indices {
                if let name = renamed[self.regions[index].name] { self.regions[index].name = name }
            }
        }
        setRegions(regions)
    }

    /// Replaces the monitored regions. The state of regions that stay is kept.
    public mutating func setRegions(_ regions: [BeaconNotification.Region]) {
        let before = self.regions
        self.regions = regions.filter { rules.regions?.contains($0.name) ?? true }
        let gone = Set(before).subtracting(self.regions).map(\.name)
        for name in gone { states[name] = nil }
        for (key, history) in histories where key.region.map(gone.contains) ?? false {
            rememberedBeacons -= history.machine.count
            histories[key] = nil
        }
    }

    /// Processes an event and returns the notifications to send. Pass events in order of time.
    ///
    /// - Parameters:
    ///   - event: a region change or a ranging report. Its time determines cool-down and heartbeat.
    ///   - wallTime: the same time since 1970, for the notifications.
    /// - Returns: The notifications. A heartbeat that was due comes first.
    public mutating func receive(_ event: BeaconEvent, at wallTime: Timestamp) -> [BeaconNotification] {
        switch event {
        case .region(let change):
            let notifications = advance(to: change.time, at: wallTime)
            guard rules.regions?.contains(change.name) ?? true else { return notifications }
            states[change.name] = change.state
            return notifications + selected(event, at: wallTime)
        case .ranged(let report):
            return advance(to: report.time, at: wallTime) + receive(report, at: wallTime)
        // The times of places are from a source's clock, which does not drive this policy. The detector of suspicions
        // has already decided how often to report them.
        case .placed, .suspected, .located: return selected(event, at: wallTime)
        }
    }

    /// Advances the time and returns a heartbeat if one is due. After a gap of several intervals it returns one
    /// heartbeat.
    ///
    /// - Parameters:
    ///   - time: the current time, by the clock of the events.
    ///   - wallTime: the current time since 1970.
    /// - Returns: A heartbeat, or nothing.
    public mutating func advance(to time: Timestamp, at wallTime: Timestamp) -> [BeaconNotification] {
        newest = max(newest, time)
        guard let interval = rules.heartbeatInterval?.clampedNanoseconds, interval > 0 else { return [] }
        guard let due = nextHeartbeat else {
            nextHeartbeat = newest.advanced(by: interval)
            return []
        }
        guard newest >= due else { return [] }
        let missed = newest.since(due) / interval
        nextHeartbeat = due.advanced(by: (missed + 1) * interval)
        return [heartbeat(at: wallTime)]
    }

    /// Returns a heartbeat with the regions, their states and the beacons that are present.
    ///
    /// - Parameter wallTime: the current time since 1970.
    public mutating func heartbeat(at wallTime: Timestamp) -> BeaconNotification {
        for (key, history) in histories where newest.since(history.reports.time) > Self.reportLifetime {
            rememberedBeacons -= history.machine.count
            histories[key] = nil
        }
        var notification = BeaconNotification(id: ids.next(at: wallTime), kind: .heartbeat, time: wallTime)
        notification.presence = regions.map { region in
            var beacons: [BeaconNotification.PresentBeacon] = []
            for (key, history) in histories where key.region == region.name {
                beacons += history.reports.present.map { beacon in
                    BeaconNotification.PresentBeacon(
                        identity: beacon.identity, proximity: beacon.proximity, accuracy: beacon.accuracy,
                        rssi: beacon.rssi == 0 ? nil : beacon.rssi, receiver: key.receiver)
                }
            }
            func order(
                _ beacon: BeaconNotification.PresentBeacon
            ) -> (distance: Double, identity: BeaconIdentity, receiver: String) {
                (RangedBeacon.distance(of: beacon.accuracy), beacon.identity, beacon.receiver)
            }
            beacons.sort { order($0) < order($1) }
            let listed = beacons.prefix(max(rules.maximumBeaconsInHeartbeat, 0))
            return BeaconNotification.Presence(
                region: region, state: states[region.name] ?? .unknown, beacons: Array(listed),
                unlisted: beacons.count - listed.count)
        }
        return notification
    }

    private mutating func receive(_ report: RangingEvent, at wallTime: Timestamp) -> [BeaconNotification] {
        if let constraint = report.constraint {
            let named = regionsByConstraint[constraint] ?? []
            if named.isEmpty {
                // The list of regions to report cannot contain a region without a name.
                guard rules.regions == nil else { return [] }
                let region = BeaconNotification.Region(name: constraint.description, constraint: constraint)
                return compare(report.beacons, with: region, of: report, at: wallTime)
            }
            return named.flatMap { compare(report.beacons, with: $0, of: report, at: wallTime) }
        }
        if regions.isEmpty {
            return rules.regions == nil ? compare(report.beacons, with: nil, of: report, at: wallTime) : []
        }
        return regions.flatMap { region in
            compare(
                report.beacons.filter { region.constraint.matches($0.identity) }, with: region, of: report,
                at: wallTime)
        }
    }

    /// Returns the event of a change if the rules select it.
    private mutating func selected(_ event: BeaconEvent, at wallTime: Timestamp) -> [BeaconNotification] {
        guard let notification = notification(of: event, at: wallTime), rules.kinds.contains(notification.kind),
            notification.region != nil || rules.regions == nil
        else { return [] }
        // A beacon in the same place as before an outage has not changed it.
        if notification.kind == .place, notification.state == .unknown || notification.place == notification.before {
            return []
        }
        return [notification]
    }

    /// Returns the event of a change, even if the rules do not select it; nil for reports of beacons.
    package mutating func notification(of event: BeaconEvent, at wallTime: Timestamp) -> BeaconNotification? {
        switch event {
        case .region(let change):
            let kind = BeaconNotification.Kind(rawValue: change.kind.rawValue)
            var notification = BeaconNotification(id: ids.next(at: wallTime), kind: kind, time: wallTime)
            notification.region = BeaconNotification.Region(name: change.name, constraint: change.constraint)
            (notification.beacon, notification.receiver) = (change.identity, change.receiver)
            notification.state = change.state
            return notification
        case .placed(let change):
            var notification = BeaconNotification(id: ids.next(at: wallTime), kind: .place, time: wallTime)
            notification.region = regions.first { $0.constraint.matches(change.identity) }
            (notification.beacon, notification.receiver) = (change.identity, change.receiver)
            (notification.state, notification.place, notification.before) = (change.state, change.place, change.before)
            (notification.level, notification.margin, notification.runnerUp) =
                (change.level, change.margin, change.runnerUp)
            return notification
        case .suspected(let event):
            var notification = BeaconNotification(id: ids.next(at: wallTime), kind: .suspicious, time: wallTime)
            // Choose the most specific region.
            notification.region = regions.filter { $0.constraint.matches(event.identity) }.max {
                ($0.constraint.major != nil ? 1 : 0, $0.constraint.minor != nil ? 1 : 0)
                    < ($1.constraint.major != nil ? 1 : 0, $1.constraint.minor != nil ? 1 : 0)
            }
            (notification.beacon, notification.receiver) = (event.identity, event.receiver)
            notification.suspicion = event.grounds
            return notification
        case .ranged, .located: return nil
        }
    }

    /// Compares a report with the history of its receiver and region, and returns the notifications to send.
    private mutating func compare(
        _ beacons: [RangedBeacon], with region: BeaconNotification.Region?, of report: RangingEvent,
        at wallTime: Timestamp
    ) -> [BeaconNotification] {
        let key = HistoryKey(receiver: report.receiver, region: region?.name)
        // Remove it from the table, so that it can be changed without a copy.
        var history = histories.removeValue(forKey: key) ?? History()
        rememberedBeacons -= history.machine.count
        history.reports.maximum = max(rules.maximumBeacons - rememberedBeacons, 0)
        history.machine.maximum = history.reports.maximum
        history.machine.conditions = [
            .change(
                atLeast: rules.minimumProximity ?? .unknown, coolDown: rules.coolDown,
                hasGone: rules.kinds.contains(.gone))
        ]
        let ignored = history.reports.ignored
        let list = RangingEvent(time: newest, receiver: report.receiver, constraint: nil, beacons: beacons)
        let matches =
            history.reports.receive(list, at: newest).flatMap { history.machine.receive($0) }
            + history.machine.advance(to: newest)
        ignoredBeacons += history.reports.ignored - ignored
        rememberedBeacons += history.machine.count
        if history.machine.count > 0 { histories[key] = history }

        return matches.compactMap { match in
            let kind: BeaconNotification.Kind = match.proximity == nil ? .gone : .proximity
            guard rules.kinds.contains(kind) else { return nil }
            var notification = BeaconNotification(id: ids.next(at: wallTime), kind: kind, time: wallTime)
            notification.region = region
            notification.beacon = match.beacon
            notification.receiver = report.receiver
            if let proximity = match.proximity {
                let beacon = history.reports.listing(of: match.beacon)?.beacon
                notification.proximity = proximity
                notification.accuracy = beacon?.accuracy
                notification.rssi = beacon.flatMap { $0.rssi == 0 ? nil : $0.rssi }
            }
            return notification
        }
    }
}
