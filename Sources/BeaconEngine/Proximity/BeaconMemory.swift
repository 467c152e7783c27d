import BeaconModel

/// The memory that ``ProximityMachine`` has of one beacon.
struct BeaconMemory: Sendable {
    /// The time beyond a stay for which an app has to report nothing of it: after that, a report is of another visit. A
    /// choice: as long as an event of an app is not late for a rule.
    private static let longestSilence = 600 * Timestamp.nanosecondsPerSecond

    /// A stretch of being at least as near as a condition asks for.
    private struct Visit: Sendable {
        var began: Timestamp
        /// The newest moment when it was known to be so near; for a beacon that still is, the moment it came.
        var seen: Timestamp
        var wasMet = false
    }

    /// The newest notification.
    private struct Reported: Sendable {
        var proximity: Proximity?
        /// The end of the cool-down; nil where it is over.
        var end: Timestamp?
    }

    let beacon: BeaconIdentity
    /// When something was reported of it last.
    private(set) var changed = Timestamp.zero
    private var state = ProximityChange.State.gone
    private var lasts = true
    private var visits: [ProximityCondition: Visit] = [:]
    /// The proximity that was known last; nil where it is gone.
    private var known: Proximity?
    private var reported: Reported?

    init(of beacon: BeaconIdentity) { self.beacon = beacon }

    var isGone: Bool { state == .gone }

    /// Returns true for a beacon that is gone, and that would be a new one if it came back.
    func isOver(at time: Timestamp) -> Bool { isGone && next <= time }

    /// The earliest moment at which something may be due, or at which one that is gone is forgotten.
    var next: Timestamp {
        if isGone {
            let visit = visits.values.lazy.map(\.seen).max()?.advanced(by: ProximityMachine.patience)
            return max(visit ?? .zero, reported?.end ?? .zero)
        }
        var next = state == .doubtful ? .latest : reported?.end ?? .latest
        for (condition, visit) in visits { next = min(next, due(condition, visit) ?? .latest) }
        return next
    }

    /// Returns the end of a stay's time; nil where it is over or was met, or where an app has not said that it goes on.
    private func due(_ condition: ProximityCondition, _ visit: Visit) -> Timestamp? {
        guard case .near(let proximity, for: let duration) = condition, lasts, !visit.wasMet,
            state.rank >= proximity.rank
        else { return nil }
        return visit.began.advanced(by: duration.boundedNanoseconds)
    }

    /// Receives a change; what was due before has happened.
    mutating func receive(_ change: ProximityChange, for conditions: [ProximityCondition]) -> [ProximityMatch] {
        let before = state
        if before == .gone, change.state == .doubtful { return [] }
        (state, lasts, changed) = (change.state, change.lasts, change.time)
        return conditions.filter { condition in
            switch condition {
            // Of whom an app says that it is gone, it has been there.
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

    /// Notes whether it is as near as a condition asks for.
    ///
    /// - Returns: true where it has lasted for its time now.
    private mutating func visit(
        _ condition: ProximityCondition, _ rank: Int, _ duration: Int64, _ change: ProximityChange,
        before: ProximityChange.State
    ) -> Bool {
        let (time, old) = (change.time, visits[condition])
        guard state.rank >= rank else {
            // An app was last known to be there when it said so.
            if lasts, before.rank >= rank, let old { visits[condition]?.seen = max(change.heldUntil, old.began) }
            return false
        }
        let silence = time.since(old?.seen ?? time)
        let isOver =
            if before.rank < rank {
                silence >= ProximityMachine.patience
            } else if lasts {
                false
            } else {
                // An app repeats itself for a stay and for another visit alike.
                duration > 0
                    ? silence > duration + Self.longestSilence
                    : before == state && silence >= ProximityMachine.patience
            }
        var visit = Visit(began: time, seen: time)
        if let old, !isOver { visit = Visit(began: old.began, seen: time, wasMet: old.wasMet) }
        let isMet = !visit.wasMet && time.since(visit.began) >= duration
        if isMet { visit.wasMet = true }
        visits[condition] = visit
        return isMet
    }

    /// Notes a proximity to notify of.
    ///
    /// - Returns: true where there is one to notify of.
    private mutating func markReported(at time: Timestamp, atLeast: Proximity, coolDown: Duration, hasGone: Bool) -> Bool {
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
        reported = Reported(proximity: known, end: coolDown > .zero ? time.advanced(by: coolDown.boundedNanoseconds) : nil)
        return true
    }

    /// Returns what was due by a moment.
    mutating func advance(to time: Timestamp, for conditions: [ProximityCondition]) -> [ProximityMatch] {
        guard !isGone, next <= time else { return [] }
        return conditions.compactMap { condition -> ProximityMatch? in
            if case .change(let atLeast, let coolDown, let hasGone) = condition {
                guard let end = reported?.end, end <= time, state != .doubtful else { return nil }
                // The next cool-down begins with the notification, which is sent now.
                let isMet = markReported(at: time, atLeast: atLeast, coolDown: coolDown, hasGone: hasGone)
                return isMet ? match(end, condition) : nil
            }
            guard let visit = visits[condition], let end = due(condition, visit), end <= time else { return nil }
            visits[condition]?.wasMet = true
            return match(end, condition)
        }
    }
}
