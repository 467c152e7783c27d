import BeaconModel

/// The located beacons, each with its levels at all receivers.
///
/// Adverts are not processed here. Ranging sums them, and ``hear(_:by:_:claim:offset:gap:track:at:evicted:)`` accepts
/// the sum of a second. ``decide(at:hearing:report:)`` ends the second.
struct PlaceTracker {
    /// A located beacon.
    struct Beacon {
        var identity: BeaconIdentity
        var isInUse = true
        /// True for a beacon that a request names, until it is heard or known to be in no place.
        var isAwaited = false
        /// The reported place and the last known one: a place's number, or one of ``NoPlace``.
        var reported = NoPlace.unknown
        var known = NoPlace.unknown
        /// The place that it seems to be in, and the seconds for which it has seemed so.
        var candidate = NoPlace.unknown
        var held: UInt16 = 0
        /// The seconds since it was first heard, as long as it arrives and has no place yet.
        var arrival: UInt8 = 0
        /// The accumulated lead of other places, as a part of the lead that moves the beacon.
        var lead: Float = 0
        /// The seconds in which no receiver has heard it, counting only those in which silence counts.
        var silence: Int32 = 0
        /// Its usual gap in seconds, and the second to which it belongs.
        private(set) var gap: Float = 0
        private var gapTick = Int64.min
        /// The power of one of its tracks, the track's number, and the second in which that track was last heard.
        private var claim = PowerClaim()
        private var claimant = UInt32.max
        private var claimTick = Int64.min

        /// The power of its kind in dBm, and the kind's index in the table of references.
        var measuredPower = IBeaconFrame.defaultMeasuredPower
        var reference: Int?
        /// Its strongest signal in the reference.
        var peak = -Double.infinity
        /// The number of the receiver that decided last.
        var holder: Int16 = -1
        var grounds = PlaceEvidence()
        /// How it is heard in the place where it is.
        var stay = PlaceStay()

        init(identity: BeaconIdentity) { self.identity = identity }

        /// Adds the usual gap of a track in seconds. The smallest of a second counts: adverts that a distant receiver
        /// misses are not a gap of the beacon.
        mutating func hear(gap newGap: Float, at tick: Int64) {
            gap = gapTick == tick ? min(gap, newGap) : newGap
            gapTick = tick
        }

        /// Adds the power of a track, and returns the power that counts for locating.
        ///
        /// Tracks have judged their claims. If they differ, the first track with a valid power counts as long as its
        /// power is valid and it is heard.
        mutating func hear(_ claim: PowerClaim, of track: Int, at tick: Int64) -> PowerClaim {
            let isClaimant = claimant == UInt32(truncatingIfNeeded: track)
            let isOpen = self.claim.isInvalid || tick - claimTick > PowerDispute.settlingTime
            if isClaimant || isOpen && !claim.isInvalid {
                (self.claim, claimant, claimTick) = (claim, UInt32(truncatingIfNeeded: track), tick)
            }
            return self.claim
        }
    }

    /// The numbers that represent a beacon in no place.
    enum NoPlace {
        static let nowhere: Int16 = -1
        static let unknown: Int16 = -2
    }

    let map: PlaceMap
    let taught: TaughtPlaces
    private let calibrations: CalibrationTable

    /// The source's receivers for each receiver of the map. A list is empty if the receiver has not appeared, and has
    /// several if the source has several with one name, such as the adapters of a named radio.
    private(set) var receivers: [[ReceiverID]]

    /// The seconds for which each receiver has heard since its last deafness; 0 while it is deaf.
    private(set) var hearingSeconds: [Float]

    /// The map's number of each receiver by its index; -1 for receivers that are not in the map.
    private var numbers: [Int16] = []

    var beacons: [Beacon] = []

    /// The levels of each beacon, one for each receiver.
    var levels: [PlaceLevel] = []

    /// With taught places, the cost of each place above the likeliest one, for each beacon. The last entry is for
    /// levels unlike all taught ones.
    var evidence: [Float] = []

    private(set) var slots: [BeaconIdentity: UInt32] = [:]
    private var free: [UInt32] = []

    /// The slot of a track's beacon when it was last heard, by the track's number. Another beacon may occupy it now.
    private var slotsByTrack: [UInt32] = []
    private let capacity: Int
    private var sweepPosition = 0

    /// The strongest levels of each kind of beacon at any receiver. They show whether a beacon is close.
    var references = ReferenceTable()

    /// The evidence that the references are those of close beacons, by the index of the reference.
    private var contrasts: [PlaceContrast] = []

    /// True while a beacon is in a place, or may be, so that no second may be skipped.
    var isBusy = false

    /// The working memory of ``decide(at:hearing:report:)`` for one beacon at a time.
    var standing: PlaceStanding

    init(_ map: PlaceMap, _ calibrations: CalibrationTable, capacity: Int) {
        var map = map
        if !map.needsTeaching { map.forgetTeaching() }
        self.map = map
        self.calibrations = calibrations
        self.capacity = capacity
        taught = TaughtPlaces(map.taught, placeCount: map.placeCount, receiverCount: map.receivers.count)
        receivers = Array(repeating: [], count: map.receivers.count)
        hearingSeconds = Array(repeating: 0, count: map.receivers.count)
        standing = PlaceStanding(placeCount: map.placeCount)
    }

    /// Assigns a receiver of the source to a receiver of the map; nil for none.
    mutating func setReceiver(_ receiver: ReceiverID, of number: Int?) {
        while numbers.count <= Int(receiver.index) { numbers.append(-1) }
        if let old = self.number(of: receiver) { receivers[old].removeAll { $0 == receiver } }
        numbers[Int(receiver.index)] = -1
        guard let number, receivers.indices.contains(number) else { return }
        receivers[number].append(receiver)
        numbers[Int(receiver.index)] = Int16(number)
    }

    /// Returns a receiver's number in the map; nil if it is not in the map.
    @inline(__always)
    func number(of receiver: ReceiverID) -> Int? {
        let index = Int(receiver.index)
        guard index < numbers.count, numbers[index] >= 0 else { return nil }
        return Int(numbers[index])
    }

    /// The located beacons, in the order of their slots.
    var located: [LocatedBeacon] {
        beacons.filter { $0.isInUse && !$0.isAwaited }.map {
            LocatedBeacon(identity: $0.identity, whereabouts: Self.whereabouts($0.reported), grounds: $0.grounds)
        }
    }

    static func whereabouts(_ place: Int16) -> PlaceState {
        switch place {
        case NoPlace.nowhere: .nowhere
        case NoPlace.unknown: .unknown
        default: .place(Int(place))
        }
    }

    /// Adds one receiver's readings of a beacon in a second.
    ///
    /// - Parameters:
    ///   - identity: the beacon.
    ///   - number: the receiver's number in the map.
    ///   - readings: the readings of the second.
    ///   - claim: the power that the track claims.
    ///   - offset: the decibels by which the receiver's readings are too high.
    ///   - gap: the beacon's usual gap in nanoseconds.
    ///   - track: the number of the track that was heard.
    ///   - tick: the second.
    ///   - evicted: counts beacons that had to be forgotten.
    mutating func hear(
        _ identity: BeaconIdentity, by number: Int, _ readings: SampleDigest, claim: PowerClaim, offset: Float,
        gap: Int64, track: Int, at tick: Int64, evicted: inout Int
    ) {
        while slotsByTrack.count <= track { slotsByTrack.append(.max) }
        var slot = slotsByTrack[track]
        if Int(slot) >= beacons.count || beacons[Int(slot)].identity != identity || !beacons[Int(slot)].isInUse {
            slot = find(identity, evicted: &evicted)
            slotsByTrack[track] = slot
        }
        beacons[Int(slot)].isAwaited = false
        if readings.count > 0 { beacons[Int(slot)].hear(gap: Float(gap) / 1e9, at: tick) }
        let claim = beacons[Int(slot)].hear(claim, of: track, at: tick)
        let measuredPower = calibrations.kindPower(of: identity, claim: claim)
        if beacons[Int(slot)].reference == nil || beacons[Int(slot)].measuredPower != measuredPower {
            (beacons[Int(slot)].measuredPower, beacons[Int(slot)].peak) = (measuredPower, -.infinity)
            beacons[Int(slot)].reference = references.place(
                of: identity.uuid, measuredPower: measuredPower, by: nil, at: tick)
        }
        levels[Int(slot) * receivers.count + number].add(readings, offset: offset)
    }

    /// Waits for a beacon, unless it is already located. If it stays silent, it will be in no place.
    mutating func wait(for identity: BeaconIdentity, evicted: inout Int) {
        guard slots[identity] == nil else { return }
        beacons[Int(find(identity, evicted: &evicted))].isAwaited = true
    }

    /// Sets a beacon's last known place.
    mutating func setKnown(_ whereabouts: PlaceState, of identity: BeaconIdentity, evicted: inout Int) {
        let slot = Int(find(identity, evicted: &evicted))
        beacons[slot].known =
            switch whereabouts {
            case .unknown: NoPlace.unknown
            case .nowhere: NoPlace.nowhere
            case .place(let number): number >= 0 && number < map.placeCount ? Int16(number) : NoPlace.unknown
            }
    }

    /// Returns the slot of a beacon, which is added if it is new.
    private mutating func find(_ identity: BeaconIdentity, evicted: inout Int) -> UInt32 {
        if let slot = slots[identity] { return slot }
        if free.isEmpty, beacons.count >= capacity {
            evictOne()
            evicted += 1
        }
        let slot: UInt32
        if let empty = free.popLast() {
            slot = empty
            beacons[Int(slot)] = Beacon(identity: identity)
        } else {
            slot = UInt32(beacons.count)
            beacons.append(Beacon(identity: identity))
            levels.append(contentsOf: repeatElement(PlaceLevel(), count: receivers.count))
            if !taught.isEmpty { evidence.append(contentsOf: repeatElement(0, count: map.placeCount + 1)) }
        }
        slots[identity] = slot
        return slot
    }

    /// Forgets the beacon that has been silent for longest among a few. Beacons in no place are forgotten first.
    private mutating func evictOne() {
        var stalest = 0
        var most: Int32 = -1
        for _ in 0..<min(16, beacons.count) {
            sweepPosition = sweepPosition + 1 < beacons.count ? sweepPosition + 1 : 0
            let beacon = beacons[sweepPosition]
            let silence = beacon.reported == NoPlace.nowhere ? beacon.silence + (1 << 30) : beacon.silence
            if silence > most { (stalest, most) = (sweepPosition, silence) }
        }
        forget(stalest)
    }

    private mutating func forget(_ slot: Int) {
        slots[beacons[slot].identity] = nil
        beacons[slot].isInUse = false
        for place in slot * receivers.count..<(slot + 1) * receivers.count { levels[place] = PlaceLevel() }
        if !taught.isEmpty { clearEvidence(of: slot) }
        free.append(UInt32(slot))
    }

    private mutating func clearEvidence(of slot: Int) {
        let width = map.placeCount + 1
        for place in slot * width..<(slot + 1) * width { evidence[place] = 0 }
    }
}

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
            // A beacon whose place was reported to be unknown stays in the table until that is corrected.
            let isForgettable = place == NoPlace.nowhere || beacons[slot].known == NoPlace.unknown
            if isForgettable, !beacons[slot].isAwaited, beacons[slot].silence > Self.retention {
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
        /// The lead in dB that an arriving beacon's place needs over each other one, to be reported at once.
        let clearLead: Float
        let exitSeconds: Float
        private let otherTimes: [BeaconIdentity: Duration]

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
            clearLead = 2 * Float(map.rules.margin)
            exitSeconds = Float(map.rules.exitTimeout.boundedNanoseconds / second)
            otherTimes = map.rules.exitTimeouts
        }

        /// Returns the seconds after which an unheard beacon is in no place.
        func patience(of beacon: Beacon) -> Float {
            if !otherTimes.isEmpty, let time = otherTimes[beacon.identity] {
                return Float(time.boundedNanoseconds / Timestamp.nanosecondsPerSecond)
            }
            return max(exitSeconds, 3 * min(beacon.gap, 10.24))
        }
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
                while contrasts.count <= place { contrasts.append(PlaceContrast()) }
                // Beacons that lie on a receiver do not count for the reference, and not here either.
                if strongest <= references[place].level {
                    contrasts[place].hear(strongest, isAnyDark: air.isAnyDark)
                }
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
            beacons[slot].arrival = 0
            // A beacon that was away is away until it is heard.
            let isUndecided = (air.isAnyDeaf || air.isTaughtDeaf) && beacon.reported != NoPlace.nowhere
            return seem(slot, to: isUndecided ? NoPlace.unknown : NoPlace.nowhere, for: 0)
        }
        return taught.isEmpty
            ? strongestPlace(of: slot, isHeard: isHeard, air) : likeliestPlace(of: slot, isHeard: isHeard, air)
    }

    /// Returns a beacon's place after it seemed to be in `place`: that place once it has seemed so for long enough.
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

/// The decision by levels: a beacon is in the place of the receiver that hears it best.
extension PlaceTracker {
    /// The seconds for which a beacon must seem to be in a place if no lead shows how certain that is.
    private static var settlingSeconds: UInt16 { 3 }

    /// The second in which an arriving beacon is placed if nothing is clear before. Of simulated arrivals, 2 in 100 of
    /// the close ones are placed wrongly in the second second, and none in the third; a fourth adds nothing.
    private static var arrivalSeconds: UInt8 { 3 }

    /// Decides the place of a beacon by level and time.
    ///
    /// A beacon that was in no place is in the loudest place once it has arrived: ``isArriving(_:isClear:)``. A place
    /// that was known before a restart or an outage is kept for longer, because its receivers may start later.
    mutating func strongestPlace(of slot: Int, isHeard: Bool, _ air: Air) -> Int16 {
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
        let number = slot * receivers.count + standing.receivers[best]
        let isIgnorant = isAnyIgnorant(of: slot, air)
        let hasFallen = beacons[slot].stay.note(
            levels[number].level, in: best, seconds: isHeard ? seconds(of: slot) : 0, isCertain: !isIgnorant)
        // It may be near a deaf receiver now.
        if isIgnorant, hasFallen { levels[number].endCloseness() }
        let isBelieved =
            !isIgnorant || beacons[slot].stay.isCertain
            || levels[number].isClose && (!air.isAnyDark || isClosenessTelling(slot))
        guard isBelieved else { return seem(slot, to: NoPlace.unknown, for: Self.settlingSeconds) }
        if isArriving(slot, isClear: isClearlyFirst(best, of: slot, air)) { return Int16(current) }
        return seem(slot, to: Int16(best), for: isSure ? 0 : Self.settlingSeconds)
    }

    /// Returns true while a beacon that was in no place is not placed yet, because the receiver beside it may have
    /// missed its first second. It counts the seconds, so call it once a second.
    mutating func isArriving(_ slot: Int, isClear: Bool) -> Bool {
        guard beacons[slot].reported < 0, beacons[slot].known < 0 else {
            beacons[slot].arrival = 0
            return false
        }
        beacons[slot].arrival = min(beacons[slot].arrival + 1, Self.arrivalSeconds)
        return !isClear && beacons[slot].arrival < Self.arrivalSeconds
    }

    /// Returns true if further seconds can hardly show another place: the beacon is within a meter of the receiver, or
    /// each other place that hears has heard it much worse.
    func isClearlyFirst(_ best: Int, of slot: Int, _ air: Air) -> Bool {
        let level = standing.levels[best]
        if level >= Float(beacons[slot].measuredPower) { return true }
        return zip(map.receivers, air.hearing).allSatisfy { place, hearing in
            guard let place, place != best, hearing != .deaf else { return true }
            return standing.receivers[place] >= 0 && level - standing.levels[place] >= air.clearLead
        }
    }

    /// Returns the seconds that a reading of a beacon counts for. A reading of a slow beacon counts for more.
    func seconds(of slot: Int) -> Float { min(max(beacons[slot].gap, 1), PlaceRules.maximumSeconds) }

    /// Returns true if the reference of a beacon's kind is that of close beacons.
    private mutating func isClosenessTelling(_ slot: Int) -> Bool {
        guard let reference = beacons[slot].reference else { return false }
        return contrasts[reference].isTelling(of: references[reference].level)
    }

    /// Adds a second to the lead of other places over a beacon's current place.
    ///
    /// The sum is a sequential test (Page's CUSUM). Noise subtracts as much as it adds, and each decibel beyond the
    /// slack counts, so that a large lead decides in seconds and a small one in a minute. If many receivers agree, less
    /// is needed.
    ///
    /// - Returns: the place whose lead is now large enough to move the beacon; nil for none.
    private mutating func leader(over current: Int, of slot: Int, isHeard: Bool, _ air: Air) -> Int? {
        guard let other = standing.best == current ? standing.second : standing.best else {
            beacons[slot].lead = 0
            return nil
        }
        let first = slot * receivers.count
        let lead = PlaceLead(
            of: levels[first + standing.receivers[other]], over: levels[first + standing.receivers[current]])
        // Levels without new readings are not new evidence.
        guard isHeard else { return nil }
        let pairs = min(standing.hearingCounts[current] * standing.hearingCounts[other], PlaceRules.maximumWitnesses)
        let weight = seconds(of: slot) * Float(pairs) / (air.neededLead * lead.need)
        let part = lead.evidence(slack: air.slack, pairs: Float(pairs)) * weight
        beacons[slot].lead = min(max(beacons[slot].lead + part, 0), 1)
        // Rounding keeps sums of many parts slightly below one.
        return lead.lead > air.slack && beacons[slot].lead > 0.9999 ? other : nil
    }

    /// Returns true if a beacon's place is dark, or if the receiver that placed it there is deaf and no other receiver
    /// of the place hears it.
    private func isOutOfHearing(_ slot: Int, _ air: Air) -> Bool {
        let current = Int(beacons[slot].reported)
        if air.isDark[current] { return true }
        let holder = Int(beacons[slot].holder)
        return holder >= 0 && air.hearing[holder] == .deaf && standing.receivers[current] < 0
    }

    /// Returns true if a receiver of a place cannot know about a beacon: it is deaf, or it has not heard for long
    /// enough.
    private func isAnyIgnorant(of slot: Int, _ air: Air) -> Bool {
        let holder = Int(beacons[slot].holder)
        if air.isAnyDark || holder >= 0 && air.hearing[holder] == .deaf { return true }
        let first = slot * receivers.count
        let needed = max(3, 3 * beacons[slot].gap)
        for number in receivers.indices
        where map.receivers[number] != nil && air.hearing[number] != .deaf && !levels[first + number].isHeard {
            if air.hearing[number] == .interrupted || hearingSeconds[number] <= needed { return true }
        }
        return false
    }
}
