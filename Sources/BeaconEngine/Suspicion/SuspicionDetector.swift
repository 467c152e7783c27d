public import BeaconModel

/// A detector of identities that are heard as no single device can be.
///
/// It does no I/O and reads no clock. What is heard counts, and silence means nothing, so that deaf receivers need no
/// attention. Its memory is bounded, and what it reports as well: invented identities neither fill the one nor push out
/// what is known, and of the other there are ``mostFindings`` an hour.
///
/// An advert of a certain strength bounds the distance at which it was sent: in free space a signal loses 20 dB from
/// one metre to ten, and hardly ever less. Three adverts by which a beacon was near a receiver, and three by which it
/// was near another, contradict each other where no speed leads from the one to the other.
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
    static let second = Timestamp.nanosecondsPerSecond
    /// For how long two devices have to be heard in turns at receivers far apart, and how late messages may be.
    static let lastingTime = 15 * second
    /// The turns that there have to be, and the time between two that count: messages that come together are one.
    static let leastTurns = 4
    static let turnTime = 2 * second
    /// The time after which contradictions, and addresses, are of another occasion.
    static let forgetting = 60 * second
    /// The time within which three adverts have to be heard.
    static let window = 10 * second
    /// The time unheard after which an identity may make room for another.
    static let staleness = 60 * second

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

    /// What is known of a receiver.
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
    /// The records with a conflict that is to be decided, and when.
    var undecided: [(record: Int, due: Int64)] = []
    var nextDue = Int64.max
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
        records[place].power.hear(sighting.measuredPower, at: sighting.time)
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
