import BeaconModel

/// The memory that ``ProximityMachine`` has of one beacon.
struct BeaconMemory: Sendable {
    private struct Claim: Sendable {
        var receiver: ProximityChange.Receiver
        var proximity: Proximity
        var time: Timestamp
        var isDoubtful = false
        /// The order of nearness. Nobody knows where a doubtful one is.
        var rank: Int { isDoubtful ? 0 : proximity.rank }
    }

    /// A stretch of being at least as near as a condition asks for.
    private struct Visit: Sendable {
        var condition: ProximityCondition
        var began: Timestamp
        /// The newest moment at which it was so near; nil while it is.
        var seen: Timestamp?
        /// True where it was reported to be less near since.
        var isLeft = false
        var wasTold = false

        /// The end of its time; nil where it is over or was reported, or where an app has not said that it goes on.
        var due: Timestamp? {
            guard !wasTold, seen == nil, case .near(_, for: let duration) = condition else { return nil }
            return began.advanced(by: duration.boundedNanoseconds)
        }
    }

    /// The newest notification.
    private struct Told: Sendable {
        var proximity: Proximity?
        /// The end of the cool-down.
        var end: Timestamp
        /// True while a change waits for it.
        var isWaiting = false
    }

    /// When something was reported of it last.
    private(set) var seen: Timestamp
    private var claims: [Claim] = []
    private var visits: [Visit] = []
    /// The proximity that was known last; nil where it is gone.
    private var known: Proximity?
    private var told: Told?

    /// Creates the memory of a beacon of which nothing was reported.
    init(seen: Timestamp) { self.seen = seen }

    /// True where no receiver lists it.
    var isGone: Bool { claims.isEmpty }

    /// The earliest moment at which something may be due.
    var next: Timestamp {
        if isGone { return end }
        let telling = told.flatMap { $0.isWaiting && nearest?.isDoubtful == false ? $0.end : nil }
        return min(visits.lazy.compactMap(\.due).min() ?? .latest, telling ?? .latest)
    }

    /// Returns true for a beacon that is gone, and that would be a new one if it came back.
    func isOver(at time: Timestamp) -> Bool { isGone && end <= time }

    /// The moment until which a beacon that is gone is remembered.
    private var end: Timestamp {
        let visit = visits.lazy.compactMap(\.seen).max()?.advanced(by: ProximityTimes.patience)
        return max(visit ?? .zero, told?.end ?? .zero)
    }

    /// The nearest of those who claim that it is there; of equal ones, the first.
    private var nearest: Claim? {
        claims.reduce(nil as Claim?) { best, claim in
            if let best, best.rank >= claim.rank { best } else { claim }
        }
    }

    // MARK: - Changes

    /// Receives a change; what was due before has happened.
    mutating func receive(
        _ change: ProximityChange, at time: Timestamp, for conditions: [ProximityCondition]
    ) -> [ProximityMoment] {
        seen = time
        let wasThere = !isGone
        let before = claims.first { $0.receiver == change.receiver }
        claim(change, at: time)
        let nearest = nearest
        // A beacon that is reported again as before was away in between, unless the report is only a repetition.
        let isBack =
            before.map { before in
                change.state == .at(before.proximity) && !before.isDoubtful
                    && time.since(before.time) >= ProximityTimes.patience
            } ?? false
        return conditions.filter { condition in
            switch condition {
            case .gone: return wasThere && nearest == nil
            case .near(let proximity, for: let duration):
                let index = visits.firstIndex { $0.condition == condition }
                if let nearest, nearest.rank >= proximity.rank {
                    return visit(condition, index, change, at: time, for: duration.boundedNanoseconds, isBack: isBack)
                }
                if let index { leave(index, change) }
                return false
            case .change(let atLeast, let coolDown, let hasGone):
                return tell(nearest, at: time, atLeast: atLeast, coolDown: coolDown, hasGone: hasGone)
            }
        }.map { condition in
            ProximityMoment(
                time: time, condition: condition, beacon: change.beacon,
                receiver: nearest?.receiver ?? change.receiver, proximity: nearest?.proximity)
        }
    }

    private mutating func claim(_ change: ProximityChange, at time: Timestamp) {
        let index = claims.firstIndex { $0.receiver == change.receiver }
        switch change.state {
        case .at(let proximity):
            let claim = Claim(receiver: change.receiver, proximity: proximity, time: time)
            if let index { claims[index] = claim } else { claims.append(claim) }
        case .doubtful:
            if let index { claims[index].isDoubtful = true }
        case .gone:
            if let index { claims.remove(at: index) }
        }
        // A beacon that is heard elsewhere is no longer doubtful.
        if claims.contains(where: { !$0.isDoubtful }) { claims.removeAll(where: \.isDoubtful) }
    }

    private mutating func leave(_ index: Int, _ change: ProximityChange) {
        visits[index].isLeft = true
        // An app was last known to be there when it said so.
        if visits[index].seen == nil { visits[index].seen = max(change.heldUntil, visits[index].began) }
    }

    /// Notes that it is as near as a condition asks for.
    ///
    /// - Returns: true where it has lasted for its time now.
    private mutating func visit(
        _ condition: ProximityCondition, _ index: Int?, _ change: ProximityChange, at time: Timestamp,
        for duration: Int64, isBack: Bool
    ) -> Bool {
        var visit = index.map { visits[$0] } ?? Visit(condition: condition, began: time)
        let silence = visit.seen.map { time.since($0) } ?? 0
        let isOver =
            if change.lasts {
                isBack || silence >= ProximityTimes.patience
            } else if visit.isLeft {
                silence >= ProximityTimes.patience
            } else {
                // An app repeats itself for a stay and for another visit alike.
                duration == 0 ? isBack : silence > duration + ProximityTimes.silence
            }
        if isOver { visit = Visit(condition: condition, began: time) }
        visit.seen = change.lasts ? nil : time
        visit.isLeft = false
        let isDue = !visit.wasTold && time.since(visit.began) >= duration
        if isDue { visit.wasTold = true }
        if let index { visits[index] = visit } else { visits.append(visit) }
        return isDue
    }

    /// Notes a proximity to notify of.
    ///
    /// - Returns: true where there is one to notify of.
    private mutating func tell(
        _ nearest: Claim?, at time: Timestamp, atLeast: Proximity, coolDown: Duration, hasGone: Bool
    ) -> Bool {
        guard let nearest else {
            known = nil
            told?.isWaiting = false
            guard hasGone, told?.proximity != nil else { return false }
            told?.proximity = nil
            return true
        }
        guard !nearest.isDoubtful else { return false }
        let isNew = nearest.proximity != known
        known = nearest.proximity
        guard nearest.proximity.rank >= atLeast.rank else { return false }
        if let told, time < told.end {
            self.told?.isWaiting = told.isWaiting || isNew
            return false
        }
        guard isNew || told?.isWaiting == true && told?.proximity != known else { return false }
        told = Told(proximity: known, end: time.advanced(by: coolDown.boundedNanoseconds))
        return true
    }

    // MARK: - Deadlines

    /// Returns what was due by a moment.
    mutating func advance(
        to time: Timestamp, _ identity: BeaconIdentity, for conditions: [ProximityCondition]
    ) -> [ProximityMoment] {
        guard let nearest, next <= time else { return [] }
        return conditions.compactMap { condition in
            var due: Timestamp?
            if case .change(let atLeast, let coolDown, _) = condition {
                due = toldAgain(nearest, by: time, atLeast: atLeast, coolDown: coolDown)
            } else if let index = visits.firstIndex(where: { $0.condition == condition }),
                let end = visits[index].due, end <= time
            {
                visits[index].wasTold = true
                due = end
            }
            return due.map {
                ProximityMoment(
                    time: $0, condition: condition, beacon: identity, receiver: nearest.receiver,
                    proximity: nearest.proximity)
            }
        }
    }

    /// Returns the end of a cool-down that a change has waited for, where it still holds.
    private mutating func toldAgain(
        _ nearest: Claim, by time: Timestamp, atLeast: Proximity, coolDown: Duration
    ) -> Timestamp? {
        guard let told, told.isWaiting, told.end <= time, !nearest.isDoubtful else { return nil }
        self.told?.isWaiting = false
        guard told.proximity != known, nearest.proximity.rank >= atLeast.rank else { return nil }
        self.told = Told(proximity: known, end: told.end.advanced(by: coolDown.boundedNanoseconds))
        return told.end
    }
}
