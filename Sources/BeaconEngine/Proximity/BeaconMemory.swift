import BeaconModel

/// The state of ``ProximityMachine`` for one beacon.
struct BeaconMemory: Sendable, Codable {
    /// The time without an app's report, beyond the duration of a stay, that separates two visits. It is a choice: as
    /// long as an app's event may be late for a rule.
    private static let longestSilence = 600 * Timestamp.nanosecondsPerSecond

    /// A period in which the beacon is at least as near as a condition requires.
    private struct Visit: Sendable, Codable {
        var began: Timestamp
        /// The newest time at which it was known to be so near; for a beacon that still is, the time of its arrival.
        var seen: Timestamp
        var wasMet = false
        /// True if it was so near before the doubt.
        var isDoubted = false
    }

    /// The newest notification.
    private struct Reported: Sendable, Codable {
        var proximity: Proximity?
        /// The end of the cool-down; nil if it is over.
        var end: Timestamp?
    }

    private(set) var beacon: BeaconIdentity
    /// The time of the newest change.
    private(set) var changed = Timestamp.zero
    private var state = ProximityChange.State.gone
    private var lasts = true
    private var visits: [ProximityCondition: Visit] = [:]
    /// The last known proximity; nil if the beacon is gone.
    private var known: Proximity?
    private var reported: Reported?

    init(of beacon: BeaconIdentity) { self.beacon = beacon }

    /// Returns the state as that of another beacon.
    func renamed(_ beacon: BeaconIdentity) -> BeaconMemory {
        var memory = self
        memory.beacon = beacon
        return memory
    }

    var isGone: Bool { state == .gone }

    /// Returns true if a beacon is gone and would count as new when it returns.
    func isOver(at time: Timestamp) -> Bool { isGone && next <= time }

    /// The earliest time at which something may be due, or at which a beacon that is gone is forgotten.
    var next: Timestamp {
        if isGone {
            let visit = visits.values.lazy.map(\.seen).max()?.advanced(by: ProximityMachine.patience)
            return max(visit ?? .zero, reported?.end ?? .zero)
        }
        var next = state == .doubtful ? .latest : reported?.end ?? .latest
        for (condition, visit) in visits { next = min(next, due(condition, visit) ?? .latest) }
        return next
    }

    /// Returns the end of a stay's duration; nil if the stay is over or already met, or if an app has not confirmed it.
    private func due(_ condition: ProximityCondition, _ visit: Visit) -> Timestamp? {
        guard case .near(let proximity, for: let duration) = condition, lasts, !visit.wasMet,
            state.rank >= proximity.rank
        else { return nil }
        return visit.began.advanced(by: duration.boundedNanoseconds)
    }

    /// Receives a change. Everything that was due before it has been processed.
    mutating func receive(_ change: ProximityChange, for conditions: [ProximityCondition]) -> [ProximityMatch] {
        let before = state
        if before == .gone, change.state == .doubtful { return [] }
        (state, lasts, changed) = (change.state, change.lasts, change.time)
        return conditions.filter { condition in
            switch condition {
            // If an app reports that a beacon is gone, the beacon must have been there before.
            case .gone: state == .gone && (before != .gone || !lasts)
            case .near(let proximity, for: let duration):
                visit(condition, proximity.rank, duration.boundedNanoseconds, change, before: before)
            case .change(let atLeast, let coolDown, let hasGone):
                markReported(at: change.time, atLeast: atLeast, coolDown: coolDown, hasGone: hasGone)
            }
        }.map { match(change.time, $0) }
    }

    private func match(_ time: Timestamp, _ condition: ProximityCondition) -> ProximityMatch {
        ProximityMatch(time: time, condition: condition, beacon: beacon, proximity: state.proximity)
    }

    /// Notes whether the beacon is as near as a condition requires.
    ///
    /// - Returns: true if the stay has now lasted for its duration.
    private mutating func visit(
        _ condition: ProximityCondition, _ rank: Int, _ duration: Int64, _ change: ProximityChange,
        before: ProximityChange.State
    ) -> Bool {
        let (time, old) = (change.time, visits[condition])
        guard state.rank >= rank else {
            // An app's last report is the last time at which the beacon is known to have been there.
            if lasts, before.rank >= rank, let old {
                visits[condition]?.seen = max(change.heldUntil, old.began)
                visits[condition]?.isDoubted = state == .doubtful
            } else if state != .doubtful {
                visits[condition]?.isDoubted = false
            }
            return false
        }
        let silence = time.since(old?.seen ?? time)
        let isOver =
            if before.rank < rank {
                silence >= ProximityMachine.patience
            } else if lasts {
                false
            } else {
                // A repeated report from an app can mean a longer stay or another visit.
                duration > 0
                    ? silence > duration + Self.longestSilence
                    : before == state && silence >= ProximityMachine.patience
            }
        var visit = Visit(began: time, seen: time)
        if let old, !isOver { visit = Visit(began: old.began, seen: time, wasMet: old.wasMet) }
        // A beacon that is as near as before the doubt has not come.
        if let old, old.isDoubted { visit.wasMet = old.wasMet }
        let isMet = !visit.wasMet && time.since(visit.began) >= duration
        if isMet { visit.wasMet = true }
        visits[condition] = visit
        return isMet
    }

    /// Notes a proximity change to notify of.
    ///
    /// - Returns: true if a notification is due.
    private mutating func markReported(at time: Timestamp, atLeast: Proximity, coolDown: Duration, hasGone: Bool)
        -> Bool
    {
        guard state != .doubtful else { return false }
        let before = known
        known = state.proximity
        guard let known else {
            guard hasGone, reported?.proximity != nil else { return false }
            reported?.proximity = nil
            return true
        }
        if let end = reported?.end, time < end { return false }
        let isNew = known != before || reported?.end != nil && known != reported?.proximity
        reported?.end = nil
        guard isNew, known.rank >= atLeast.rank else { return false }
        reported = Reported(
            proximity: known, end: coolDown > .zero ? time.advanced(by: coolDown.boundedNanoseconds) : nil)
        return true
    }

    /// Returns the matches that were due up to a time.
    mutating func advance(to time: Timestamp, for conditions: [ProximityCondition]) -> [ProximityMatch] {
        guard !isGone, next <= time else { return [] }
        return conditions.compactMap { condition -> ProximityMatch? in
            if case .change(let atLeast, let coolDown, let hasGone) = condition {
                guard let end = reported?.end, end <= time, state != .doubtful else { return nil }
                // The next cool-down begins with this notification.
                let isMet = markReported(at: time, atLeast: atLeast, coolDown: coolDown, hasGone: hasGone)
                return isMet ? match(end, condition) : nil
            }
            guard let visit = visits[condition], let end = due(condition, visit), end <= time else { return nil }
            visits[condition]?.wasMet = true
            return match(end, condition)
        }
    }
}
