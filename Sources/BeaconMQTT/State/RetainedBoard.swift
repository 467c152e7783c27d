import BeaconEngine
import BeaconModel
import BeaconService
import Foundation

/// What a gateway wants the broker to retain, and what is known of what it retains. It decides what to publish and what to
/// take away, and does neither.
///
/// Nothing of an earlier run has to be remembered for that: after each connection the broker itself is asked for all that
/// it retains at this gateway's topics, and what is not configured any more goes.
struct RetainedBoard: Sendable {
    private let topics: TopicTree
    private let discovery: Discovery
    private var beacons: [(beacon: NamedBeacon, tracker: BeaconTracker)]
    private let regions: Set<String>

    /// Every topic that may retain something. What is retained at another of ours is left over.
    private let configured: Set<String>
    private let announcements: [String: [UInt8]]

    /// What is to be retained. A region of which nothing is known yet is not here: what an earlier run said of it holds
    /// until more is known, so that nobody leaves and comes because a gateway restarts.
    private var wanted: [String: [UInt8]] = [:]

    private var isConnected = false
    private var due: [String] = []
    private var isDue: Set<String> = []

    init(
        regions: [String], beacons: [NamedBeacon], topics: TopicTree, discovery: Discovery, options: MQTTStateOptions
    ) {
        self.topics = topics
        self.discovery = discovery
        self.regions = Set(regions)
        self.beacons = beacons.map { ($0, BeaconTracker($0.identity, options: options)) }
        announcements =
            discovery.isEnabled
            ? Dictionary(
                beacons.map { (discovery.topic(for: $0.identity), Self.json(discovery.payload(for: $0))) },
                uniquingKeysWith: { first, _ in first })
            : [:]
        configured = Set(regions.map(topics.regionState)).union(beacons.map { topics.beaconState($0.name) })
            .union(announcements.keys)
        wanted = announcements
    }

    /// What to subscribe to in order to learn what is retained.
    var filters: [String] { topics.retainedFilters + [discovery.filter] }

    /// Takes in what a session says.
    mutating func receive(_ event: SessionEvent) {
        switch event {
        case .region(_, let change):
            if regions.contains(change.name) {
                want(Array(change.state.word.utf8), at: topics.regionState(change.name))
            }
            for index in beacons.indices
            where change.constraint == BeaconConstraint(beacons[index].beacon.identity) {
                if beacons[index].tracker.receive(change.state, at: change.time) { wantState(of: index) }
            }
        case .ranged(let report):
            for index in beacons.indices where beacons[index].tracker.receive(report) { wantState(of: index) }
        }
    }

    /// There is a connection, to a broker that may have forgotten all.
    mutating func connected() {
        isConnected = true
        (due, isDue) = ([], [])
        for topic in wanted.keys.sorted() { makeDue(topic) }
    }

    /// There is none.
    mutating func disconnected() { isConnected = false }

    /// The broker says that it retains something. What is of others is passed over.
    mutating func found(_ topic: String) {
        guard topics.owns(topic) || discovery.owns(topic), !configured.contains(topic) else { return }
        makeDue(topic)
    }

    /// Home Assistant has started.
    mutating func announceAgain() {
        for topic in announcements.keys.sorted() { makeDue(topic) }
    }

    /// What is to be published now, each as it is wanted at this moment. Nothing while there is no connection.
    mutating func takeDue() -> [MQTTMessage] {
        guard isConnected else { return [] }
        defer { (due, isDue) = ([], []) }
        return due.map { MQTTMessage(topic: $0, payload: wanted[$0] ?? [], isRetained: true) }
    }

    /// Something could not be published and is to be tried again, as it is wanted then.
    mutating func failed(_ message: MQTTMessage) { makeDue(message.topic) }

    private mutating func wantState(of index: Int) {
        guard let state = beacons[index].tracker.published else { return }
        want(Self.json(state), at: topics.beaconState(beacons[index].beacon.name))
    }

    private mutating func want(_ payload: [UInt8], at topic: String) {
        guard wanted[topic] != payload else { return }
        wanted[topic] = payload
        makeDue(topic)
    }

    private mutating func makeDue(_ topic: String) {
        if isDue.insert(topic).inserted { due.append(topic) }
    }

    /// Such values are always JSON: they have no numbers but finite ones.
    private static func json(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(value)).map(Array.init) ?? []
    }
}
