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
    static let lastingTime = 15 * second
    /// The required alternations, and the minimum time between two that count: messages that arrive together are one.
    static let leastTurns = 4
    static let turnTime = 2 * second
    /// The time after which contradictions and addresses belong to a new occasion.
    static let forgetting = 60 * second
    /// The time within which three adverts must be heard.
    static let window = 10 * second
    /// The time without an advert after which an identity may make room for another.
    static let staleness = 60 * second

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
    var undecided: [(record: Int, due: Int64)] = []
    var nextDue = Int64.max
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
