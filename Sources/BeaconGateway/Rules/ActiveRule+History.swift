package import BeaconDelivery
import BeaconEngine
package import BeaconEventStore
package import BeaconModel
import BeaconMonitoring
import BeaconSupport

extension RuleOccurrence {
    /// Returns the occurrence with its sender.
    fileprivate func with(_ install: Install?) -> RuleOccurrence {
        guard let install else { return self }
        var result = self
        result.notification.install = install.id
        result.notification.person = result.notification.person ?? install.user
        result.attributes = install.attributes
        return result
    }
}

extension ActiveRule {
    /// Decides about an event of the history, after the waiting runs whose time was over when it arrived.
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - stored: the event as stored; nil for an event of a replay.
    ///   - install: the install that sent it, as it was then.
    ///   - now: the present time, to find runs whose time was over long ago; nil for none.
    ///   - configuration: the configuration.
    ///   - lateness: returns how late an occurrence became known.
    package mutating func receive(
        _ event: BeaconNotification, _ stored: StoredEvent?, from install: Install?, now: Timestamp?,
        in configuration: GatewayConfiguration, ids: inout EventIDs, lateness: (RuleOccurrence) -> Duration
    ) -> [RuleDecision] {
        let arrival = stored?.arrival ?? .zero
        var decisions = release(
            here: false, now: now, named: configuration.beacons.map(\.identity), ids: &ids
        ) { $0 < arrival }
        decisions += note(event, in: configuration)
        guard isEnabled else { return decisions }
        for found in occurrences(of: event, stored?.number, in: configuration) {
            var occurrence = found.with(install)
            guard rule.concerns(occurrence) else { continue }
            occurrence.lateness = lateness(occurrence)
            let work = decide(
                occurrence, arrival: event.sender == nil ? nil : arrival,
                line: rule.target == nil ? nil : stored?.event.line(of: event),
                named: configuration.beacons.map(\.identity), ids: &ids)
            decisions.append(RuleDecision(occurrence, work))
        }
        return decisions
    }

    /// Returns the occurrences of a rule that an event of the history means.
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - number: its number in the history.
    ///   - configuration: the configuration, for its regions and the places of its beacons.
    mutating func occurrences(
        of event: BeaconNotification, _ number: Int64? = nil, in configuration: GatewayConfiguration
    ) -> [RuleOccurrence] {
        let own = Set([event.region?.name].compactMap { $0 })
        var (regions, place) = (own, event.place)
        if let beacon = event.beacon {
            for region in configuration.regions where region.region.constraint.matches(beacon) {
                regions.insert(region.name)
            }
            if event.kind != .place {
                place = configuration.beacons.first { $0.identity == beacon }?.place ?? place
            }
        }
        func occurrence(_ kind: RuleEvent, at time: Timestamp) -> RuleOccurrence {
            RuleOccurrence(
                event: kind, time: time, notification: event,
                regions: kind == .enter || kind == .exit ? own : regions, place: place, number: number)
        }
        switch event.kind {
        case .enter: return [occurrence(.enter, at: event.time)]
        case .exit: return [occurrence(.exit, at: event.time)]
        case .suspicious: return [occurrence(.suspicious, at: event.time)]
        case .place:
            // Losing sight of a beacon, or finding it in the same place again, is no change.
            let isChange = event.state != .unknown && event.place != event.before
            return isChange ? [occurrence(.place, at: event.time)] : []
        case .proximity, .gone:
            guard let beacon = event.beacon, rule.concerns(beacon, of: regions) else { return [] }
            let proximity = event.kind == .gone ? nil : event.proximity
            if event.kind == .proximity, proximity == nil { return [] }
            let matches =
                event.sender == nil
                ? updateNearest(beacon, proximity, event.receiver ?? "", at: event.time)
                : reported.receive(
                    ProximityChange(beacon, .init(proximity), at: event.time, lasts: event.install == nil),
                    of: "\(event.sender ?? ""): \(event.install ?? event.receiver ?? "")")
            return matches.compactMap { match in RuleEvent(match.condition).map { occurrence($0, at: match.time) } }
        default: return []
        }
    }

    /// Returns the proximity matches of a change that this machine notified of. The nearest of several receivers
    /// counts.
    private mutating func updateNearest(
        _ beacon: BeaconIdentity, _ proximity: Proximity?, _ receiver: String, at time: Timestamp
    ) -> [ProximityMatch] {
        notified[beacon, default: [:]][receiver] = proximity
        let nearest = notified[beacon]?.values.max { $0.rank < $1.rank }
        if nearest == nil { notified[beacon] = nil }
        // Receivers report every second.
        let before = time.advanced(by: -Timestamp.nanosecondsPerSecond)
        return heard.receive(ProximityChange(beacon, .init(nearest), at: time, heldUntil: before))
    }
}

extension ProximityChange.State {
    /// Creates the state of a beacon at a proximity; nil means that the beacon is gone.
    fileprivate init(_ proximity: Proximity?) { self = proximity.map { .at($0) } ?? .gone }
}
