public import BeaconModel

/// A detector of identities that are heard as no single device can be.
///
/// It does no I/O and reads no clock. What is heard counts, and silence means nothing, so that deaf receivers need no
/// attention. Its memory is bounded, and what it reports as well: invented identities neither fill the one nor push out what
/// is known, and of the other there are ``mostFindings`` an hour.
///
/// An advert of a certain strength bounds the distance at which it was sent: in free space a signal loses 20 dB from one
/// metre to ten, and hardly ever less. Three adverts by which a beacon was near a receiver, and three by which it was near
/// another, contradict each other where no speed leads from the one to the other.
public struct SuspicionDetector: Sendable {
    /// The most findings in an hour, of identities that the constraints name in full, and of others.
    public static let mostFindings = 60

    /// The most identities that are followed, besides those that the constraints name in full.
    public static let mostIdentities = 16_384

    /// The findings that were left out since there were too many.
    public private(set) var omittedFindings = 0
    /// The adverts of identities that were not followed since there were too many.
    public private(set) var ignoredAdverts = 0

    // Choices. Messages of receivers may be seconds late, and all come at once: what they show has to last for longer.
    private static let second = Timestamp.nanosecondsPerSecond
    /// For how long two devices have to be heard in turns at receivers far apart, and how late messages may be.
    private static let lastingTime = 15 * second
    /// The same where they are so far apart that lateness does not explain it, and for how long one that came too fast has to be
    /// heard where it came to.
    private static let shortTime = 6 * second
    private static let stayingTime = 5 * second
    /// The same for two addresses, at any receivers. A device that changes its address does so once in minutes (Core
    /// Specification, Vol 3, Part C, Appendix A: each 15), and the old one may come late for as long as gateways gather.
    private static let addressTime = 30 * second
    /// The turns that there have to be, and the time between two that count: messages that come together are one.
    private static let leastTurns = 4
    private static let fewTurns = 3
    private static let turnTime = 2 * second
    /// The time after which contradictions, and addresses, are of another occasion.
    private static let forgetting = 60 * second
    /// The time within which three adverts have to be heard.
    private static let window = 10 * second
    /// The time for which it is known where a beacon was.
    private static let memory = 3600 * second
    /// The time unheard after which an identity may make room for another.
    private static let staleness = 60 * second
    /// The receivers and addresses of an identity that are followed.
    private static let mostFixes = 12
    private static let mostAddresses = 4

    /// An advert that shows how near a beacon was.
    private struct Hearing {
        var time: Int64 = 0
        /// The decibels that were lost since one metre.
        var loss: Float = 0
    }

    /// Three adverts of a beacon that one receiver heard within ``window``, by which it was in a circle around it.
    private struct Triple {
        var hearings = InlineArray<3, Hearing>(repeating: Hearing())
        var newest: Int64 = 0

        /// The decibels that none of the three exceeds.
        var loss: Float { max(hearings[0].loss, max(hearings[1].loss, hearings[2].loss)) }
    }

    /// What a receiver heard of a beacon.
    private struct Fix {
        var receiver: UInt16
        var address: DeviceAddress
        /// The adverts of the last seconds that lost least.
        var recent = Triple()
        var count = 0
        /// The three that say most of where the beacon can be; nil until there were three.
        var best: Triple?

        /// Takes in an advert.
        ///
        /// - Returns: true where the newest three are complete.
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
                // Of equals the newer one, which says more of now.
                if loss <= recent.hearings[weakest].loss {
                    recent.hearings[weakest] = Hearing(time: time, loss: loss)
                }
            }
            return count == 3
        }

        /// The least that was lost, for a receiver that has not heard three.
        var leastLoss: Float {
            var least = recent.hearings[0].loss
            for index in 1..<max(count, 1) { least = min(least, recent.hearings[index].loss) }
            return least
        }
    }

    /// Changes from one of two to the other and back.
    private struct Turns {
        let began: Int64
        var count = 0
        private var last: Int64

        init(at time: Int64) {
            began = time
            last = time
        }

        /// Takes in a turn, after others or of another occasion.
        func noting(at time: Int64, within span: Int64) -> Turns {
            guard time - last <= span else { return Turns(at: time) }
            var turns = self
            guard time - last >= SuspicionDetector.turnTime else { return turns }
            turns.count += 1
            turns.last = time
            return turns
        }

        /// True once there were so many, over so long.
        func reach(_ least: Int, at time: Int64, over span: Int64) -> Bool { count >= least && time - began >= span }
    }

    /// Two receivers whose adverts contradict each other.
    private struct Conflict {
        var newest: Int64
        var turns: Turns
        /// When it was heard last where it came to.
        var arrived: Int64
        /// True once it was back where it came from.
        var hasReturned = false
        var first: Suspicion.Side
        var second: Suspicion.Side
        var gap: Gap
        var isDecided = false
    }

    /// What lies between two triples that contradict each other.
    private struct Gap {
        /// The metres that no speed explains.
        var excess: Float
        /// The metres that have to be covered at least, and the seconds that there are.
        var metres: Float
        var seconds: Float
        /// The metres between the receivers.
        var distance: Float
    }

    private struct KnownAddress {
        var address: DeviceAddress
        var receiver: UInt16
        var newest: Int64
        var hasReturned = false

        /// True for one that changes, and that those who know its key give in another form (Core Specification, Vol 6, Part B,
        /// 1.3.2.2).
        var isResolvable: Bool { address.kind != .public && address.bits >> 46 == 0b01 }
    }

    /// What is known of an identity.
    private struct Record {
        let identity: BeaconIdentity
        var isNamed: Bool
        var newest: Int64
        var fixes: [Fix] = []
        var conflict: Conflict?
        var addresses: [KnownAddress] = []
        var lastAddress = 0
        var turns: Turns?
        /// When each reason was reported last.
        var reported: [SuspicionReason: Int64] = [:]
    }

    /// The findings of the last hour.
    private struct Recent {
        private var times: [Int64] = []

        /// Notes a finding.
        ///
        /// - Returns: false where there were too many.
        mutating func note(at time: Int64) -> Bool {
            times.removeAll { time - $0 >= 3600 * SuspicionDetector.second }
            guard times.count < SuspicionDetector.mostFindings else { return false }
            times.append(time)
            return true
        }
    }

    /// Which beacons are looked at.
    private struct Wanted {
        var hasAll = false
        var majors: Set<UInt16> = []
        var identities: Set<BeaconIdentity> = []

        func contains(_ identity: BeaconIdentity) -> Bool {
            hasAll || majors.contains(identity.major) || identities.contains(identity)
        }
    }

    private struct Receiver {
        var position: ReceiverPosition?
        var offset: Float = 0
    }

    /// The rules.
    public let rules: SuspicionRules
    private let calibrations: [BeaconIdentity: BeaconCalibration]
    private let fastest: Float
    private let margin: Float
    private let pause: Int64
    private let looksForPositions: Bool
    private let looksForAddresses: Bool
    private var constraints: [BeaconConstraint]?
    private var wanted: [ProximityUUID: Wanted] = [:]
    private var receivers: [Receiver] = []
    private var places: [BeaconIdentity: Int] = [:]
    private var records: [Record] = []
    private var namedCount = 0
    private var sweep = 0
    /// The records with a conflict that is to be decided, and when.
    private var undecided: [(record: Int, due: Int64)] = []
    private var nextDue = Int64.max
    private var recentNamed = Recent()
    private var recentOthers = Recent()
    private var findings: [Suspicion] = []

    /// A detector that has heard nothing.
    ///
    /// - Parameters:
    ///   - rules: the rules.
    ///   - constraints: the beacons that are looked at.
    ///   - calibrations: what was measured of beacons.
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

    /// Sets the beacons that are looked at. What is known of those that still are stays.
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

    /// Sets where a receiver is, and by how much its readings are too high.
    ///
    /// - Parameters:
    ///   - receiver: the receiver.
    ///   - position: where it is; nil where that is not known.
    ///   - offset: the decibels by which its readings are too high.
    public mutating func setReceiver(_ receiver: ReceiverID, at position: ReceiverPosition?, offset: Double = 0) {
        let index = Int(receiver.index)
        while receivers.count <= index { receivers.append(Receiver()) }
        guard receivers[index].position != position || receivers[index].offset != Float(offset) else { return }
        receivers[index] = Receiver(position: position, offset: Float(offset))
        // What contradicted itself may have done so since the position was wrong.
        for record in records.indices {
            records[record].fixes.removeAll { $0.receiver == receiver.index }
            records[record].conflict = nil
        }
    }

    // MARK: - Input

    /// Processes a sighting, which may be older than the one before.
    public mutating func receive(_ sighting: Sighting) {
        let time = sighting.time.nanoseconds
        if time >= nextDue { decide(at: time) }
        guard let place = place(of: sighting.identity, at: time) else { return }
        records[place].newest = max(records[place].newest, time)
        if looksForAddresses { receiveAddress(sighting, in: place) }
        if looksForPositions { receiveLevel(sighting, in: place) }
    }

    /// Lets time pass.
    public mutating func advance(to time: Timestamp) {
        if time.nanoseconds >= nextDue { decide(at: time.nanoseconds) }
    }

    /// True where ``takeFindings()`` would return anything.
    public var hasFindings: Bool { !findings.isEmpty }

    /// Returns what was found since the last call, in order.
    public mutating func takeFindings() -> [Suspicion] {
        defer { findings = [] }
        return findings
    }

    // MARK: - Identities

    /// Returns the place of an identity's record; nil where it is not looked at, or there are too many.
    private mutating func place(of identity: BeaconIdentity, at time: Int64) -> Int? {
        if let place = places[identity] { return place }
        guard let wanted = wanted[identity.uuid], wanted.contains(identity) else { return nil }
        let isNamed = wanted.identities.contains(identity)
        let record = Record(identity: identity, isNamed: isNamed, newest: time)
        if isNamed || records.count - namedCount < Self.mostIdentities { return add(record) }
        // One that has not been heard for a while makes room. Where all are heard, those that came first stay.
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

    /// Returns the level in dBm that an advert had at one metre.
    private func power(of sighting: Sighting) -> Float {
        if !calibrations.isEmpty, let calibration = calibrations[sighting.identity] { return Float(calibration.power) }
        // What says that it is weaker than usual may have been set up wrongly; nothing is stronger than 20 dBm (Core
        // Specification, Vol 6, Part A, 3), with which a beacon has what one of 0 dBm has and 20 dB.
        let usual = Float(IBeaconFrame.defaultMeasuredPower)
        return min(max(Float(sighting.measuredPower), usual), usual + 20)
    }

    // MARK: - Two addresses

    private mutating func receiveAddress(_ sighting: Sighting, in place: Int) {
        let (time, address) = (sighting.time.nanoseconds, sighting.address)
        guard address.bits != 0 else { return }
        let last = records[place].lastAddress
        let known = KnownAddress(address: address, receiver: sighting.receiver.index, newest: time)
        // The same one may be of a kind that one receiver tells and another does not.
        guard let index = records[place].addresses.firstIndex(where: { $0.address.bits == address.bits }) else {
            if records[place].addresses.count < Self.mostAddresses {
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
        // It was heard before another one, and is again: neither has taken the other's place.
        guard time - before.newest <= Self.forgetting else { return }
        records[place].addresses[index].hasReturned = true
        let other = records[place].addresses[last]
        // One receiver may know the key of a phone, and give another address than its neighbour.
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

    /// Returns the place of the address that is known least: one that has not come back, and of those the oldest.
    private static func leastKnown(_ addresses: [KnownAddress]) -> Int {
        addresses.indices.min {
            let (a, b) = (addresses[$0], addresses[$1])
            return a.hasReturned == b.hasReturned ? a.newest < b.newest : b.hasReturned
        } ?? 0
    }

    // MARK: - Two positions

    private mutating func receiveLevel(_ sighting: Sighting, in place: Int) {
        let index = Int(sighting.receiver.index)
        guard let reading = sighting.rssi.dBm, index < receivers.count, receivers[index].position != nil else { return }
        let time = sighting.time.nanoseconds
        let loss = power(of: sighting) - Float(reading) + receivers[index].offset
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
    private func bound(of triple: Triple, at time: Int64) -> Float {
        Radii.radius(triple.loss + margin) + fastest * Float(max(time - triple.newest, 0)) / Float(Self.second)
    }

    /// Returns the metres around its receiver within which a beacon can be now of which this was heard.
    private func bound(of fix: Fix, at time: Int64) -> Float {
        let recent =
            Radii.radius(fix.leastLoss + margin)
            + fastest * Float(max(time - fix.recent.newest, 0)) / Float(Self.second)
        return fix.best.map { min(recent, bound(of: $0, at: time)) } ?? recent
    }

    /// Returns the place of what a receiver heard of an identity. Where there are many, one that says more takes the place of
    /// the one that says least; nil where it does not.
    private mutating func fix(of receiver: ReceiverID, in place: Int, hearing loss: Float, at time: Int64) -> Int? {
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
    private func gap(from a: Triple, at first: UInt16, to b: Triple, at second: UInt16) -> Gap? {
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
    private func contradicts(_ fix: Int, _ other: ReceiverID, of place: Int) -> Bool {
        let heard = records[place].fixes[fix]
        guard heard.receiver != other.index,
            let known = records[place].fixes.first(where: { $0.receiver == other.index })?.best
        else { return false }
        return gap(from: known, at: other.index, to: heard.recent, at: heard.receiver) != nil
    }

    /// The metres that are too many for messages that were late.
    private var lateMetres: Float { fastest * Float(Self.lastingTime / Self.second) }

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
    private mutating func decide(at time: Int64) {
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

    // MARK: - Findings

    private mutating func report(_ finding: Suspicion, of place: Int) {
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

    /// The distances at which signals in free space have lost so many decibels since one metre.
    private enum Radii {
        /// For whole decibels from 0 on, in metres: ten to the power of a twentieth of them.
        private static let table: [Float] = {
            var radius = 1.0
            return (0...200).map { _ in
                defer { radius *= 1.122_018_454_301_963_3 }
                return Float(radius)
            }
        }()

        /// Returns the greatest distance; a receiver's surroundings count as its own place.
        static func radius(_ loss: Float) -> Float {
            guard loss > 0 else { return 1 }
            let index = Int(loss.rounded(.up))
            return index < table.count ? table[index] : .infinity
        }
    }
}
