import BeaconModel

extension SuspicionDetector {
    /// The time for which two devices must be heard in turns if they are too far apart for lateness to explain it, and
    /// the time for which a beacon that moved too fast must be heard at its new place.
    static let shortTime = 6 * second
    static let stayingTime = 5 * second
    /// The alternations that are then required.
    static let fewTurns = 3
    /// The time for which a beacon's position is remembered.
    static let memory = 3600 * second
    /// The maximum number of receivers that are tracked for an identity.
    static let maximumFixes = 12

    /// Returns the level in dBm that a record's beacon has at one meter.
    private func power(in place: Int) -> Float {
        if !calibrations.isEmpty, let calibration = calibrations[records[place].identity] {
            return Float(calibration.power)
        }
        // A claim of less than the usual power may be a wrong setting. Nothing is stronger than 20 dBm (Core
        // Specification, Vol 6, Part A, 3). A beacon with 20 dBm has the level of one with 0 dBm plus 20 dB.
        let usual = Float(IBeaconFrame.defaultMeasuredPower)
        return min(max(Float(records[place].power.assumed), usual), usual + 20)
    }

    /// Checks the level of an advert.
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

    /// Returns the distance in meters from the receiver within which the beacon of a triple can be now.
    func bound(of triple: Triple, at time: Int64) -> Float {
        Radii.radius(triple.loss + margin) + fastest * Float(max(time - triple.newest, 0)) / Float(Self.second)
    }

    /// Returns the distance in meters from its receiver within which the beacon of a fix can be now.
    func bound(of fix: Fix, at time: Int64) -> Float {
        let recent =
            Radii.radius(fix.leastLoss + margin)
            + fastest * Float(max(time - fix.recent.newest, 0)) / Float(Self.second)
        return fix.best.map { min(recent, bound(of: $0, at: time)) } ?? recent
    }

    /// Returns the index of a receiver's fix of an identity. If there are too many, a new fix with a tighter bound
    /// replaces the loosest one. Nil if its bound is not tighter.
    mutating func fix(of receiver: ReceiverID, in place: Int, hearing loss: Float, at time: Int64) -> Int? {
        if let known = records[place].fixes.firstIndex(where: { $0.receiver == receiver.index }) { return known }
        let new = Fix(receiver: receiver.index, address: DeviceAddress(bits: 0, kind: .anonymous))
        if records[place].fixes.count < Self.maximumFixes {
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

    /// Returns the contradiction between two triples; nil if one device may have sent both.
    func gap(from a: Triple, at first: UInt16, to b: Triple, at second: UInt16) -> Gap? {
        guard let from = receivers[Int(first)].position, let to = receivers[Int(second)].position,
            abs(b.newest - a.newest) <= Self.memory
        else { return nil }
        let distance = Float(from.distance(to: to))
        // One of the other three adverts must contradict each of the three: a single wrong reading proves nothing.
        var least: Gap?
        for (mine, others) in [(a, b), (b, a)] {
            for index in 0..<3 {
                var most: Gap?
                for other in 0..<3 {
                    let (one, two) = (mine.hearings[index], others.hearings[other])
                    let meters = distance - Radii.radius(one.loss + margin) - Radii.radius(two.loss + margin)
                    let seconds = Float(abs(one.time - two.time)) / Float(Self.second)
                    let excess = meters - fastest * seconds
                    if excess > most?.excess ?? -.infinity {
                        most = Gap(excess: excess, meters: meters, seconds: seconds, distance: distance)
                    }
                }
                guard let most, most.excess > 0 else { return nil }
                if most.excess < least?.excess ?? .infinity { least = most }
            }
        }
        return least
    }

    /// Returns true if a receiver's newest adverts contradict those that another receiver has heard of an identity.
    func contradicts(_ fix: Int, _ other: ReceiverID, of place: Int) -> Bool {
        let heard = records[place].fixes[fix]
        guard heard.receiver != other.index,
            let known = records[place].fixes.first(where: { $0.receiver == other.index })?.best
        else { return false }
        return gap(from: known, at: other.index, to: heard.recent, at: heard.receiver) != nil
    }

    /// The excess in meters that late messages cannot explain.
    private var lateMeters: Float { fastest * Float(Self.lastingTime / Self.second) }

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
            // It has moved again: back to where it came from, or to a third place.
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
                || gap.excess > lateMeters && conflict.turns.reach(Self.fewTurns, at: time, over: Self.shortTime)
        else { return }
        records[place].conflict = nil
        report(
            Suspicion(
                time: Timestamp(nanoseconds: time), identity: records[place].identity, reason: .apart,
                first: sides.0, second: sides.1, distance: Double(gap.distance),
                seconds: Double(time - conflict.turns.began) / Double(Self.second)),
            of: place)
    }

    /// Decides contradictions after which a beacon did not return: it was too fast, or its messages were late.
    mutating func decide(at time: Int64) {
        let due = undecided.filter { $0.due <= time }
        undecided.removeAll { $0.due <= time }
        nextDue = undecided.map(\.due).min() ?? .max
        for (place, due) in due {
            guard let conflict = records[place].conflict, !conflict.hasReturned, !conflict.isDecided else { continue }
            records[place].conflict?.isDecided = true
            // Adverts that all arrive at once after an outage are not a stay.
            guard conflict.gap.excess > lateMeters, conflict.arrived - (due - Self.lastingTime) >= Self.stayingTime
            else { continue }
            report(
                Suspicion(
                    time: Timestamp(nanoseconds: due), identity: records[place].identity, reason: .speed,
                    first: conflict.first, second: conflict.second, distance: Double(conflict.gap.distance),
                    seconds: Double(conflict.gap.seconds),
                    speed: Double(conflict.gap.meters / max(conflict.gap.seconds, 1))),
                of: place)
        }
    }
}
