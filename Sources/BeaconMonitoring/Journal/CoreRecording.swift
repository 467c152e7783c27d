package import BeaconModel

/// The record of a core's inputs since the last ``take()``, and the checkpoint of the present.
///
/// It holds adverts of chosen beacons only. Of other adverts it keeps the time where the core does something because of
/// it.
package struct CoreRecording: Sendable {
    /// A part of a recording.
    package enum Part: Hashable, Sendable {
        case input(CoreInput)
        case traffic(CoreTraffic)
    }

    /// The most adverts in memory. A disk that does not accept them for so long loses this stretch.
    private static let maximumBytes = 8 << 20

    private var beacons = RecordedBeacons()
    /// True if inputs are recorded. The checkpoint is kept up to date in any case.
    package var isOn: Bool {
        didSet {
            guard !isOn else { return }
            _ = take()
            hasGap = true
        }
    }

    private var parts: [Part] = []
    private var traffic = CoreTraffic()
    private var known: [BeaconIdentity: Bool] = [:]
    private var checkpoint = CoreCheckpoint()
    private var bytes = 0
    /// The newest recorded time, and that of the adverts that are not recorded.
    private var newest = Timestamp.zero
    private var newestStranger = Timestamp.zero
    /// True if something was dropped, so that what follows does not continue what was taken before.
    private var hasGap = false
    /// True while a call that was recorded makes others.
    var isNested = false

    /// Creates an empty recording.
    package init(isOn: Bool) { self.isOn = isOn }

    /// The number of bytes of adverts that wait to be taken.
    package var waitingBytes: Int { bytes + traffic.bytes.count }

    // MARK: - Recording

    /// Sets the beacons whose adverts are recorded.
    package mutating func record(_ beacons: RecordedBeacons) {
        guard beacons != self.beacons else { return }
        (self.beacons, known) = (beacons, [:])
        note(.record(beacons))
    }

    /// Notes a call.
    package mutating func note(_ input: CoreInput) {
        guard !isNested, !checkpoint.has(input) else { return }
        checkpoint.note(input)
        guard isOn else { return }
        noteStranger()
        endTraffic()
        parts.append(.input(input))
        // About what it takes as JSON.
        bytes += 256
        if case .note(let text) = input { bytes += text.utf8.count }
        boundTraffic()
    }

    /// Notes an advert.
    ///
    /// - Parameter isTimeNews: true if the core does something because of the time, whatever beacon it is.
    mutating func note(_ sighting: Sighting, isTimeNews: Bool) {
        guard isOn else { return }
        let isRecorded = known[sighting.identity] ?? decide(sighting.identity)
        if isRecorded {
            traffic.add(.advert(sighting))
            newest = max(newest, sighting.time)
        } else {
            newestStranger = max(newestStranger, sighting.time)
            if isTimeNews { noteStranger() }
        }
        boundTraffic()
    }

    /// Notes a step of time.
    ///
    /// - Parameter isTimeNews: true if the core does something at the time before it.
    mutating func note(_ time: Timestamp, isIncluded: Bool, isTimeNews: Bool) {
        guard isOn, !isNested else { return }
        if isTimeNews { noteStranger() }
        traffic.add(isIncluded ? .to(time) : .upTo(time))
        newest = max(newest, time)
        boundTraffic()
    }

    /// Notes the time of the last advert that is not recorded, if it is the newest time.
    private mutating func noteStranger() {
        guard newestStranger > newest else { return }
        traffic.add(.passed(newestStranger))
        newest = newestStranger
    }

    private mutating func decide(_ identity: BeaconIdentity) -> Bool {
        // An air with many strangers must not fill the memory.
        if known.count >= 4096 { known = [:] }
        let isRecorded = beacons.contains(identity)
        known[identity] = isRecorded
        return isRecorded
    }

    private mutating func endTraffic() {
        guard !traffic.isEmpty else { return }
        bytes += traffic.bytes.count
        parts.append(.traffic(traffic))
        traffic = CoreTraffic()
    }

    private mutating func boundTraffic() {
        guard waitingBytes > Self.maximumBytes else { return }
        (parts, traffic, bytes) = ([], CoreTraffic(), 0)
        hasGap = true
    }

    // MARK: - Taking

    /// Removes and returns what was recorded since the last call, and whether it continues that.
    package mutating func take() -> (parts: [Part], isContinued: Bool) {
        noteStranger()
        endTraffic()
        defer { (parts, bytes, hasGap) = ([], 0, false) }
        return (parts, !hasGap)
    }

    /// Returns the calls that begin again from the present.
    package func beginning(of core: borrowing MonitoringCore, places: [BeaconIdentity: String]) -> [CoreInput] {
        checkpoint.inputs(for: core, places: places)
    }
}

/// The beacons whose adverts a journal keeps: named beacons, tags, and regions that do not cover a whole UUID.
package struct RecordedBeacons: Hashable, Codable, Sendable {
    private struct Group: Hashable, Codable, Sendable {
        var uuid: ProximityUUID
        var major: UInt16
    }

    private var beacons: Set<BeaconIdentity> = []
    private var groups: Set<Group> = []
    private var uuids: Set<ProximityUUID> = []

    /// Creates a set without beacons.
    package init() {}

    /// Creates the set of the beacons that match any of the constraints.
    ///
    /// - Parameter includesStrangers: whether a constraint with only a UUID counts.
    package init(_ constraints: some Sequence<BeaconConstraint>, includesStrangers: Bool) {
        for constraint in constraints {
            switch (constraint.major, constraint.minor) {
            case (let major?, let minor?):
                beacons.insert(BeaconIdentity(uuid: constraint.uuid, major: major, minor: minor))
            case (let major?, nil): groups.insert(Group(uuid: constraint.uuid, major: major))
            default: if includesStrangers { uuids.insert(constraint.uuid) }
            }
        }
    }

    /// Returns the set with each constraint replaced.
    package func mapped(_ transform: (BeaconConstraint) -> BeaconConstraint) -> RecordedBeacons {
        let constraints =
            beacons.map { BeaconConstraint($0) } + groups.map { BeaconConstraint(uuid: $0.uuid, major: $0.major) }
            + uuids.map { BeaconConstraint(uuid: $0) }
        return RecordedBeacons(constraints.map(transform), includesStrangers: true)
    }

    /// Returns true if adverts of a beacon are recorded.
    package func contains(_ beacon: BeaconIdentity) -> Bool {
        beacons.contains(beacon) || groups.contains(Group(uuid: beacon.uuid, major: beacon.major))
            || uuids.contains(beacon.uuid)
    }

    /// Returns true if all beacons of a constraint are recorded.
    package func covers(_ constraint: BeaconConstraint) -> Bool {
        if uuids.contains(constraint.uuid) { return true }
        guard let major = constraint.major else { return false }
        if groups.contains(Group(uuid: constraint.uuid, major: major)) { return true }
        return constraint.minor.map {
            beacons.contains(BeaconIdentity(uuid: constraint.uuid, major: major, minor: $0))
        } ?? false
    }
}
