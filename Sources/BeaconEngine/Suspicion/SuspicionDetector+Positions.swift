import BeaconModel

extension SuspicionDetector {
    /// For how long two devices have to be heard in turns that are so far apart that lateness does not explain it, and
    /// for how long one that came too fast has to be heard where it came to.
    static let shortTime = 6 * second
    static let stayingTime = 5 * second
    /// The turns that there have to be then.
    static let fewTurns = 3
    /// The time for which it is known where a beacon was.
    static let memory = 3600 * second
    /// The receivers of an identity that are followed.
    static let mostFixes = 12

    /// Returns the level in dBm that the beacon of a record has at one metre.
    private func power(in place: Int) -> Float {
        if !calibrations.isEmpty, let calibration = calibrations[records[place].identity] {
            return Float(calibration.power)
        }
        // What says that it is weaker than usual may have been set up wrongly; nothing is stronger than 20 dBm (Core
        // Specification, Vol 6, Part A, 3), with which a beacon has what one of 0 dBm has and 20 dB.
        let usual = Float(IBeaconFrame.defaultMeasuredPower)
        return min(max(Float(records[place].power.assumed), usual), usual + 20)
    }

    /// Looks at the level of an advert.
    mutating func receiveLevel(_ sighting: Sighting, in place: Int) {
        let index = Int(sighting.receiver.index)
        guard let reading = sighting.rssi.dBm, index < receivers.count, receivers[index].position != nil else { return }
        let time = sighting.time.nanoseconds
        let loss = power(in: place) - Float(reading) + receivers[index].offset
        guard let fix = fix(of: sighting.receiver, in: place, hearing: loss, at: time) else { return }
        records[place].fixes[fix].address = sighting.address
        guard records[place].fixes[fix].hear(loss, at: time) else { return }
        let recent = records[place].fixes[fix].recent
        var widest: (gap: Gap, other: Int)?
        for other in records[place].fixes.indices where other != fix {
            guard let best = records[place].fixes[other].best,
                let gap = gap(
                    from: best, at: records[place].fixes[other].receiver, to: recent, at: sighting.receiver.index),
                gap.excess > widest?.gap.excess ?? 0
            else { continue }
            widest = (gap, other)
        }
        let best = records[place].fixes[fix].best
        if best.map({ bound(of: recent, at: time) <= bound(of: $0, at: time) }) ?? true {
            records[place].fixes[fix].best = recent
        }
        if let widest { note(widest.gap, from: widest.other, to: fix, of: place, at: time) }
    }

    /// Returns the metres around the receiver within which a beacon can be now that made a triple.
    func bound(of triple: Triple, at time: Int64) -> Float {
        Radii.radius(triple.loss + margin) + fastest * Float(max(time - triple.newest, 0)) / Float(Self.second)
    }

    /// Returns the metres around its receiver within which a beacon can be now of which this was heard.
    func bound(of fix: Fix, at time: Int64) -> Float {
        let recent =
            Radii.radius(fix.leastLoss + margin)
            + fastest * Float(max(time - fix.recent.newest, 0)) / Float(Self.second)
        return fix.best.map { min(recent, bound(of: $0, at: time)) } ?? recent
    }

    /// Returns the place of what a receiver heard of an identity. Where there are many, one that says more takes the
    /// place of the one that says least; nil where it does not.
    mutating func fix(of receiver: ReceiverID, in place: Int, hearing loss: Float, at time: Int64) -> Int? {
        if let known = records[place].fixes.firstIndex(where: { $0.receiver == receiver.index }) { return known }
        let new = Fix(receiver: receiver.index, address: DeviceAddress(bits: 0, kind: .anonymous))
        if records[place].fixes.count < Self.mostFixes {
            records[place].fixes.append(new)
            return records[place].fixes.count - 1
        }
        var loosest = 0
        for index in 1..<records[place].fixes.count
        where bound(of: records[place].fixes[index], at: time) > bound(of: records[place].fixes[loosest], at: time) {
            loosest = index
        }
        guard bound(of: records[place].fixes[loosest], at: time) > Radii.radius(loss + margin) else { return nil }
        records[place].fixes[loosest] = new
        return loosest
    }

    /// Returns what lies between two triples; nil where one device may have made both.
    func gap(from a: Triple, at first: UInt16, to b: Triple, at second: UInt16) -> Gap? {
        guard let from = receivers[Int(first)].position, let to = receivers[Int(second)].position,
            abs(b.newest - a.newest) <= Self.memory
        else { return nil }
        let distance = Float(from.distance(to: to))
        // Each of the three has to be contradicted by one of the others: a single wrong reading says nothing.
        var least: Gap?
        for (mine, others) in [(a, b), (b, a)] {
            for index in 0..<3 {
                var most: Gap?
                for other in 0..<3 {
                    let (one, two) = (mine.hearings[index], others.hearings[other])
                    let metres = distance - Radii.radius(one.loss + margin) - Radii.radius(two.loss + margin)
                    let seconds = Float(abs(one.time - two.time)) / Float(Self.second)
                    let excess = metres - fastest * seconds
                    if excess > most?.excess ?? -.infinity {
                        most = Gap(excess: excess, metres: metres, seconds: seconds, distance: distance)
                    }
                }
                guard let most, most.excess > 0 else { return nil }
                if most.excess < least?.excess ?? .infinity { least = most }
            }
        }
        return least
    }

    /// Returns whether what was heard last at a receiver contradicts what another has heard of an identity.
    func contradicts(_ fix: Int, _ other: ReceiverID, of place: Int) -> Bool {
        let heard = records[place].fixes[fix]
        guard heard.receiver != other.index,
            let known = records[place].fixes.first(where: { $0.receiver == other.index })?.best
        else { return false }
        return gap(from: known, at: other.index, to: heard.recent, at: heard.receiver) != nil
    }

    /// The metres that are too many for messages that were late.
    private var lateMetres: Float { fastest * Float(Self.lastingTime / Self.second) }

    /// Notes a contradiction.
    mutating func note(_ gap: Gap, from first: Int, to second: Int, of place: Int, at time: Int64) {
        let (a, b) = (records[place].fixes[first], records[place].fixes[second])
        let sides = (
            Suspicion.Side(receiver: ReceiverID(a.receiver), address: a.address),
            Suspicion.Side(receiver: ReceiverID(b.receiver), address: b.address)
        )
        guard var conflict = records[place].conflict, time - conflict.newest <= Self.forgetting else {
            records[place].conflict = Conflict(
                newest: time, turns: Turns(at: time), arrived: time, first: sides.0, second: sides.1, gap: gap)
            undecided.removeAll { $0.record == place }
            undecided.append((place, time + Self.lastingTime))
            nextDue = min(nextDue, time + Self.lastingTime)
            return
        }
        conflict.newest = max(conflict.newest, time)
        if contradicts(second, conflict.second.receiver, of: place) {
            // It is elsewhere again: where it came from, or at a third place.
            if !contradicts(second, conflict.first.receiver, of: place) { conflict.hasReturned = true }
            conflict.turns = conflict.turns.noting(at: time, within: Self.lastingTime)
            (conflict.first, conflict.second) = sides
            if !conflict.hasReturned { conflict.arrived = time }
        } else if !conflict.hasReturned {
            conflict.arrived = max(conflict.arrived, time)
        }
        if !conflict.hasReturned, gap.excess > conflict.gap.excess { conflict.gap = gap }
        records[place].conflict = conflict
        guard
            conflict.turns.reach(Self.leastTurns, at: time, over: Self.lastingTime)
                || gap.excess > lateMetres && conflict.turns.reach(Self.fewTurns, at: time, over: Self.shortTime)
        else { return }
        records[place].conflict = nil
        report(
            Suspicion(
                time: Timestamp(nanoseconds: time), identity: records[place].identity, reason: .apart,
                first: sides.0, second: sides.1, distance: Double(gap.distance),
                seconds: Double(time - conflict.turns.began) / Double(Self.second)),
            of: place)
    }

    /// Decides on contradictions after which a beacon did not come back: it was too fast, or its messages were late.
    mutating func decide(at time: Int64) {
        let due = undecided.filter { $0.due <= time }
        undecided.removeAll { $0.due <= time }
        nextDue = undecided.map(\.due).min() ?? .max
        for (place, due) in due {
            guard let conflict = records[place].conflict, !conflict.hasReturned, !conflict.isDecided else { continue }
            records[place].conflict?.isDecided = true
            // What comes at once after an outage is no stay.
            guard conflict.gap.excess > lateMetres, conflict.arrived - (due - Self.lastingTime) >= Self.stayingTime
            else { continue }
            report(
                Suspicion(
                    time: Timestamp(nanoseconds: due), identity: records[place].identity, reason: .speed,
                    first: conflict.first, second: conflict.second, distance: Double(conflict.gap.distance),
                    seconds: Double(conflict.gap.seconds),
                    speed: Double(conflict.gap.metres / max(conflict.gap.seconds, 1))),
                of: place)
        }
    }
}
