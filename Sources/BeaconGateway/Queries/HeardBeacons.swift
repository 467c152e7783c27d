import BeaconModel
import BeaconMonitoring
import BeaconRadio
package import BeaconSupport

/// The identities on the air, of any region or of none, while a client watches them.
///
/// It takes its adverts before any filter of ranging, so that it also has the beacons of receivers that smooth their
/// levels.
struct HeardBeacons {
    /// What one receiver heard of a beacon.
    private struct Reception {
        var level = HeardLevel()
        var last: Timestamp
    }

    private struct Entry {
        var since: Timestamp
        var last: Timestamp
        var receptions: [String: Reception] = [:]
    }

    /// The most identities to remember: anyone can send made-up ones.
    private static let most = 1_000

    /// The longest time that a client can ask for, in seconds. Older identities are forgotten.
    package static let longest = 600

    /// The time after the last request at which watching ends, in nanoseconds.
    private static let patience = 60 * Timestamp.nanosecondsPerSecond

    private var entries: [BeaconIdentity: Entry] = [:]
    /// The newest time of a source; zero before the first. It may be long past, as in a recording.
    private var newest = Timestamp.zero
    private var askedAt = Timestamp.zero
    /// The ranging of all beacons, which keeps radios scanning. It ends with this value.
    private let ranging: AsyncStream<RangingValue?>

    /// Creates an empty list.
    ///
    /// - Parameter ranging: a ranging of all beacons.
    init(ranging: AsyncStream<RangingValue?>) { self.ranging = ranging }

    /// Returns whether no client has asked for a while.
    var isForgotten: Bool { newest.since(askedAt) > Self.patience }

    /// Notes the adverts of a batch.
    ///
    /// - Parameter name: returns the name of a receiver.
    mutating func note(_ batch: SourceBatch, of source: GatewaySource, name: (ReceiverID) -> String) {
        if let time = batch.time {
            newest = max(newest, time.advanced(by: source.wallOffset))
            if askedAt == .zero { askedAt = newest }
        }
        for sighting in batch.sightings {
            guard let receiver = source.listener.sighting(sighting)?.receiver else { continue }
            note(sighting, at: sighting.time.advanced(by: source.wallOffset), by: name(receiver))
        }
    }

    private mutating func note(_ sighting: Sighting, at time: Timestamp, by receiver: String) {
        newest = max(newest, time)
        if entries[sighting.identity] == nil, entries.count >= Self.most { forgetOldest() }
        var entry = entries[sighting.identity] ?? Entry(since: time, last: time)
        entry.last = max(entry.last, time)
        var reception = entry.receptions[receiver] ?? Reception(last: time)
        reception.last = max(reception.last, time)
        reception.level.hear(sighting.rssi)
        entry.receptions[receiver] = reception
        entries[sighting.identity] = entry
    }

    private mutating func forgetOldest() {
        guard let oldest = entries.min(by: { ($0.value.last, $0.key) < ($1.value.last, $1.key) })?.key else { return }
        entries[oldest] = nil
    }

    /// Returns the identities that were heard within the last seconds, the strongest first.
    ///
    /// - Parameter names: the user's names of beacons.
    mutating func values(within seconds: Int, names: [BeaconIdentity: String]) -> [HeardBeaconValue] {
        askedAt = newest
        let longest = Int64(Self.longest) * Timestamp.nanosecondsPerSecond
        entries = entries.filter { newest.since($0.value.last) <= longest }
        let span = Int64(seconds) * Timestamp.nanosecondsPerSecond
        let values = entries.compactMap { identity, entry -> HeardBeaconValue? in
            guard newest.since(entry.last) <= span else { return nil }
            let receivers = entry.receptions.filter { newest.since($0.value.last) <= span }.map { name, reception in
                HeardBeaconValue.Receiver(
                    name: name, level: reception.level.dBm, lastHeard: reception.last.seconds)
            }
            return HeardBeaconValue(
                identity, name: names[identity], since: entry.since.seconds, lastHeard: entry.last.seconds,
                receivers: receivers.sorted { ($1.level ?? -999, $0.name) < ($0.level ?? -999, $1.name) })
        }
        return values.sorted { ($1.level ?? -999, $0.order) < ($0.level ?? -999, $1.order) }
    }
}

/// A beacon on the air.
package struct HeardBeaconValue: Encodable, Sendable {
    /// A receiver that hears it.
    struct Receiver: Encodable, Sendable {
        var name: String
        /// In dBm; nil without a reading.
        @Nullable var level: Int?
        var lastHeard: Double
    }

    var uuid: String
    var major: Int
    var minor: Int
    @Nullable package var name: String?
    /// The maker that ships beacons with this UUID; nil if unknown.
    @Nullable var maker: String?
    /// The level in dBm at the receiver that hears it best; nil without a reading.
    @Nullable package var level: Int?
    /// The time when it was first heard since clients watch.
    var since: Double
    var lastHeard: Double
    /// The strongest first.
    var receivers: [Receiver]

    init(_ identity: BeaconIdentity, name: String?, since: Double, lastHeard: Double, receivers: [Receiver]) {
        uuid = identity.uuid.description
        (major, minor) = (Int(identity.major), Int(identity.minor))
        (self.name, self.since, self.lastHeard, self.receivers) = (name, since, lastHeard, receivers)
        maker = BeaconMaker.name(of: identity.uuid)
        level = receivers.compactMap(\.level).max()
    }

    fileprivate var order: String { "\(uuid) \(major) \(minor)" }
}

/// The makers whose beacons are delivered with a common UUID.
enum BeaconMaker {
    /// The UUIDs in lower case, from public apps for these makers' beacons and from Apple's AirLocate. Anyone can use
    /// them, so a name here is a hint.
    private static let names = [
        "b9407f30-f5f8-466e-aff9-25556b57fe6d": "Estimote",
        "f7826da6-4fa2-4e98-8024-bc5b71e0893e": "Kontakt.io",
        "2f234454-cf6d-4a0f-adf2-f4911ba9ffa6": "Radius Networks",
        "e2c56db5-dffb-48d2-b060-d0f5a71096e0": "Apple's example",
        "74278bda-b644-4520-8f0c-720eaf059935": "HM-10 modules",
        "fda50693-a4e2-4fb1-afcf-c6eb07647825": "several makers in China",
    ]

    /// Returns the maker whose beacons have this UUID unless it is changed; nil for any other.
    static func name(of uuid: ProximityUUID) -> String? { names[uuid.description] }
}
