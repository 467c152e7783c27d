import BeaconModel

extension PlaceTracker {
    /// The hearing of a receiver in one second.
    enum Hearing {
        /// Its silence means that no beacon is near.
        case hearing
        /// It is briefly deaf: its last levels stay valid.
        case interrupted
        /// It has been deaf for long, or is absent, so it takes no part in the decision.
        case deaf
    }

    /// The seconds for which a beacon in no place is remembered.
    private static var retention: Int32 { 300 }

    /// Ends a second: updates the levels and decides each beacon's place.
    ///
    /// - Parameters:
    ///   - tick: the second.
    ///   - hearing: the hearing of each of the map's receivers in it.
    ///   - report: called for each change.
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
                // After that, nothing changes until the beacon is heard or a receiver hears again.
                isBusy = true
            }
        }
    }

    /// Updates how long each receiver has heard.
    ///
    /// When a receiver begins to hear, a beacon near it may explain the earlier silence of the others. The beacon then
    /// gets its full time to be heard.
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

    /// The inputs of a second that all beacons share.
    struct Air {
        let hearing: [Hearing]
        let isAnyHearing: Bool
        /// True for a place that has receivers but none that takes part in the decision.
        var isDark: [Bool]
        let isAnyDark: Bool
        /// True if any receiver of a place is deaf.
        let isAnyDeaf: Bool
        /// True if a receiver is deaf that was present when places were taught.
        let isTaughtDeaf: Bool
        let smoothing: PlaceLevel.Smoothing
        /// The lead in dB that is not evidence, and the sum of leads beyond it that moves a beacon, in dB times
        /// seconds.
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
            // 1 - exp(-1 / memory), as a power of ten.
            let weight = 1 - Exponential.powerOfTen(-0.434_294_481_903_251_8 / max(map.rules.memory, 1e-6))
            smoothing = taught.isEmpty ? .mean(weight: Float(weight)) : .adverts
            let second = Timestamp.nanosecondsPerSecond
            slack = Float(map.rules.margin) * PlaceRules.slack
            let hold = Float(map.rules.holdTime.boundedNanoseconds) / Float(second)
            // Without a margin, noise alone would move beacons.
            neededLead = max(Float(map.rules.margin) - slack, 1) * max(hold, 1)
            exitSeconds = Float(map.rules.exitTimeout.boundedNanoseconds / second)
        }

        /// Returns the seconds after which an unheard beacon is in no place.
        func patience(of beacon: Beacon) -> Float { max(exitSeconds, 3 * min(beacon.gap, 10.24)) }
    }

    /// Adds a second's readings to the levels of a beacon.
    ///
    /// - Returns: true if any receiver has heard it.
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

    /// Returns a beacon's place after it seemed to be in `place`: that place once it has seemed so for long enough.
    mutating func seem(_ slot: Int, to place: Int16, for seconds: UInt16) -> Int16 {
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

    private func grounds(of place: Int16, _ slot: Int) -> PlaceEvidence {
        var grounds = PlaceEvidence()
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
