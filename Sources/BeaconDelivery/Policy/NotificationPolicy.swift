import BeaconEngine
public import BeaconModel
public import BeaconService

/// Turns what a session says each second into the few things that are worth telling.
///
/// It is pure: time is an argument and nothing is read or written, so that the same events give the same notifications
/// but for their names. It remembers a bounded number of beacons.
///
/// The Kumulos recipe, of which this is the model, says that a beacon "already in the collection, at the same range" is not
/// sent again, and then compares the identity alone. This policy does what it says.
public struct NotificationPolicy: Sendable {
    /// What counts as news.
    public let rules: NotificationRules

    /// How many times a beacon was in a report and not looked at, since as many as may be were remembered already.
    public private(set) var ignoredBeacons = 0

    /// One receiver in one region.
    private struct Place: Hashable {
        var receiver: String
        var region: String?
    }

    private let regions: [BeaconNotification.Region]
    private var states: [String: RegionState] = [:]
    private var reports: [Place: BeaconReport] = [:]
    private var rememberedBeacons = 0
    private var ids: NotificationIDs
    private var newest = Timestamp.zero
    private var nextHeartbeat: Timestamp?

    /// A receiver of which nothing was heard for this long has nobody present. A receiver that listens reports each
    /// second, also when it hears nothing; 30 s is the time after which a region is left.
    private static let reportLifetime = 30 * Timestamp.nanosecondsPerSecond

    /// A policy that has seen nothing.
    ///
    /// - Parameters:
    ///   - rules: what counts as news.
    ///   - regions: the regions that are watched, by whose constraints a ranging report is known to belong to them.
    ///   - ids: where names come from.
    public init(
        rules: NotificationRules, regions: [BeaconNotification.Region], ids: NotificationIDs = NotificationIDs()
    ) {
        self.rules = rules
        self.regions = regions.filter { rules.regions?.contains($0.name) ?? true }
        self.ids = ids
    }

    /// Takes an event, in order of time, and says what of it is news.
    ///
    /// - Parameters:
    ///   - event: what the session said. Its time drives cool-down and heartbeat.
    ///   - wallTime: the same moment since 1970, which the notifications carry.
    /// - Returns: what is to be told, a heartbeat that was due first.
    public mutating func receive(_ event: SessionEvent, at wallTime: Timestamp) -> [BeaconNotification] {
        switch event {
        case .region(let kind, let change):
            var news = advance(to: change.time, at: wallTime)
            guard rules.regions?.contains(change.name) ?? true else { return news }
            states[change.name] = change.state
            let told: BeaconNotification.Kind
            switch kind {
            case .enter: told = .enter
            case .exit: told = .exit
            case .state: return news
            }
            guard rules.kinds.contains(told) else { return news }
            var notification = BeaconNotification(id: ids.next(at: wallTime), kind: told, time: wallTime)
            notification.region = BeaconNotification.Region(name: change.name, constraint: change.constraint)
            notification.beacon = change.identity
            notification.receiver = change.receiver
            news.append(notification)
            return news
        case .ranged(let report):
            return advance(to: report.time, at: wallTime) + receive(report, at: wallTime)
        }
    }

    /// Lets time pass, and says whether a heartbeat is due. A gap of several intervals gives one.
    ///
    /// - Parameters:
    ///   - time: now, on the clock of the events.
    ///   - wallTime: now, since 1970.
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

    /// Who is present where, now, for a receiver that asks.
    public mutating func heartbeat(at wallTime: Timestamp) -> BeaconNotification {
        for (place, report) in reports where newest.since(report.time) > Self.reportLifetime {
            rememberedBeacons -= report.beacons.count
            reports[place] = nil
        }
        var notification = BeaconNotification(id: ids.next(at: wallTime), kind: .heartbeat, time: wallTime)
        notification.presence = regions.map { region in
            var beacons: [BeaconNotification.PresentBeacon] = []
            for (place, report) in reports where place.region == region.name {
                beacons += report.present(at: place.receiver)
            }
            beacons.sort(by: Self.isNearer)
            let listed = beacons.prefix(max(rules.maximumBeaconsInHeartbeat, 0))
            return BeaconNotification.Presence(
                region: region, state: states[region.name] ?? .unknown, beacons: Array(listed),
                unlisted: beacons.count - listed.count)
        }
        return notification
    }

    private static func isNearer(
        _ left: BeaconNotification.PresentBeacon, _ right: BeaconNotification.PresentBeacon
    ) -> Bool {
        let (first, second) = (
            left.accuracy < 0 ? .infinity : left.accuracy, right.accuracy < 0 ? .infinity : right.accuracy
        )
        if first != second { return first < second }
        return (left.identity, left.receiver) < (right.identity, right.receiver)
    }

    private mutating func receive(_ report: SessionEvent.RangingEvent, at wallTime: Timestamp) -> [BeaconNotification] {
        if let constraint = report.constraint {
            let named = regions.filter { $0.constraint == constraint }
            if named.isEmpty {
                // A region that nobody named cannot be in the list of those to be told of.
                guard rules.regions == nil else { return [] }
                let region = BeaconNotification.Region(name: constraint.description, constraint: constraint)
                return compare(report.beacons[...], with: region, of: report, at: wallTime)
            }
            return named.flatMap { compare(report.beacons[...], with: $0, of: report, at: wallTime) }
        }
        if regions.isEmpty {
            return rules.regions == nil ? compare(report.beacons[...], with: nil, of: report, at: wallTime) : []
        }
        return regions.flatMap { region in
            compare(
                report.beacons.filter { region.constraint.matches($0.identity) }[...], with: region, of: report,
                at: wallTime)
        }
    }

    /// Compares a report with the one before of the same place, and says what is news.
    private mutating func compare(
        _ beacons: ArraySlice<RangedBeacon>, with region: BeaconNotification.Region?,
        of report: SessionEvent.RangingEvent, at wallTime: Timestamp
    ) -> [BeaconNotification] {
        let place = Place(receiver: report.receiver, region: region?.name)
        let coolDown = rules.coolDown.clampedNanoseconds
        // Taken out of the table, so that it is changed in place.
        var known = reports.removeValue(forKey: place) ?? BeaconReport()
        rememberedBeacons -= known.beacons.count
        let changes = known.take(
            beacons, at: newest, coolDown: coolDown, maximum: max(rules.maximumBeacons - rememberedBeacons, 0),
            tellsGone: rules.kinds.contains(.gone), isNear: isNearEnough, ignored: &ignoredBeacons)
        rememberedBeacons += known.beacons.count
        if !known.beacons.isEmpty { reports[place] = known }

        return changes.compactMap { change in
            let kind: BeaconNotification.Kind = change.isGone ? .gone : .proximity
            guard rules.kinds.contains(kind) else { return nil }
            var notification = BeaconNotification(id: ids.next(at: wallTime), kind: kind, time: wallTime)
            notification.region = region
            notification.beacon = change.identity
            notification.receiver = report.receiver
            if !change.isGone {
                notification.proximity = change.proximity
                notification.accuracy = change.accuracy
                notification.rssi = change.rssi
            }
            return notification
        }
    }

    private func isNearEnough(_ proximity: Proximity) -> Bool {
        switch rules.minimumProximity {
        case nil, .unknown: true
        case .far: proximity != .unknown
        case .near: proximity == .near || proximity == .immediate
        case .immediate: proximity == .immediate
        }
    }
}
