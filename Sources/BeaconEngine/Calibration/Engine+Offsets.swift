package import BeaconModel

/// The learned offsets of an engine: the learner, if it learns, and the names of receivers.
struct OffsetLearning {
    /// The time between two fits, in nanoseconds.
    static let period = 3600 * Timestamp.nanosecondsPerSecond

    /// The offsets in use, in dB.
    var receivers: [String: Double] = [:]
    var beacons: [BeaconIdentity: Double] = [:]

    var learner: OffsetLearner?
    /// The time of the next fit, in nanoseconds; nil before the first reading.
    var due: Int64?
    /// True if there was a fit since the owner last asked.
    var isNews = false

    var names: [ReceiverID: String] = [:]
    /// The names of receivers with a calibration.
    var measured: Set<String> = []
    var moving: Set<ReceiverID> = []

    /// The names of the receivers that may have an offset.
    var movingNames: Set<String> { Set(moving.compactMap { names[$0] }).subtracting(measured) }
}

extension Engine {
    /// Sets offsets that ranging subtracts, and stops learning. Devices with a calibration keep theirs.
    package mutating func useOffsets(receivers: [String: Double], beacons: [BeaconIdentity: Double]) {
        (offsets.learner, offsets.due) = (nil, nil)
        (offsets.receivers, offsets.beacons) = (receivers, beacons)
        applyOffsets()
    }

    /// Starts to learn offsets, from earlier ones. Beacons count while they are ranged or located.
    package mutating func learnOffsets(with learner: OffsetLearner) {
        var learner = learner
        learner.moving = offsets.movingNames
        for name in offsets.measured { learner.forget(receiver: name) }
        for beacon in learner.beacons.keys where calibrations.isMeasured(beacon) { learner.forget(beacon) }
        (offsets.learner, offsets.due) = (learner, nil)
        applyOffsets()
    }

    /// The learner with its offsets; nil if the engine does not learn.
    package var offsetLearner: OffsetLearner? { offsets.learner }

    /// Lets the learned offset of a receiver follow its new name, which ``setName(_:isMeasured:of:)`` sets.
    package mutating func renameOffset(of old: String, to new: String) {
        offsets.learner?.rename(receiver: old, to: new)
    }

    /// True if there was a fit since the last call of ``takeNewOffsets(at:)``.
    package var hasNewOffsets: Bool { offsets.isNews }

    /// Returns the learner if there was a fit since the last call, after setting the time of the fit.
    package mutating func takeNewOffsets(at time: Timestamp) -> OffsetLearner? {
        guard offsets.isNews else { return nil }
        offsets.isNews = false
        offsets.learner?.report?.time = time.seconds
        return offsets.learner
    }

    /// Sets the name of a receiver. Its offset belongs to that name.
    ///
    /// - Parameter isMeasured: true if it has a calibration.
    package mutating func setName(_ name: String, isMeasured: Bool, of receiver: ReceiverID) {
        offsets.names[receiver] = name
        if isMeasured { offsets.measured.insert(name) }
        updateOffset(of: receiver)
    }

    /// Sets whether a receiver moves among the beacons, so that its offset can be learned.
    package mutating func setMoves(_ moves: Bool, of receiver: ReceiverID) {
        if moves { offsets.moving.insert(receiver) } else { offsets.moving.remove(receiver) }
        updateOffset(of: receiver)
        guard let name = offsets.names[receiver], !offsets.movingNames.contains(name),
            offsets.learner?.receivers[name] != nil
        else { return }
        offsets.learner?.forget(receiver: name)
        applyOffsets()
    }

    private mutating func updateOffset(of receiver: ReceiverID) {
        let moving = offsets.movingNames
        // Not by an optional chain, which Swift 6.2 for 64-bit Arm cannot compile.
        if var learner = offsets.learner {
            learner.moving = moving
            offsets.learner = learner
        }
        guard let name = offsets.names[receiver], let place = place(of: receiver) else { return }
        receivers[place].learnedOffset = offsets.measured.contains(name) ? 0 : offsets.receivers[name] ?? 0
    }

    /// Passes the offsets to everything that uses them.
    private mutating func applyOffsets() {
        if let learner = offsets.learner { (offsets.receivers, offsets.beacons) = (learner.receivers, learner.beacons) }
        for receiver in offsets.names.keys.sorted(by: { $0.index < $1.index }) { updateOffset(of: receiver) }
        calibrations.setOffsets(offsets.beacons)
        for number in listed {
            tracks.level(Int(number)).pointee.calibration = calibrations.place(
                of: tracks[Int(number)].pointee.key.identity)
        }
    }

    /// Adds a second's readings of a listed beacon.
    @inline(never)
    mutating func learnOffset(_ number: Int, _ readings: SampleDigest, by place: Int, at tick: Int64) {
        guard let mean = readings.mean, receivers[place].isRanging, let name = offsets.names[receivers[place].id] else {
            return
        }
        if offsets.due == nil { offsets.due = tick + OffsetLearning.period }
        let (beacon, claim) = (tracks[number].pointee.key.identity, tracks[number].pointee.power)
        offsets.learner?.hear(
            mean, count: Int(readings.count),
            over: calibrations.measuredPower(of: beacon, claim: claim) + receivers[place].offset, of: beacon,
            kind: OffsetLearner.Kind(
                uuid: beacon.uuid, power: claim.valid, isCalibrated: calibrations.isMeasured(beacon)), by: name,
            at: tick / Timestamp.nanosecondsPerSecond)
    }

    /// Fits the offsets once an hour.
    @inline(never)
    mutating func fitOffsets(at tick: Int64) {
        guard let due = offsets.due, tick >= due else { return }
        offsets.due = tick + OffsetLearning.period
        offsets.learner?.update(hours: Double(tick - due) / Double(OffsetLearning.period) + 1)
        offsets.isNews = true
        applyOffsets()
    }
}
