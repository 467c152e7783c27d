import BeaconModel

/// The places as a beacon stands to them in one second.
struct PlaceStanding {
    /// The level in each place, in dBm; ``silent`` where the beacon is not heard there.
    var levels: [Float]
    /// The number of the receiver that has it; -1 for none.
    var receivers: [Int]
    /// How many receivers of each place hear the beacon.
    var ears: [Int]
    /// The place that leads and the next one; nil where the beacon is heard in none, or in no other.
    var best: Int?
    var second: Int?

    /// The level of a place in which a beacon is not heard, in dBm: weaker than any.
    static let silent: Float = -256

    init(placeCount: Int) {
        levels = Array(repeating: Self.silent, count: placeCount)
        receivers = Array(repeating: -1, count: placeCount)
        ears = Array(repeating: 0, count: placeCount)
    }

    /// Forgets everything.
    mutating func clear() {
        for place in levels.indices { (levels[place], receivers[place], ears[place]) = (Self.silent, -1, 0) }
        (best, second) = (nil, nil)
    }

    /// Takes in the level at a receiver of a place.
    mutating func add(_ level: Float, at receiver: Int, in place: Int) {
        ears[place] += 1
        guard level > levels[place] else { return }
        (levels[place], receivers[place]) = (level, receiver)
    }

    /// Finds the place that leads and the next one. Of equals, the first counts.
    mutating func rank() {
        for place in levels.indices where receivers[place] >= 0 {
            if levels[place] > best.map({ levels[$0] }) ?? -.infinity {
                (best, second) = (place, best)
            } else if levels[place] > second.map({ levels[$0] }) ?? -.infinity {
                second = place
            }
        }
    }
}

extension PlaceTracker {
    /// The hearing of a receiver in one second.
    enum Hearing {
        /// Its silence says that there is nothing to hear.
        case hearing
        /// It hears nothing just now: what it said last stands.
        case interrupted
        /// It has heard nothing for so long, or is not there, that it has no say.
        case deaf
    }

    /// The seconds for which a beacon that is nowhere is remembered.
    private static var retention: Int32 { 300 }

    /// Ends a second: levels take in what was heard, and each beacon's place is decided.
    ///
    /// - Parameters:
    ///   - tick: the second.
    ///   - hearing: the hearing of each of the map's receivers in it.
    ///   - report: called with each change.
    mutating func decide(at tick: Int64, hearing: [Hearing], report: (PlaceChange) -> Void) {
        isBusy = false
        guard !slots.isEmpty else { return }
        let air = Air(map, taught, hearing)
        noteHearing(hearing)
        for slot in beacons.indices where beacons[slot].isInUse {
            let isHeard = endSecond(of: slot, at: tick, air)
            let holder = Int(beacons[slot].holder)
            let isSilenceCounted = holder < 0 ? air.isAnyHearing : hearing[holder] == .hearing
            if isHeard {
                beacons[slot].silence = 0
            } else if isSilenceCounted {
                beacons[slot].silence += 1
            }
            stand(slot)
            let place = place(of: slot, isHeard: isHeard, air)
            if place >= 0, standing.receivers[Int(place)] >= 0 {
                beacons[slot].holder = Int16(standing.receivers[Int(place)])
            }
            beacons[slot].grounds = grounds(of: place, slot)
            if place != beacons[slot].reported {
                let known = beacons[slot].known
                (beacons[slot].reported, beacons[slot].lead) = (place, 0)
                if place != NoPlace.unknown { beacons[slot].known = place }
                beacons[slot].isAwaited = false
                report(
                    PlaceChange(
                        identity: beacons[slot].identity, time: Timestamp(nanoseconds: tick),
                        whereabouts: Self.whereabouts(place), before: Self.whereabouts(known),
                        grounds: beacons[slot].grounds))
            }
            let silence = Float(beacons[slot].silence)
            let isNoPlaceKnown = place == NoPlace.nowhere || place == NoPlace.unknown && beacons[slot].known < 0
            if isNoPlaceKnown, !beacons[slot].isAwaited, beacons[slot].silence > Self.retention {
                forget(slot)
            } else if isHeard || isSilenceCounted && silence <= air.patience(of: beacons[slot]) {
                // Later, nothing happens to it until it is heard, or somebody hears again.
                isBusy = true
            }
        }
    }

    /// Notes for how long each receiver has heard. Where one begins to, the silence of the others before it says
    /// nothing of a beacon that may be with it: it gets its full time to be heard.
    private mutating func noteHearing(_ hearing: [Hearing]) {
        var hasBegun = false
        for (number, now) in hearing.enumerated() {
            switch now {
            case .deaf: hearingSeconds[number] = 0
            case .interrupted: break
            case .hearing:
                hasBegun = hasBegun || hearingSeconds[number] == 0
                hearingSeconds[number] += 1
            }
        }
        guard hasBegun else { return }
        for slot in beacons.indices where beacons[slot].reported == NoPlace.unknown { beacons[slot].silence = 0 }
    }

    /// Returns true where a receiver of a place has nothing to say of a beacon: it is deaf, or it has not heard for
    /// long enough to have heard the beacon.
    private func isAnyIgnorant(of slot: Int, _ air: Air) -> Bool {
        if air.isAnyDeaf { return true }
        let first = slot * receivers.count
        let needed = max(3, 3 * beacons[slot].gap)
        for number in receivers.indices where map.receivers[number] != nil && !levels[first + number].isHeard {
            if air.hearing[number] == .interrupted || hearingSeconds[number] <= needed { return true }
        }
        return false
    }

    /// What holds for all beacons in a second.
    private struct Air {
        let hearing: [Hearing]
        let isAnyHearing: Bool
        /// True for a place none of whose receivers has a say. One without receivers is none of them.
        var isDark: [Bool]
        let isAnyDark: Bool
        /// True where any receiver of a place is deaf.
        let isAnyDeaf: Bool
        /// True where a receiver is deaf that was there when places were taught.
        let isTaughtDeaf: Bool
        let smoothing: PlaceLevel.Smoothing
        /// The lead in dB that is no evidence, and the sum of greater leads that moves a beacon, in dB times seconds.
        let slack: Float
        let neededLead: Float
        let exitSeconds: Float

        init(_ map: PlaceMap, _ taught: TaughtPlaces, _ hearing: [Hearing]) {
            self.hearing = hearing
            isAnyHearing = hearing.contains(.hearing)
            isDark = Array(repeating: false, count: map.placeCount)
            for (number, place) in map.receivers.enumerated() where hearing[number] == .deaf {
                if let place { isDark[place] = true }
            }
            for (number, place) in map.receivers.enumerated() where hearing[number] != .deaf {
                if let place { isDark[place] = false }
            }
            isAnyDark = isDark.contains(true)
            isAnyDeaf = zip(hearing, map.receivers).contains { $0 == .deaf && $1 != nil }
            isTaughtDeaf = zip(hearing, taught.isTaught).contains { $0 == .deaf && $1 }
            // 1 - exp(-1 / memory), by a power of ten.
            let weight = 1 - Exponential.powerOfTen(-0.434_294_481_903_251_8 / max(map.rules.memory, 1e-6))
            smoothing = taught.isEmpty ? .mean(weight: Float(weight)) : .adverts
            let second = Timestamp.nanosecondsPerSecond
            slack = Float(map.rules.margin) * PlaceRules.slack
            let hold = Float(map.rules.holdTime.boundedNanoseconds) / Float(second)
            // Without a margin, chance alone would move beacons.
            neededLead = max(Float(map.rules.margin) - slack, 1) * max(hold, 1)
            exitSeconds = Float(map.rules.exitTimeout.boundedNanoseconds / second)
        }

        /// The seconds after which a beacon that is not heard is in no place.
        func patience(of beacon: Beacon) -> Float { max(exitSeconds, 3 * min(beacon.gap, 10.24)) }
    }

    /// Takes a second's readings into the levels of a beacon.
    ///
    /// - Returns: true where any receiver has heard it.
    private mutating func endSecond(of slot: Int, at tick: Int64, _ air: Air) -> Bool {
        let beacon = beacons[slot]
        let patience = air.patience(of: beacon)
        let first = slot * receivers.count
        var strongest: Float?
        for number in receivers.indices where air.hearing[number] == .hearing {
            guard let reading = levels[first + number].strongestReading else { continue }
            strongest = max(strongest ?? reading, reading)
        }
        var reference: Float?
        if let place = beacon.reference {
            if let strongest {
                references[place].hear(strongest, of: beacon.identity, peak: &beacons[slot].peak, at: tick)
            }
            if references[place].isLearned { reference = references[place].level }
        }
        var isHeard = false
        for number in receivers.indices {
            switch air.hearing[number] {
            case .deaf: levels[first + number] = PlaceLevel()
            case .interrupted: levels[first + number].clearSecond()
            case .hearing:
                let hasHeard = levels[first + number].endSecond(
                    air.smoothing, gap: beacon.gap, patience: patience, reference: reference)
                isHeard = isHeard || hasHeard
            }
        }
        return isHeard
    }

    private mutating func stand(_ slot: Int) {
        standing.clear()
        let first = slot * receivers.count
        for (number, place) in map.receivers.enumerated() {
            if let place, levels[first + number].isHeard {
                standing.add(levels[first + number].level, at: number, in: place)
            }
        }
        standing.rank()
    }

    private mutating func place(of slot: Int, isHeard: Bool, _ air: Air) -> Int16 {
        let beacon = beacons[slot]
        if Float(beacon.silence) >= air.patience(of: beacon) {
            if !taught.isEmpty { clearEvidence(of: slot) }
            let isUndecided = air.isAnyDeaf || air.isTaughtDeaf
            return seem(slot, to: isUndecided ? NoPlace.unknown : NoPlace.nowhere, for: 0)
        }
        return taught.isEmpty ? strongestPlace(of: slot, isHeard: isHeard, air) : likeliestPlace(of: slot, air)
    }

    // MARK: - By the strongest receiver

    /// The seconds for which a beacon has to seem to be somewhere, where no lead tells how sure that is.
    private static var settlingSeconds: UInt16 { 3 }

    /// Decides where a beacon is, by level and time. One that was in no place is at once where it is loudest. A place
    /// that was known before a restart or an outage is not given up as fast: its receivers may come later.
    private mutating func strongestPlace(of slot: Int, isHeard: Bool, _ air: Air) -> Int16 {
        let current = Int(beacons[slot].reported)
        if current >= 0, isOutOfHearing(slot, air) { return seem(slot, to: NoPlace.unknown, for: 0) }
        guard var best = standing.best else { return Int16(current) }
        let known = Int(beacons[slot].known)
        var isSure = current < 0 && (known < 0 || known == best)
        if current >= 0, standing.receivers[current] >= 0 {
            let other = leader(over: current, of: slot, isHeard: isHeard, air)
            (best, isSure) = (other ?? current, other != nil)
        } else {
            beacons[slot].lead = 0
        }
        // Where a receiver is deaf the beacon may be, unless it is seen to be close to another.
        let isBelieved =
            levels[slot * receivers.count + standing.receivers[best]].isClose || !isAnyIgnorant(of: slot, air)
        guard isBelieved else { return seem(slot, to: NoPlace.unknown, for: Self.settlingSeconds) }
        return seem(slot, to: Int16(best), for: isSure ? 0 : Self.settlingSeconds)
    }

    /// Adds a second to the lead that other places have had over a beacon's own.
    ///
    /// The sum is a sequential test (Page's CUSUM): chance takes away as much as it gives, and each decibel beyond the
    /// slack counts, so that a great lead decides in seconds and a small one in a minute. What many receivers agree on
    /// needs less of it.
    ///
    /// - Returns: the place that has led by so much and so long that the beacon is there now; nil for none.
    private mutating func leader(over current: Int, of slot: Int, isHeard: Bool, _ air: Air) -> Int? {
        guard let other = standing.best == current ? standing.second : standing.best else {
            beacons[slot].lead = 0
            return nil
        }
        let lead = standing.levels[other] - standing.levels[current]
        // Levels without new readings are no new evidence. A reading of a beacon that is heard rarely counts for more.
        guard isHeard else { return nil }
        let seconds = min(max(beacons[slot].gap, 1), PlaceLevel.grace)
        let pairs = min(standing.ears[current] * standing.ears[other], PlaceRules.mostWitnesses)
        let part = (lead - air.slack) * seconds * Float(pairs) / air.neededLead
        beacons[slot].lead = min(max(beacons[slot].lead + part, 0), 1)
        // Sums of many parts fall short of one by a rounding.
        return lead > air.slack && beacons[slot].lead > 0.9999 ? other : nil
    }

    /// Returns true for a beacon whose place is dark, or of which the receiver is deaf that placed it there and no
    /// other one of the place hears it.
    private func isOutOfHearing(_ slot: Int, _ air: Air) -> Bool {
        let current = Int(beacons[slot].reported)
        if air.isDark[current] { return true }
        let holder = Int(beacons[slot].holder)
        return holder >= 0 && air.hearing[holder] == .deaf && standing.receivers[current] < 0
    }

    /// Returns where a beacon is, now that it seems to be in `place`: it is there once it has seemed so for long
    /// enough.
    private mutating func seem(_ slot: Int, to place: Int16, for seconds: UInt16) -> Int16 {
        if place == beacons[slot].reported {
            beacons[slot].held = 0
            return place
        }
        if beacons[slot].candidate != place { beacons[slot].held = 0 }
        beacons[slot].candidate = place
        beacons[slot].held += 1
        guard beacons[slot].held >= seconds else { return beacons[slot].reported }
        beacons[slot].held = 0
        return place
    }

    // MARK: - By what was taught

    /// Decides where a beacon is, by how alike its levels are to those that were taught.
    ///
    /// Each second adds to what each place has cost so far; but none is ever behind another by more than
    /// ``TaughtPlaces/switchCost``, so that a beacon can change its place. That is the cheapest way through the places
    /// up to now, where each change costs that much.
    private mutating func likeliestPlace(of slot: Int, _ air: Air) -> Int16 {
        let beacon = beacons[slot]
        let power = Float(beacon.measuredPower)
        let first = slot * receivers.count
        let heard = receivers.indices.map { number -> Float in
            guard air.hearing[number] != .deaf else { return TaughtPlaces.Heard.absent }
            let level = levels[first + number]
            return level.isHeard ? level.level - power : TaughtPlaces.Heard.silent
        }
        guard heard.contains(where: \.isFinite) else {
            let isLost = beacon.holder >= 0 ? air.hearing[Int(beacon.holder)] == .deaf : !air.isAnyHearing
            return beacon.reported >= 0 && isLost ? NoPlace.unknown : beacon.reported
        }
        let costs = taught.costs(heard, places: map.receivers, measuredPower: power) + [TaughtPlaces.unknownCost]
        let row = slot * costs.count
        var least = evidence[row..<row + costs.count].min() ?? 0
        for (place, cost) in costs.enumerated() {
            evidence[row + place] = min(evidence[row + place], least + TaughtPlaces.switchCost) + cost
        }
        least = evidence[row..<row + costs.count].min() ?? 0
        for place in costs.indices { evidence[row + place] -= least }
        let (best, second) = likeliest(of: slot)
        guard let best, evidence[row + best] < evidence[row + map.placeCount] else { return NoPlace.unknown }
        if air.isAnyDark, let second, evidence[row + second] - evidence[row + best] < TaughtPlaces.clearLead {
            return NoPlace.unknown
        }
        return Int16(best)
    }

    /// Returns the likeliest place of a beacon, and the next one.
    private func likeliest(of slot: Int) -> (best: Int?, second: Int?) {
        let row = slot * (map.placeCount + 1)
        var (best, second): (Int?, Int?)
        for place in 0..<map.placeCount {
            let own = evidence[row + place]
            if own < best.map({ evidence[row + $0] }) ?? .infinity {
                (best, second) = (place, best)
            } else if own < second.map({ evidence[row + $0] }) ?? .infinity {
                second = place
            }
        }
        return (best, second)
    }

    // MARK: - Grounds

    private func grounds(of place: Int16, _ slot: Int) -> PlaceGrounds {
        var grounds = PlaceGrounds()
        guard place >= 0 else { return grounds }
        let number = standing.receivers[Int(place)]
        if number >= 0 {
            grounds.receiver = receivers[number].first
            grounds.level = Double(standing.levels[Int(place)])
        }
        guard taught.isEmpty else {
            let (best, second) = likeliest(of: slot)
            grounds.runnerUp = best == Int(place) ? second : best
            if let other = grounds.runnerUp {
                let row = slot * (map.placeCount + 1)
                grounds.margin = TaughtPlaces.decibels(evidence[row + other] - evidence[row + Int(place)])
            }
            return grounds
        }
        if let other = standing.best == Int(place) ? standing.second : standing.best {
            grounds.runnerUp = other
            if number >= 0 { grounds.margin = Double(standing.levels[Int(place)] - standing.levels[other]) }
        }
        return grounds
    }
}
