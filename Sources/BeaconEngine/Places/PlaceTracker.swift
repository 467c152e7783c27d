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
        /// The accumulated lead of other places, as a part of the lead that moves the beacon.
        var lead: Float = 0
        /// The seconds in which no receiver has heard it, counting only those in which silence counts.
        var silence: Int32 = 0
        /// Its usual gap in seconds.
        var gap: Float = 0
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

        init(identity: BeaconIdentity) { self.identity = identity }

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
    var hearingSeconds: [Float]

    /// The map's number of each receiver by its index; -1 for receivers that are not in the map.
    private var numbers: [Int16] = []

    var beacons: [Beacon] = []

    /// The levels of each beacon, one for each receiver.
    var levels: [PlaceLevel] = []

    /// With taught places, the cost of each place above the likeliest one, for each beacon. The last entry is for no
    /// known place.
    var evidence: [Float] = []

    private(set) var slots: [BeaconIdentity: UInt32] = [:]
    private var free: [UInt32] = []

    /// The slot of a track's beacon when it was last heard, by the track's number. Another beacon may occupy it now.
    private var slotsByTrack: [UInt32] = []
    private let capacity: Int
    private var sweepPosition = 0

    /// The strongest levels of each kind of beacon at any receiver. They show whether a beacon is close.
    var references = ReferenceTable()

    /// True while a beacon is in a place, or may be, so that no second may be skipped.
    var isBusy = false

    /// The working memory of ``decide(at:hearing:report:)`` for one beacon at a time.
    var standing: PlaceStanding

    init(_ map: PlaceMap, _ calibrations: CalibrationTable, capacity: Int) {
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
        // Adverts that a distant receiver misses are not a gap of the beacon.
        if readings.count > 0 { beacons[Int(slot)].gap = Float(gap) / 1e9 }
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

    mutating func forget(_ slot: Int) {
        slots[beacons[slot].identity] = nil
        beacons[slot].isInUse = false
        for place in slot * receivers.count..<(slot + 1) * receivers.count { levels[place] = PlaceLevel() }
        if !taught.isEmpty { clearEvidence(of: slot) }
        free.append(UInt32(slot))
    }

    mutating func clearEvidence(of slot: Int) {
        let width = map.placeCount + 1
        for place in slot * width..<(slot + 1) * width { evidence[place] = 0 }
    }
}
