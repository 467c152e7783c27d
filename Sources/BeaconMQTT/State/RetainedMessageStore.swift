import BeaconModel
import Foundation

/// The messages that the broker should retain, and those that are due to be published for that. It publishes nothing
/// itself.
///
/// No file has to record what an earlier run retained: after each connection the gateway reads what the broker retains
/// at its topics, and deletes what is no longer configured.
struct RetainedMessageStore: Sendable {
    private let topics: TopicTree
    private var discovery: Discovery
    private var beacons: [(beacon: NamedBeacon, tracker: BeaconTracker)]
    private var regions: Set<String>
    private let options: MQTTStateOptions

    /// The topics that may retain something. A retained message at another topic of this gateway is left over.
    private var configured: Set<String>
    private var announcements: [String: [UInt8]]

    /// The payloads to retain, by topic. A region whose state is not known has none: the state of an earlier run
    /// remains until more is known, so that a restart causes no exit and no enter.
    private var wanted: [String: [UInt8]] = [:]

    private var isConnected = false
    private var due: [String] = []
    private var isDue: Set<String> = []

    init(
        regions: [String], beacons: [NamedBeacon], topics: TopicTree, discovery: Discovery, options: MQTTStateOptions
    ) {
        self.topics = topics
        self.discovery = discovery
        self.options = options
        self.regions = Set(regions)
        self.beacons = beacons.map {
            ($0, BeaconTracker($0.identity, options: options, hasPlaces: discovery.hasPlaces))
        }
        announcements = discovery.announcements(regions: regions, beacons: beacons).mapValues(Self.json)
        configured = Set(regions.map(topics.regionState)).union(beacons.map { topics.beaconState($0.name) })
            .union(announcements.keys)
        wanted = announcements
    }

    /// Replaces the regions and beacons. Those that stay keep their states, also under another name, and messages of
    /// the others are deleted. States are due before the announcements of their devices, so that no device begins as
    /// unknown, and deletions are last.
    mutating func configure(
        regions: [String], beacons: [NamedBeacon], discovery: Discovery, renamed: RenamedItems = RenamedItems()
    ) {
        var next = RetainedMessageStore(
            regions: regions, beacons: beacons, topics: topics, discovery: discovery, options: options)
        for (old, new) in renamed.regions where self.regions.contains(old) && next.regions.contains(new) {
            next.wanted[topics.regionState(new)] = wanted[topics.regionState(old)]
        }
        for index in next.beacons.indices {
            let identity = next.beacons[index].beacon.identity
            guard let known = self.beacons.first(where: { $0.beacon.identity == identity }) else { continue }
            next.beacons[index].tracker = known.tracker
            next.beacons[index].tracker.renamePlaces(renamed.places, hasPlaces: discovery.hasPlaces)
            guard let state = next.beacons[index].tracker.published else { continue }
            next.wanted[topics.beaconState(next.beacons[index].beacon.name)] = Self.json(state)
        }
        for topic in next.configured where next.wanted[topic] == nil { next.wanted[topic] = wanted[topic] }
        (next.isConnected, next.due, next.isDue) = (isConnected, due, isDue)
        let states = next.wanted.filter { topic, payload in
            next.announcements[topic] == nil && wanted[topic] != payload
        }.keys
        let changed = next.announcements.filter { announcements[$0.key] != $0.value }.keys
        let removed = configured.subtracting(next.configured)
        for topic in states.sorted() + changed.sorted() + removed.sorted() { next.makeDue(topic) }
        self = next
    }

    /// The filters to subscribe to in order to read what is retained.
    var filters: [String] { topics.retainedFilters + [discovery.filter] }

    /// Receives an event of monitoring or ranging.
    mutating func receive(_ event: BeaconEvent) {
        switch event {
        case .region(let change):
            if regions.contains(change.name) {
                retain(Array(change.state.description.utf8), at: topics.regionState(change.name))
            }
            for index in beacons.indices
            where change.constraint == BeaconConstraint(beacons[index].beacon.identity) {
                if beacons[index].tracker.receive(change.state, at: change.time) { retainState(of: index) }
            }
        case .placed(let change):
            for index in beacons.indices where beacons[index].tracker.receive(change) { retainState(of: index) }
        // A moment, and no state: who is to know is notified.
        case .located, .suspected: break
        case .ranged(let report):
            for index in beacons.indices where beacons[index].tracker.receive(report) { retainState(of: index) }
        }
    }

    /// Makes everything due, after a connection to a broker that may have lost it.
    mutating func connected() {
        isConnected = true
        (due, isDue) = ([], [])
        for topic in wanted.keys.sorted() { makeDue(topic) }
    }

    /// Holds messages back until the next connection.
    mutating func disconnected() { isConnected = false }

    /// Makes the deletion of a retained message due where it is this gateway's and no longer configured.
    mutating func found(_ topic: String) {
        guard topics.owns(topic) || discovery.owns(topic), !configured.contains(topic) else { return }
        makeDue(topic)
    }

    /// Makes the announcements due again, after a start of Home Assistant.
    mutating func announceAgain() {
        for topic in announcements.keys.sorted() { makeDue(topic) }
    }

    /// Removes and returns the messages that are due, with their current payloads. There are none without a connection.
    mutating func removeDue() -> [MQTTMessage] {
        guard isConnected else { return [] }
        defer { (due, isDue) = ([], []) }
        return due.map { MQTTMessage(topic: $0, payload: wanted[$0] ?? [], isRetained: true) }
    }

    /// Makes a message due again after a failure, with its payload of that moment.
    mutating func failed(_ message: MQTTMessage) { makeDue(message.topic) }

    private mutating func retainState(of index: Int) {
        guard let state = beacons[index].tracker.published else { return }
        retain(Self.json(state), at: topics.beaconState(beacons[index].beacon.name))
    }

    private mutating func retain(_ payload: [UInt8], at topic: String) {
        guard wanted[topic] != payload else { return }
        wanted[topic] = payload
        makeDue(topic)
    }

    private mutating func makeDue(_ topic: String) {
        if isDue.insert(topic).inserted { due.append(topic) }
    }

    /// Returns the JSON of a value whose numbers are all finite.
    private static func json(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(value)).map(Array.init) ?? []
    }
}
