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
    /// The most findings in an hour.
    public static let mostFindings = 60

    /// The most identities that are followed, besides those that the constraints name in full.
    public static let mostIdentities = 16_384

    /// The findings that were left out since there were too many.
    public private(set) var omittedFindings = 0
    /// The identities that were not followed since there were too many.
    public private(set) var ignoredIdentities = 0

    // Choices. Messages of receivers may be seconds late, and all come at once: what they show has to last for longer.
    private static let second = Timestamp.nanosecondsPerSecond
    /// For how long two devices have to be heard in turns at receivers far apart, and how late messages may be.
    private static let lastingTime = 15 * second
    /// The same for two addresses, at any receivers. A device that changes its address does so once in minutes (Core
    /// Specification, Vol 3, Part C, Appendix A: each 15), and the old one may come late for as long as gateways gather.
    private static let addressTime = 30 * second
    /// The turns that there have to be, and the time between two that count: messages that come together are one.
    private static let leastTurns = 4
    private static let turnTime = 2 * second
    /// The time after which turns are of another occasion.
    private static let forgetting = 60 * second
    /// The time within which three adverts have to be heard.
    private static let window = 10 * second
    /// The time for which it is known where a beacon was.
    private static let memory = 3600 * second
    /// The time unheard after which an identity may make room for another.
    private static let staleness = 60 * second
    /// The receivers and addresses of an identity that are followed.
    private static let mostFixes = 8
    private static let mostAddresses = 4
    private static let mostKinds = 4096

    /// An advert that shows how near a beacon was.
    private struct Hearing {
        var time: Int64 = 0
        /// The signal in dBm.
        var level: Float = 0
    }

    /// The three strongest adverts of a beacon at a receiver in ``window``.
    private struct Fix {
        var receiver: UInt16
        var address: DeviceAddress
        var newest: Int64
        var count = 0
        var hearings = InlineArray<3, Hearing>(repeating: Hearing())

        var isComplete: Bool { count == 3 }

        /// The level that all three reach.
        var level: Float {
            var least = hearings[0].level
            for index in 1..<3 { least = min(least, hearings[index].level) }
            return least
        }

        mutating func hear(_ level: Float, at time: Int64, window: Int64) {
            newest = max(newest, time)
            var kept = 0
            for index in 0..<count where newest - hearings[index].time <= window {
                hearings[kept] = hearings[index]
                kept += 1
            }
            count = kept
            if count < 3 {
                hearings[count] = Hearing(time: time, level: level)
                count += 1
                return
            }
            var weakest = 0
            for index in 1..<3 where hearings[index].level < hearings[weakest].level { weakest = index }
            // Of equals the newer one, which says more of now.
            if level >= hearings[weakest].level { hearings[weakest] = Hearing(time: time, level: level) }
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

        mutating func note(at time: Int64) {
            guard time - last >= SuspicionDetector.turnTime else { return }
            count += 1
            last = time
        }

        /// True once there were enough, over a time.
        func isEnough(at time: Int64, over span: Int64) -> Bool {
            count >= SuspicionDetector.leastTurns && time - began >= span
        }
    }

    /// Two receivers whose adverts contradict each other.
    private struct Conflict {
        var newest: Int64
        var turns: Turns
        /// True once it was back at the first.
        var hasReturned = false
        var first: Suspicion.Side
        var second: Suspicion.Side
        var gap: Gap
        var isDecided = false
    }

    /// What lies between two fixes that contradict each other.
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
    }

    /// What is known of an identity.
    private struct Record {
        let identity: BeaconIdentity
        var isNamed: Bool
        var newest: Int64
        var kind: Int?
        /// What it said of its power last.
        var power: Int8?
        var fixes: [Fix] = []
        var conflict: Conflict?
        var addresses: [KnownAddress] = []
        var lastAddress = 0
        var turns: Turns?
        var newestTurn: Int64?
        /// When each reason was reported last.
        var reported: [SuspicionReason: Int64] = [:]
    }

    /// Beacons that say the same of their power, and how strong they are.
    private struct Kind {
        /// The level at one metre that is believed in any case, in dBm.
        let least: Float
        /// The strongest that was heard.
        var strongest: Float
        var newest: Int64

        /// What most beacons of 0 dBm say, as ``IBeaconFrame/defaultMeasuredPower`` has it.
        static let usualPower = Float(IBeaconFrame.defaultMeasuredPower)

        init(power: Float, at time: Int64) {
            // What says that it is weaker may have been set up wrongly.
            least = min(max(power, Self.usualPower), Self.strongestPower)
            strongest = -127
            newest = time
        }

        /// What a beacon of 20 dBm, the most that there is (Core Specification, Vol 6, Part A, 3), has where one of 0 dBm has -59.
        private static let strongestPower: Float = -39

        /// What is heard strongest is heard from some 30 cm, which is 10 dB more than at one metre.
        private static let closeness: Float = 10

        /// What is forgotten in an hour, in dB.
        private static let decay: Float = 1

        mutating func hear(_ level: Float, at time: Int64) {
            let hours = Float(max(time - newest, 0)) / Float(3600 * second)
            strongest = max(strongest - Self.decay * min(hours, 100), level)
            newest = max(newest, time)
        }

        /// The level at one metre.
        var reference: Float { max(least, min(strongest - Self.closeness, Self.strongestPower)) }
    }

    private struct KindKey: Hashable {
        var uuid: ProximityUUID
        var power: Int8
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
    private var wanted: [ProximityUUID: Wanted] = [:]
    private var receivers: [Receiver] = []
    private var places: [BeaconIdentity: Int] = [:]
    private var records: [Record] = []
    private var namedCount = 0
    private var sweep = 0
    private var kindPlaces: [KindKey: Int] = [:]
    private var kinds: [Kind] = []
    /// The records with a conflict that is to be decided, and when.
    private var undecided: [(record: Int, due: Int64)] = []
    private var nextDue = Int64.max
    private var hour: (began: Int64, count: Int)?
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
        ignoredIdentities += 1
        return nil
    }

    @discardableResult
    private mutating func add(_ record: Record) -> Int {
        if record.isNamed { namedCount += 1 }
        places[record.identity] = records.count
        records.append(record)
        return records.count - 1
    }

    /// The level of an identity at one metre.
    private func reference(of place: Int) -> Float {
        if !calibrations.isEmpty, let calibration = calibrations[records[place].identity] {
            return Float(calibration.power)
        }
        return records[place].kind.map { kinds[$0].reference } ?? Kind.usualPower
    }

    /// Notes what a beacon says of its power. It counts as the strongest of what it has said.
    private mutating func note(_ power: Int8, of place: Int, at time: Int64) {
        guard records[place].power != power else { return }
        records[place].power = power
        let identity = records[place].identity
        let key = KindKey(uuid: identity.uuid, power: power)
        let kind: Int
        if let known = kindPlaces[key] {
            kind = known
        } else {
            guard kinds.count < Self.mostKinds else { return }
            kind = kinds.count
            kindPlaces[key] = kind
            kinds.append(Kind(power: Float(power), at: time))
        }
        if let before = records[place].kind, kinds[before].reference >= kinds[kind].reference { return }
        records[place].kind = kind
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
                var oldest = 0
                for index in 1..<Self.mostAddresses
                where records[place].addresses[index].newest < records[place].addresses[oldest].newest {
                    oldest = index
                }
                records[place].addresses[oldest] = known
                records[place].lastAddress = oldest
            }
            return
        }
        let before = records[place].addresses[index]
        records[place].addresses[index].newest = max(before.newest, time)
        records[place].addresses[index].receiver = sighting.receiver.index
        guard index != last else { return }
        records[place].lastAddress = index
        // It was heard before another one, and is again: neither has taken the other's place.
        guard time - before.newest <= Self.forgetting else { return records[place].turns = nil }
        var turns = records[place].turns ?? Turns(at: time)
        if let newest = records[place].newestTurn, time - newest > Self.forgetting { turns = Turns(at: time) }
        turns.note(at: time)
        records[place].turns = turns
        records[place].newestTurn = max(records[place].newestTurn ?? time, time)
        guard turns.isEnough(at: time, over: Self.addressTime) else { return }
        let other = records[place].addresses[last]
        report(
            Suspicion(
                time: sighting.time, identity: sighting.identity, reason: .addresses,
                first: .init(receiver: ReceiverID(other.receiver), address: other.address),
                second: .init(receiver: sighting.receiver, address: address),
                seconds: Double(time - turns.began) / Double(Self.second)),
            of: place)
    }

    // MARK: - Two positions

    private mutating func receiveLevel(_ sighting: Sighting, in place: Int) {
        let index = Int(sighting.receiver.index)
        guard let reading = sighting.rssi.dBm, index < receivers.count, receivers[index].position != nil else { return }
        let time = sighting.time.nanoseconds
        let level = Float(reading) - receivers[index].offset
        note(sighting.measuredPower, of: place, at: time)
        guard let fix = updateFix(of: place, with: sighting, level) else { return }
        if let kind = records[place].kind { kinds[kind].hear(records[place].fixes[fix].level, at: time) }
        guard records[place].fixes.count > 1 else { return }
        var widest: (gap: Gap, other: Int)?
        for other in records[place].fixes.indices where other != fix && records[place].fixes[other].isComplete {
            guard let gap = gap(from: other, to: fix, of: place), gap.excess > widest?.gap.excess ?? 0 else { continue }
            widest = (gap, other)
        }
        if let widest { note(widest.gap, from: widest.other, to: fix, of: place, at: time) }
    }

    /// Takes in an advert.
    ///
    /// - Returns: the fix, where it is complete.
    private mutating func updateFix(of place: Int, with sighting: Sighting, _ level: Float) -> Int? {
        let (time, receiver) = (sighting.time.nanoseconds, sighting.receiver.index)
        let fix: Int
        if let known = records[place].fixes.firstIndex(where: { $0.receiver == receiver }) {
            fix = known
        } else {
            let new = Fix(receiver: receiver, address: sighting.address, newest: time)
            if records[place].fixes.count < Self.mostFixes {
                fix = records[place].fixes.count
                records[place].fixes.append(new)
            } else {
                // The one in whose place it is heard longest ago.
                var oldest = 0
                for index in 1..<Self.mostFixes
                where records[place].fixes[index].newest < records[place].fixes[oldest].newest {
                    oldest = index
                }
                records[place].fixes[oldest] = new
                fix = oldest
            }
        }
        records[place].fixes[fix].hear(level, at: time, window: Self.window)
        records[place].fixes[fix].address = sighting.address
        return records[place].fixes[fix].isComplete ? fix : nil
    }

    /// Returns what lies between two fixes; nil where one device may have made both.
    private func gap(from first: Int, to second: Int, of place: Int) -> Gap? {
        let (a, b) = (records[place].fixes[first], records[place].fixes[second])
        guard let from = receivers[Int(a.receiver)].position, let to = receivers[Int(b.receiver)].position,
            abs(b.newest - a.newest) <= Self.memory
        else { return nil }
        let distance = Float(from.distance(to: to))
        let strongest = reference(of: place) + margin
        // Each of the three has to be contradicted by one of the others: a single wrong reading says nothing.
        var least: Gap?
        for (mine, others) in [(a, b), (b, a)] {
            for index in 0..<3 {
                var most: Gap?
                for other in 0..<3 {
                    let (one, two) = (mine.hearings[index], others.hearings[other])
                    let metres =
                        distance - Radii.radius(strongest - one.level) - Radii.radius(strongest - two.level)
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

    /// Notes a contradiction.
    private mutating func note(_ gap: Gap, from first: Int, to second: Int, of place: Int, at time: Int64) {
        let (a, b) = (records[place].fixes[first], records[place].fixes[second])
        let sides = (
            Suspicion.Side(receiver: ReceiverID(a.receiver), address: a.address),
            Suspicion.Side(receiver: ReceiverID(b.receiver), address: b.address)
        )
        guard var conflict = records[place].conflict, time - conflict.newest <= Self.forgetting else {
            records[place].conflict = Conflict(
                newest: time, turns: Turns(at: time), first: sides.0, second: sides.1, gap: gap)
            undecided.removeAll { $0.record == place }
            undecided.append((place, time + Self.lastingTime))
            nextDue = min(nextDue, time + Self.lastingTime)
            return
        }
        conflict.newest = max(conflict.newest, time)
        if conflict.second.receiver != sides.1.receiver {
            conflict.hasReturned = true
            conflict.turns.note(at: time)
            (conflict.first, conflict.second) = sides
        }
        if !conflict.hasReturned, gap.excess > conflict.gap.excess { conflict.gap = gap }
        records[place].conflict = conflict
        guard conflict.turns.isEnough(at: time, over: Self.lastingTime) else { return }
        records[place].conflict = nil
        report(
            Suspicion(
                time: Timestamp(nanoseconds: time), identity: records[place].identity, reason: .apart,
                first: conflict.first, second: conflict.second, distance: Double(gap.distance),
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
            let late = fastest * Float(Self.lastingTime / Self.second)
            guard conflict.gap.excess > late else { continue }
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
        records[place].reported[finding.reason] = time
        var hour = hour ?? (time, 0)
        if time - hour.began >= 3600 * Self.second { hour = (time, 0) }
        hour.count += 1
        self.hour = hour
        guard hour.count <= Self.mostFindings else {
            omittedFindings += 1
            return
        }
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
