import BeaconEngine
package import BeaconModel

// Silence is not absence: how conditions change when all receivers that could report are deaf, and when one hears
// again.

extension MonitoringCore {
    /// Restarts the time-out of regions that are inside. Their receivers may have heard the beacons, but the adverts
    /// were lost on the way.
    ///
    /// - Parameter isConcerned: returns true for a receiver that lost adverts.
    package mutating func renew(heldBy isConcerned: (ReceiverID) -> Bool) {
        drain()
        for id in conditions.keys.sorted() where publishedState(of: id) == .inside {
            if let holder = holder(of: id), isConcerned(holder) { renew(id, heldBy: holder) }
        }
    }

    /// Restarts the time-out of a region that is inside.
    ///
    /// - Parameter holder: the receiver that keeps it from now on.
    package mutating func renew(_ id: ConditionID, heldBy holder: ReceiverID) {
        drain()
        guard let condition = conditions[id], condition.known == .inside else { return }
        replace(id, by: condition.region, assuming: .inside, heldBy: holder, phase: .settled)
        if !deafness.isEmpty { review(id) }
    }

    @inline(never)
    mutating func reviewPatience(isFirst: Bool) {
        if isFirst {
            for receiver in deafness.keys where deafness[receiver]?.since == nil {
                deafness[receiver]?.since = newest
            }
        }
        let due = deafness.filter { !$0.value.isLasting && newest - ($0.value.since ?? newest) >= Self.patience }
        guard !due.isEmpty || isFirst else { return updatePatience() }
        // Everything that was due earlier happens first.
        if !isFirst { engine.advance(upTo: Timestamp(nanoseconds: newest)) }
        drain()
        for receiver in due.keys { deafness[receiver]?.isLasting = true }
        updatePatience()
        if !due.isEmpty { reviewAll() }
    }

    mutating func updatePatience() {
        nextPatience =
            deafness.values.filter { !$0.isLasting }.compactMap(\.since).min().map { $0 + Self.patience } ?? .max
    }

    func isDeaf(_ holder: ReceiverID?) -> Bool {
        guard let holder else { return !deafness.isEmpty && deafness.count == knownReceivers.count }
        return deafness[holder] != nil
    }

    func isLastinglyDeaf(_ holder: ReceiverID?) -> Bool {
        guard let holder else { return isDeaf(nil) && deafness.values.allSatisfy(\.isLasting) }
        return deafness[holder]?.isLasting == true
    }

    /// Reviews all conditions after a change of hearing, in the order in which they were added.
    mutating func reviewAll() {
        for id in conditions.keys.sorted() { review(id) }
    }

    mutating func review(_ id: ConditionID) {
        guard let condition = conditions[id] else { return }
        switch condition.phase {
        case .settled:
            let holder = engine.holder(of: condition.engineID)
            if condition.known != .unknown, isLastinglyDeaf(holder) { beginOutage(of: id, holder: holder) }
        case .deaf(let holder):
            if !isDeaf(holder) { beginComparison(of: id, holder: holder) }
        case .comparing(let holder):
            if isDeaf(holder) { waitForBeacon(of: id, holder: holder) }
        }
    }

    /// Publishes a region as unknown, since all receivers whose silence would prove anything about it are deaf.
    mutating func beginOutage(of id: ConditionID, holder: ReceiverID?) {
        waitForBeacon(of: id, holder: holder)
        guard let condition = conditions[id], condition.published != .unknown else { return }
        conditions[id]?.published = .unknown
        let time = Timestamp(nanoseconds: max(newest, 0))
        events.append(
            .state(
                ConditionChange(
                    condition: id, kind: .state, state: .unknown, before: condition.known, time: time,
                    wallTime: wall(time, of: holder), receiver: nil, identity: nil)))
    }

    /// Waits for a beacon of a region without a limit: silence proves nothing.
    mutating func waitForBeacon(of id: ConditionID, holder: ReceiverID?) {
        guard var region = conditions[id]?.region else { return }
        region.ignoresSilence = true
        replace(id, by: comparable(region, of: id), assuming: .unknown, phase: .deaf(holder))
    }

    /// Waits the usual time for a beacon of a region, since a receiver hears again.
    mutating func beginComparison(of id: ConditionID, holder: ReceiverID?) {
        guard let region = conditions[id]?.region else { return }
        replace(id, by: comparable(region, of: id), assuming: .unknown, heldBy: holder, phase: .comparing(holder))
    }

    /// Returns a region for the comparison. A region that was inside uses its thresholds for staying inside, not those
    /// for entering.
    func comparable(_ region: MonitoredRegion, of id: ConditionID) -> MonitoredRegion {
        var region = region
        if conditions[id]?.known == .inside {
            region.minimumRSSI = region.exitRSSI
            region.entersAsKept = true
        }
        return region
    }

    mutating func replace(
        _ id: ConditionID, by region: MonitoredRegion, assuming state: RegionState, heldBy holder: ReceiverID? = nil,
        phase: Phase
    ) {
        guard let old = conditions[id]?.engineID else { return }
        engine.stopMonitoring(old)
        conditionsByRegion[old] = nil
        let new = engine.startMonitoring(region, assuming: state, heldBy: holder)
        conditionsByRegion[new] = id
        conditions[id]?.engineID = new
        conditions[id]?.phase = phase
    }
}
