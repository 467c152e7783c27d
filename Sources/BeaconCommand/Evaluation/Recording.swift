import ArgumentParser
import BeaconModel
import BeaconMonitoring
import BeaconRadio

/// A recording that can be played several times, and a summary of its content.
struct Recording {
    private let specification: SourceSpecification

    /// The names of its receivers, in order of appearance.
    let receivers: [String]

    /// The number of adverts of each beacon.
    private(set) var counts: [BeaconIdentity: Int] = [:]

    /// The times of the first and the last record.
    private(set) var first = Timestamp.zero
    private(set) var last = Timestamp.zero

    /// More beacons than there are in any place; invented identities must not fill memory.
    private static let most = 1 << 16

    /// Reads a source to its end.
    ///
    /// - Throws: the source's error, or `CommandError` if its records have no times.
    init(_ specification: SourceSpecification) throws {
        self.specification = specification
        let radio = RadioStatus.printing()
        var input = try SourceReader(specification, report: radio.update)
        var hasBegun = false
        while !Interruption.isRequested, let record = try input.next() {
            if let time = record.time {
                if !hasBegun { first = time }
                hasBegun = true
                last = max(last, time)
            }
            for sighting in input.sightings where counts[sighting.identity] != nil || counts.count < Self.most {
                counts[sighting.identity, default: 0] += 1
            }
        }
        receivers = input.receiverNames
        if Interruption.isRequested { throw ExitCode(Interruption.exitStatus) }
        guard hasBegun else {
            throw CommandError(
                "\(specification.title) has no times, so it cannot be compared with the truth")
        }
    }

    /// The beacon with the most adverts; nil without beacons.
    var commonest: BeaconIdentity? { Self.commonest(counts) }

    private static func commonest(_ counts: some Sequence<(key: BeaconIdentity, value: Int)>) -> BeaconIdentity? {
        counts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
    }

    /// Returns the beacon of each name.
    ///
    /// Only the UUID with the most adverts from beacons of these names counts. Of several beacons with the same name,
    /// the one with the most adverts is returned.
    func identities(
        named name: (BeaconIdentity) -> String, of names: Set<String>
    ) -> [String: BeaconIdentity] {
        let named = counts.filter { names.contains(name($0.key)) }
        var adverts: [ProximityUUID: Int] = [:]
        for (identity, count) in named { adverts[identity.uuid, default: 0] += count }
        guard let uuid = adverts.max(by: { ($0.value, $1.key) < ($1.value, $0.key) })?.key else { return [:] }
        let groups = Dictionary(grouping: named.filter { $0.key.uuid == uuid }, by: { name($0.key) })
        return groups.compactMapValues { Self.commonest($0) }
    }

    /// Plays the recording through a session.
    func play(
        _ configuration: MonitoringSession.Configuration, _ handle: (BeaconEvent) throws -> Void
    ) throws {
        let input = try SourceReader(specification)
        var session = MonitoringSession(configuration, source: input, pace: .fastest)
        try session.run(shouldStop: { Interruption.isRequested }, handle: handle)
        if Interruption.isRequested { throw ExitCode(Interruption.exitStatus) }
    }
}
