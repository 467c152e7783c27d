public import BeaconModel

/// A detector of identities that more than one device advertises.
///
/// It does no I/O and reads no clock. Only adverts count and silence means nothing, so deaf receivers need no special
/// care. Its memory and its reports are bounded: invented identities neither fill the memory nor displace known ones,
/// and there are at most ``maximumFindings`` reports an hour.
///
/// The strength of an advert bounds the distance at which it was sent: in free space a signal loses 20 dB from one
/// meter to ten, and hardly ever less. Three adverts near one receiver and three near another contradict each other if
/// no permitted speed connects them.
public struct SuspicionDetector: Sendable {
    /// The maximum number of findings in an hour, counted separately for identities that the constraints name in full
    /// and for others.
    public static let maximumFindings = 60

    /// The maximum number of tracked identities, besides those that the constraints name in full.
    public static let maximumIdentities = 16_384

    /// The findings that were dropped because there were too many.
    public private(set) var omittedFindings = 0
    /// The adverts of identities that were not tracked because there were too many.
    public private(set) var ignoredAdverts = 0

    // Choices. Messages of receivers may arrive seconds late, and all at once, so evidence must last for longer.
    static let second = Timestamp.nanosecondsPerSecond
    /// The time for which two devices must be heard in turns at distant receivers, and the maximum lateness of
    /// messages.
    private static let lastingTime = 15 * second
    /// The required alternations, and the minimum time between two that count: messages that arrive together are one.
    private static let leastTurns = 4
    private static let turnTime = 2 * second
    /// The time after which contradictions and addresses belong to a new occasion.
    static let forgetting = 60 * second
    /// The time within which three adverts must be heard.
    private static let window = 10 * second
    /// The time without an advert after which an identity may make room for another.
    private static let staleness = 60 * second

    /// The findings of the last hour.
    private struct Recent {
        private var times: [Int64] = []

        /// Counts a finding.
        ///
        /// - Returns: false if there were too many.
        mutating func note(at time: Int64) -> Bool {
            times.removeAll { time - $0 >= 3600 * SuspicionDetector.second }
            guard times.count < SuspicionDetector.maximumFindings else { return false }
            times.append(time)
            return true
        }
    }

    /// The beacons that are checked.
    private struct Wanted {
        var hasAll = false
        var majors: Set<UInt16> = []
        var identities: Set<BeaconIdentity> = []

        func contains(_ identity: BeaconIdentity) -> Bool {
            hasAll || majors.contains(identity.major) || identities.contains(identity)
        }
    }

    /// A receiver's position and offset.
    struct Receiver {
        var position: ReceiverPosition?
        var offset: Float = 0
    }

    /// The rules.
    public let rules: SuspicionRules
    let calibrations: [BeaconIdentity: BeaconCalibration]
    let fastest: Float
    let margin: Float
    private let pause: Int64
    private let looksForPositions: Bool
    private let looksForAddresses: Bool
    private var constraints: [BeaconConstraint]?
    private var wanted: [ProximityUUID: Wanted] = [:]
    var receivers: [Receiver] = []
    private var places: [BeaconIdentity: Int] = [:]
    var records: [Record] = []
    private var namedCount = 0
    private var sweep = 0
    /// The records with a conflict to decide, and when to decide it.
    private var undecided: [(record: Int, due: Int64)] = []
    private var nextDue = Int64.max
    private var recentNamed = Recent()
    private var recentOthers = Recent()
    private var findings: [Suspicion] = []

    /// Creates a detector that has heard nothing.
    ///
    /// - Parameters:
    ///   - rules: the rules.
    ///   - constraints: the beacons to check.
    ///   - calibrations: the calibrations of beacons.
    public init(
        _ rules: SuspicionRules, of constraints: [BeaconConstraint],
        calibrations: [BeaconIdentity: BeaconCalibration] = [:]
    ) {
        self.rules = rules
        self.calibrations = calibrations
        fastest = Float(max(rules.fastest, 0))
        margin = Float(rules.margin)
        pause = rules.pause.boundedNanoseconds
        looksForPositions = rules.reasons.contains(.apart) || rules.reasons.contains(.speed)
        looksForAddresses = rules.reasons.contains(.addresses)
        setConstraints(constraints)
    }

    /// Sets the beacons to check. The state of beacons that remain is kept.
    public mutating func setConstraints(_ constraints: [BeaconConstraint]) {
        guard constraints != self.constraints else { return }
        self.constraints = constraints
        wanted = [:]
        for constraint in constraints {
            switch (constraint.major, constraint.identity) {
            case (_, let identity?): wanted[constraint.uuid, default: Wanted()].identities.insert(identity)
            case (let major?, nil): wanted[constraint.uuid, default: Wanted()].majors.insert(major)
            case (nil, nil): wanted[constraint.uuid, default: Wanted()].hasAll = true
            }
        }
        let before = records
        (records, places, namedCount, sweep) = ([], [:], 0, 0)
        (undecided, nextDue) = ([], .max)
        for var record in before {
            guard let wanted = wanted[record.identity.uuid], wanted.contains(record.identity) else { continue }
            record.isNamed = wanted.identities.contains(record.identity)
            record.conflict = nil
            add(record)
        }
    }

    /// Sets a receiver's position and offset.
    ///
    /// - Parameters:
    ///   - receiver: the receiver.
    ///   - position: its position; nil if it is unknown.
    ///   - offset: the decibels by which its readings are too high.
    public mutating func setReceiver(_ receiver: ReceiverID, at position: ReceiverPosition?, offset: Double = 0) {
        let index = Int(receiver.index)
        while receivers.count <= index { receivers.append(Receiver()) }
        guard receivers[index].position != position || receivers[index].offset != Float(offset) else { return }
        receivers[index] = Receiver(position: position, offset: Float(offset))
        // The contradictions until now may be due to a wrong position.
        for record in records.indices {
            records[record].fixes.removeAll { $0.receiver == receiver.index }
            records[record].conflict = nil
        }
    }

    // MARK: - Input

    /// Processes a sighting, which may be older than the previous one.
    public mutating func receive(_ sighting: Sighting) {
        let time = sighting.time.nanoseconds
        if time >= nextDue { decide(at: time) }
        guard let place = place(of: sighting.identity, at: time) else { return }
        records[place].newest = max(records[place].newest, time)
        records[place].power.hear(sighting.measuredPower, at: sighting.time)
        if looksForAddresses { receiveAddress(sighting, in: place) }
        if looksForPositions { receiveLevel(sighting, in: place) }
    }

    /// Advances the time.
    public mutating func advance(to time: Timestamp) {
        if time.nanoseconds >= nextDue { decide(at: time.nanoseconds) }
    }

    /// True if ``takeFindings()`` would return any finding.
    public var hasFindings: Bool { !findings.isEmpty }

    /// Returns the findings since the last call, in order.
    public mutating func takeFindings() -> [Suspicion] {
        defer { findings = [] }
        return findings
    }

    // MARK: - Identities

    /// Returns the index of an identity's record; nil if it is not checked, or if there are too many.
    private mutating func place(of identity: BeaconIdentity, at time: Int64) -> Int? {
        if let place = places[identity] { return place }
        guard let wanted = wanted[identity.uuid], wanted.contains(identity) else { return nil }
        let isNamed = wanted.identities.contains(identity)
        let record = Record(identity: identity, isNamed: isNamed, newest: time)
        if isNamed || records.count - namedCount < Self.maximumIdentities { return add(record) }
        // An identity that has not been heard for a while makes room. If all are heard, the oldest ones stay.
        for _ in 0..<8 {
            sweep = (sweep + 1) % records.count
            guard !records[sweep].isNamed, time - records[sweep].newest > Self.staleness else { continue }
            places[records[sweep].identity] = nil
            undecided.removeAll { $0.record == sweep }
            places[identity] = sweep
            records[sweep] = record
            return sweep
        }
        ignoredAdverts += 1
        return nil
    }

    @discardableResult
    private mutating func add(_ record: Record) -> Int {
        if record.isNamed { namedCount += 1 }
        places[record.identity] = records.count
        records.append(record)
        return records.count - 1
    }

    // MARK: - Findings

    mutating func report(_ finding: Suspicion, of place: Int) {
        guard rules.reasons.contains(finding.reason) else { return }
        let time = finding.time.nanoseconds
        if let last = records[place].reported[finding.reason], time - last < pause { return }
        let isAllowed = records[place].isNamed ? recentNamed.note(at: time) : recentOthers.note(at: time)
        guard isAllowed else {
            omittedFindings += 1
            return
        }
        records[place].reported[finding.reason] = time
        findings.append(finding)
    }
}

extension SuspicionDetector {
    /// An advert that bounds how far away a beacon was.
    struct Hearing {
        var time: Int64 = 0
        /// The loss since one meter in decibels.
        var loss: Float = 0
    }

    /// Three adverts of a beacon that one receiver heard within ``window``. They bound the beacon to a circle around
    /// it.
    struct Triple {
        var hearings = InlineArray<3, Hearing>(repeating: Hearing())
        var newest: Int64 = 0

        /// The loss in decibels that none of the three exceeds.
        var loss: Float { max(hearings[0].loss, max(hearings[1].loss, hearings[2].loss)) }
    }

    /// A receiver's adverts of a beacon.
    struct Fix {
        var receiver: UInt16
        var address: DeviceAddress
        /// The adverts of the last seconds with the least loss.
        var recent = Triple()
        var count = 0
        /// The three adverts that bound the beacon's position most; nil until there were three.
        var best: Triple?

        /// Adds an advert.
        ///
        /// - Returns: true if the newest three are complete.
        mutating func hear(_ loss: Float, at time: Int64) -> Bool {
            recent.newest = max(recent.newest, time)
            var kept = 0
            for index in 0..<count where recent.newest - recent.hearings[index].time <= SuspicionDetector.window {
                recent.hearings[kept] = recent.hearings[index]
                kept += 1
            }
            count = kept
            if count < 3 {
                recent.hearings[count] = Hearing(time: time, loss: loss)
                count += 1
            } else {
                var weakest = 0
                for index in 1..<3 where recent.hearings[index].loss > recent.hearings[weakest].loss { weakest = index }
                // Among equals, the newer one counts, because it is more recent evidence.
                if loss <= recent.hearings[weakest].loss {
                    recent.hearings[weakest] = Hearing(time: time, loss: loss)
                }
            }
            return count == 3
        }

        /// The least loss, for a receiver that has not heard three adverts.
        var leastLoss: Float {
            var least = recent.hearings[0].loss
            for index in 1..<max(count, 1) { least = min(least, recent.hearings[index].loss) }
            return least
        }
    }

    /// The distances at which signals in free space have lost a number of decibels since one meter.
    enum Radii {
        /// For whole decibels from 0 on, in meters: ten to the power of a twentieth of the decibels.
        private static let table: [Float] = {
            var radius = 1.0
            return (0...200).map { _ in
                defer { radius *= 1.122_018_454_301_963_3 }
                return Float(radius)
            }
        }()

        /// Returns the maximum distance. Everything within a meter counts as the receiver's own position.
        static func radius(_ loss: Float) -> Float {
            guard loss > 0 else { return 1 }
            let index = Int(loss.rounded(.up))
            return index < table.count ? table[index] : .infinity
        }
    }
}

extension SuspicionDetector {
    /// The time for which two devices must be heard in turns if they are too far apart for lateness to explain it, and
    /// the time for which a beacon that moved too fast must be heard at its new place.
    private static let shortTime = 6 * second
    private static let stayingTime = 5 * second
    /// The alternations that are then required.
    private static let fewTurns = 3
    /// The time for which a beacon's position is remembered.
    static let memory = 3600 * second
    /// The maximum number of receivers that are tracked for an identity.
    private static let maximumFixes = 12

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
    private mutating func receiveLevel(_ sighting: Sighting, in place: Int) {
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
    private mutating func fix(of receiver: ReceiverID, in place: Int, hearing loss: Float, at time: Int64) -> Int? {
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
    private func contradicts(_ fix: Int, _ other: ReceiverID, of place: Int) -> Bool {
        let heard = records[place].fixes[fix]
        guard heard.receiver != other.index,
            let known = records[place].fixes.first(where: { $0.receiver == other.index })?.best
        else { return false }
        return gap(from: known, at: other.index, to: heard.recent, at: heard.receiver) != nil
    }

    /// The excess in meters that late messages cannot explain.
    private var lateMeters: Float { fastest * Float(Self.lastingTime / Self.second) }

    /// Notes a contradiction.
    private mutating func note(_ gap: Gap, from first: Int, to second: Int, of place: Int, at time: Int64) {
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

extension SuspicionDetector {
    /// The state of an identity.
    struct Record {
        let identity: BeaconIdentity
        var isNamed: Bool
        var newest: Int64
        var power = MeasuredPower()
        var fixes: [Fix] = []
        var conflict: Conflict?
        var addresses: [KnownAddress] = []
        var lastAddress = 0
        var turns: Turns?
        /// The time at which each reason was last reported.
        var reported: [SuspicionReason: Int64] = [:]
    }

    /// An address of an identity.
    struct KnownAddress {
        var address: DeviceAddress
        var receiver: UInt16
        var newest: Int64
        var hasReturned = false

        /// True for an address that changes, and that receivers with its key report in another form (Core
        /// Specification, Vol 6, Part B, 1.3.2.2).
        var isResolvable: Bool { address.kind != .public && address.bits >> 46 == 0b01 }
    }

    /// Two receivers whose adverts contradict each other.
    struct Conflict {
        var newest: Int64
        var turns: Turns
        /// The time at which it was last heard at the place that it moved to.
        var arrived: Int64
        /// True once it was back at the place that it came from.
        var hasReturned = false
        var first: Suspicion.Side
        var second: Suspicion.Side
        var gap: Gap
        var isDecided = false
    }

    /// The contradiction between two triples.
    struct Gap {
        /// The distance in meters that no permitted speed explains.
        var excess: Float
        /// The minimum distance to cover in meters, and the time for it in seconds.
        var meters: Float
        var seconds: Float
        /// The distance between the receivers in meters.
        var distance: Float
    }

    /// Alternations between two devices.
    struct Turns {
        let began: Int64
        var count = 0
        private var last: Int64

        init(at time: Int64) {
            began = time
            last = time
        }

        /// Returns the alternations with one more, or new ones if the last is too old.
        func noting(at time: Int64, within span: Int64) -> Turns {
            guard time - last <= span else { return Turns(at: time) }
            var turns = self
            guard time - last >= SuspicionDetector.turnTime else { return turns }
            turns.count += 1
            turns.last = time
            return turns
        }

        /// Returns true once there are enough alternations over a long enough time.
        func reach(_ least: Int, at time: Int64, over span: Int64) -> Bool { count >= least && time - began >= span }
    }
}

extension SuspicionDetector {
    /// The time for which two addresses must be heard in turns, at any receivers.
    ///
    /// A device changes its address once in minutes (Core Specification, Vol 3, Part C, Appendix A: each 15), and
    /// adverts with the old one may arrive late by as long as gateways collect adverts.
    private static let addressTime = 30 * second
    /// The maximum number of addresses that are tracked for an identity.
    private static let maximumAddresses = 4

    /// Checks the address of an advert.
    private mutating func receiveAddress(_ sighting: Sighting, in place: Int) {
        let (time, address) = (sighting.time.nanoseconds, sighting.address)
        guard address.bits != 0 else { return }
        let last = records[place].lastAddress
        let known = KnownAddress(address: address, receiver: sighting.receiver.index, newest: time)
        // Only the bits count: one receiver may report the kind of an address and another may not.
        guard let index = records[place].addresses.firstIndex(where: { $0.address.bits == address.bits }) else {
            if records[place].addresses.count < Self.maximumAddresses {
                records[place].lastAddress = records[place].addresses.count
                records[place].addresses.append(known)
            } else {
                let least = Self.leastKnown(records[place].addresses)
                records[place].addresses[least] = known
                records[place].lastAddress = least
            }
            return
        }
        let before = records[place].addresses[index]
        records[place].addresses[index].newest = max(before.newest, time)
        records[place].addresses[index].receiver = sighting.receiver.index
        guard index != last else { return }
        records[place].lastAddress = index
        // It was heard before the other address, and is heard again, so neither has replaced the other.
        guard time - before.newest <= Self.forgetting else { return }
        records[place].addresses[index].hasReturned = true
        let other = records[place].addresses[last]
        // One receiver may know a phone's key and report another address than its neighbor.
        guard before.isResolvable == other.isResolvable || other.receiver == sighting.receiver.index else { return }
        let turns = records[place].turns?.noting(at: time, within: Self.addressTime) ?? Turns(at: time)
        records[place].turns = turns
        guard turns.reach(Self.leastTurns, at: time, over: Self.addressTime) else { return }
        report(
            Suspicion(
                time: sighting.time, identity: sighting.identity, reason: .addresses,
                first: .init(receiver: ReceiverID(other.receiver), address: other.address),
                second: .init(receiver: sighting.receiver, address: address),
                seconds: Double(time - turns.began) / Double(Self.second)),
            of: place)
    }

    /// Returns the index of the least known address: one that has not returned, and of those the oldest.
    private static func leastKnown(_ addresses: [KnownAddress]) -> Int {
        addresses.indices.min {
            let (a, b) = (addresses[$0], addresses[$1])
            return a.hasReturned == b.hasReturned ? a.newest < b.newest : b.hasReturned
        } ?? 0
    }
}
