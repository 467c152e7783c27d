import BeaconModel
import Foundation

/// The messages that the broker should retain, and the queue of those that are due to be published. It publishes
/// nothing itself.
///
/// No file needs to record the messages that an earlier run retained. After each connection the gateway reads its
/// retained messages from the broker, and deletes those that are no longer configured.
///
/// The gateway is online only once the broker has acknowledged every state. Until then its entities are unavailable.
/// Home Assistant therefore never shows a state from an earlier run, or from before an outage, as current.
struct RetainedMessageStore: Sendable {
    /// The order of messages that are due together. Each stage is acknowledged before the next one is published.
    private enum Stage: Int, CaseIterable {
        /// Home Assistant reports an error if an announcement or a state has a place that is not in the other. So a
        /// beacon's place is unknown while its list of places changes.
        case unknownPlaces
        /// A state is published before the announcement that contains its topic.
        case states
        /// A removed device is withdrawn before its states are deleted, because its templates could not read deleted
        /// states.
        case announcements
        /// The states whose places were unknown in between.
        case knownPlaces
        case deletedStates
    }

    private let topics: TopicTree
    private var discovery: Discovery
    private var beacons: [(beacon: NamedBeacon, tracker: BeaconTracker)]
    private var regions: [String: NamedRegion]
    private var diagnostics: GatewayDiagnosticsFilter
    private var board: PlaceBoard
    /// The states of places that ``wanted`` contains, in the order of the places.
    private var placeStates: [PlaceBoard.State] = []
    private var receivers: [String: ReceiverDiagnosticsFilter] = [:]

    private var announcements: [(topic: String, payload: [UInt8])]

    /// The payloads to retain, by topic, for every region, every beacon and the gateway.
    private var wanted: [String: [UInt8]] = [:]

    /// The retained messages that the broker has returned on this connection, and the reported filters without any.
    private var returned: Set<String> = []
    private var unread: Set<String> = []

    private var isReady: Bool
    private var connection: UInt64?
    private var isOnline = false
    private var due: [String] = []
    private var isDue: Set<String> = []

    /// The places in the announcements that the broker has, and the topics of states that were published with an
    /// unknown place instead of another one.
    private var announcedPlaces: Set<String>
    private var knownPlaces: Set<String> = []

    /// The indices of beacons by their topics and by their identities.
    private var beaconsByTopic: [String: Int] = [:]
    private var beaconsByIdentity: [BeaconIdentity: Int] = [:]

    /// Creates a store in which all states are unknown.
    ///
    /// - Parameters:
    ///   - regions: the monitored regions.
    ///   - beacons: the named beacons.
    ///   - topics: the topics of the gateway.
    ///   - discovery: the announcements.
    ///   - isReady: false to wait for the states of an earlier run until ``restored()`` is called.
    init(
        regions: [NamedRegion], beacons: [NamedBeacon], topics: TopicTree, discovery: Discovery, isReady: Bool = true
    ) {
        self.topics = topics
        self.discovery = discovery
        self.isReady = isReady
        self.regions = Dictionary(regions.map { ($0.name, $0) }) { first, _ in first }
        self.beacons = beacons.map { ($0, BeaconTracker($0)) }
        announcedPlaces = discovery.placeNames
        diagnostics = GatewayDiagnosticsFilter()
        board = PlaceBoard(discovery.announcesPlaces ? discovery.places : [], beacons)
        announcements = discovery.announcements(regions: regions, beacons: beacons).map {
            ($0.topic, Self.json($0.payload, .convertToSnakeCase))
        }
        for region in regions { wanted[topics.regionState(region.name)] = Self.text(.unknown) }
        for index in self.beacons.indices {
            let topic = topics.beaconState(beacons[index].name)
            wanted[topic] = Self.json(self.beacons[index].tracker.published)
            beaconsByTopic[topic] = index
            beaconsByIdentity[beacons[index].identity] = index
        }
        if discovery.isEnabled { wanted[topics.gatewayState] = Self.json(diagnostics.published) }
        setPlaces()
        for place in board.places {
            for receiver in place.receivers {
                receivers[receiver] = ReceiverDiagnosticsFilter()
                wanted[topics.receiverState(receiver)] = Self.json(ReceiverDiagnosticsFilter.State())
            }
        }
        for (topic, payload) in announcements { wanted[topic] = payload }
    }

    /// Replaces the configured regions and beacons. Removed ones are deleted. All others keep their states, even if
    /// they are renamed.
    mutating func configure(
        regions: [NamedRegion], beacons: [NamedBeacon], discovery: Discovery, renamed: RenamedItems = RenamedItems()
    ) {
        var next = RetainedMessageStore(
            regions: regions, beacons: beacons, topics: topics, discovery: discovery, isReady: isReady)
        for region in regions {
            guard let known = formerName(of: region, in: next, renamed.regions),
                let state = wanted[topics.regionState(known)]
            else { continue }
            next.wanted[topics.regionState(region.name)] = state
        }
        for index in next.beacons.indices {
            let beacon = next.beacons[index].beacon
            guard let known = beaconsByIdentity[beacon.identity] else { continue }
            next.beacons[index].tracker = self.beacons[known].tracker
            next.beacons[index].tracker.configure(beacon, renamed: renamed.places, in: discovery.placeNames)
            next.wanted[topics.beaconState(beacon.name)] = Self.json(next.beacons[index].tracker.published)
        }
        next.board.adopt(board, renamed: renamed.places)
        next.setPlaces()
        for place in next.board.places {
            for receiver in place.receivers {
                guard let known = receivers[receiver] else { continue }
                next.receivers[receiver] = known
                next.wanted[topics.receiverState(receiver)] = Self.json(known.published)
            }
        }
        next.diagnostics = diagnostics
        if discovery.isEnabled { next.wanted[topics.gatewayState] = Self.json(diagnostics.published) }
        (next.connection, next.isOnline, next.due, next.isDue) = (connection, isOnline, due, isDue)
        (next.returned, next.unread) = (returned, unread)
        (next.announcedPlaces, next.knownPlaces) = (announcedPlaces.intersection(discovery.placeNames), knownPlaces)
        for topic in Set(wanted.keys).union(next.wanted.keys).sorted() where wanted[topic] != next.wanted[topic] {
            next.makeDue(topic)
        }
        self = next
    }

    /// Returns the former name of a region: from the list of new names, else its own, else the name of a removed region
    /// with the same beacons and the same id.
    private func formerName(
        of region: NamedRegion, in next: RetainedMessageStore, _ names: [String: String]
    ) -> String? {
        if let former = names.first(where: { $0.value == region.name })?.key { return former }
        if names[region.name] == nil, regions[region.name]?.constraint == region.constraint { return region.name }
        return regions.values.first { former in
            former.constraint == region.constraint && former.key == region.key && next.regions[former.name] == nil
        }?.name
    }

    /// The filters to subscribe to for reading retained messages.
    var filters: [String] { topics.retainedFilters + [discovery.filter] }

    // MARK: - Events

    /// Processes an event of monitoring or ranging.
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - now: the time of its arrival.
    /// - Returns: Messages that must be published at once or not at all.
    mutating func receive(_ event: BeaconEvent, at now: ContinuousClock.Instant = .now) -> [MQTTMessage] {
        switch event {
        case .region(let change): return receive(change, at: now)
        case .placed(let change):
            if let index = beaconsByIdentity[change.identity], beacons[index].tracker.receive(change) {
                retainState(of: index)
            }
            retainPlaces(board.receive(change))
        // They have no state; destinations receive them as notifications.
        case .located, .suspected: break
        case .ranged(let report):
            for index in indices(of: report.constraint) where beacons[index].tracker.receive(report, at: now) {
                retainState(of: index)
            }
        }
        return []
    }

    /// Returns the indices of the beacons that a report is about.
    private func indices(of constraint: BeaconConstraint?) -> [Int] {
        guard let identity = constraint?.identity else { return Array(beacons.indices) }
        return beaconsByIdentity[identity].map { [$0] } ?? []
    }

    private mutating func receive(_ change: RegionEvent, at now: ContinuousClock.Instant) -> [MQTTMessage] {
        let isEvent = isOnline && discovery.isEnabled && (change.kind == .enter || change.kind == .exit)
        if !change.isPresence, regions[change.name]?.constraint == change.constraint {
            guard retain(Self.text(change.state), at: topics.regionState(change.name)), isEvent,
                discovery.announcesRegions
            else { return [] }
            return [eventMessage(change, at: topics.regionEvent(change.name))]
        }
        guard change.isPresence, let index = change.constraint.identity.flatMap({ beaconsByIdentity[$0] }),
            beacons[index].tracker.receive(change.state, at: change.time, arriving: now)
        else { return [] }
        retainState(of: index)
        return isEvent ? [eventMessage(change, at: topics.beaconEvent(beacons[index].beacon.name))] : []
    }

    private func eventMessage(_ change: RegionEvent, at topic: String) -> MQTTMessage {
        let beacon = change.identity.map { identity in
            beaconsByIdentity[identity].map { beacons[$0].beacon.name } ?? identity.description
        }
        return MQTTMessage(
            topic: topic,
            payload: Self.json(
                MovementMessage(eventType: change.kind.rawValue, beacon: beacon, receiver: change.receiver),
                .convertToSnakeCase))
    }

    /// Processes diagnostics of the gateway itself.
    mutating func receive(_ new: GatewayDiagnostics, at now: ContinuousClock.Instant) {
        guard discovery.isEnabled else { return }
        if diagnostics.receive(new, at: now) { retain(Self.json(diagnostics.published), at: topics.gatewayState) }
        for receiver in receivers.keys.sorted() {
            guard receivers[receiver]?.receive(new.receivers[receiver], at: now) == true,
                let state = receivers[receiver]?.published
            else { continue }
            retain(Self.json(state), at: topics.receiverState(receiver))
        }
        retainPlaces(board.setHearing(new.receivers.mapValues(\.hears)))
    }

    /// Retains the states of places that have changed.
    ///
    /// - Parameter indices: the indices of the places whose states may have changed.
    private mutating func retainPlaces(_ indices: [Int]) {
        for index in indices {
            let place = board.places[index]
            let state = board.state(of: place)
            guard state != placeStates[index] else { continue }
            placeStates[index] = state
            retain(Self.json(state), at: topics.placeState(place.name))
        }
    }

    /// Replaces the states of all places.
    private mutating func setPlaces() {
        placeStates = board.places.map(board.state)
        for (place, state) in zip(board.places, placeStates) {
            wanted[topics.placeState(place.name)] = Self.json(state)
        }
    }

    /// Removes readings that no report has confirmed recently, and states of trackers that have long been unknown.
    mutating func expire(at now: ContinuousClock.Instant, after age: Duration = BeaconTracker.oldestArrival) {
        for index in beacons.indices where beacons[index].tracker.expire(at: now, after: age) { retainState(of: index) }
    }

    /// Ends the restoration of states. All other states are unknown.
    mutating func restored() { isReady = true }

    // MARK: - Publishing

    /// Makes every message due after a connection to a broker, which may have lost them.
    ///
    /// - Parameters:
    ///   - connection: the number of the connection.
    ///   - now: the current time; the machine may have been suspended before it.
    mutating func connected(as connection: UInt64 = 1, at now: ContinuousClock.Instant = .now) {
        expire(at: now, after: BeaconTracker.oldestArrivalAtConnection)
        for index in beacons.indices where beacons[index].tracker.renew() { retainState(of: index) }
        self.connection = connection
        (isOnline, returned) = (false, [])
        // All entities are unavailable, so that no place can be wrong.
        (announcedPlaces, knownPlaces) = (discovery.placeNames, [])
        for topic in wanted.keys.sorted() { makeDue(topic) }
    }

    /// Holds messages back until the next connection.
    mutating func disconnected() { (connection, isOnline) = (nil, false) }

    /// Makes the deletion of a retained message due if it is this gateway's and no longer configured.
    mutating func found(_ topic: String) {
        guard let filter = filter(of: topic) else { return }
        returned.insert(filter)
        if wanted[topic] == nil { makeDue(topic) }
    }

    private func filter(of topic: String) -> String? {
        discovery.owns(topic) ? discovery.filter : topics.retainedFilters.first { topic.hasPrefix($0.dropLast()) }
    }

    /// The published message of each filter of which the broker has returned none, once the gateway is online.
    ///
    /// A broker may grant a subscription whose messages the user may not read, and send none. With MQTT 3.1.1, it may
    /// acknowledge messages that the user may not write.
    var unproven: [String: String] {
        let messages =
            isOnline ? wanted.keys.sorted().compactMap { topic in filter(of: topic).map { ($0, topic) } } : []
        return Dictionary(messages) { first, _ in first }.filter { !returned.contains($0.key) }
    }

    /// Returns the filters of unproven messages, each only once.
    mutating func takeUnread() -> [String] { unproven.keys.filter { unread.insert($0).inserted }.sorted() }

    /// Makes the announcements due again after a start of Home Assistant.
    mutating func announceAgain() {
        for announcement in announcements { makeDue(announcement.topic) }
    }

    /// Removes and returns the due messages that may be published together, with their current payloads. Nothing is due
    /// without a connection, or before the states of an earlier run are restored.
    mutating func removeDue() -> [MQTTMessage] {
        // All earlier messages are acknowledged.
        if due.allSatisfy(topics.owns) { announcedPlaces = discovery.placeNames }
        guard connection != nil, isReady, let stage = due.map(stage).min(by: { $0.rawValue < $1.rawValue }) else {
            return []
        }
        let next = due.filter { self.stage($0) == stage }
        if stage == .unknownPlaces {
            // They stay due.
            knownPlaces.formUnion(next)
            return next.map { topic in
                var state = beaconsByTopic[topic].map { beacons[$0].tracker.published } ?? BeaconState()
                state.place = nil
                return MQTTMessage(topic: topic, payload: Self.json(state), isRetained: true)
            }
        }
        due = due.filter { self.stage($0) != stage }
        isDue.subtract(next)
        knownPlaces.subtract(next)
        // The gateway's device must come before the devices that refer to it.
        let order = Dictionary(announcements.enumerated().map { ($1.topic, $0) }) { first, _ in first }
        let sorted = next.enumerated().sorted { left, right in
            let (one, other) = (order[left.element] ?? -1, order[right.element] ?? -1)
            return one == other ? left.offset < right.offset : one < other
        }
        return sorted.map { MQTTMessage(topic: $0.element, payload: wanted[$0.element] ?? [], isRetained: true) }
    }

    private func stage(_ topic: String) -> Stage {
        if !topics.owns(topic) { return .announcements }
        if knownPlaces.contains(topic) { return .knownPlaces }
        if let place = beaconsByTopic[topic].flatMap({ beacons[$0].tracker.published.place }),
            place != BeaconState.nowhere, !announcedPlaces.contains(place)
        {
            return .unknownPlaces
        }
        return wanted[topic] == nil ? .deletedStates : .states
    }

    /// Makes a message due again after a failure. It will have its current payload then.
    mutating func failed(_ message: MQTTMessage) { makeDue(message.topic) }

    /// The number of the connection that must announce the gateway as online, once nothing else is due.
    var connectionToAnnounce: UInt64? { isOnline || !isReady || !due.isEmpty ? nil : connection }

    /// Records that the gateway is announced as online.
    ///
    /// - Parameter connection: the number of the connection.
    mutating func announcedOnline(at connection: UInt64) {
        if self.connection == connection { isOnline = true }
    }

    private mutating func retainState(of index: Int) {
        retain(Self.json(beacons[index].tracker.published), at: topics.beaconState(beacons[index].beacon.name))
    }

    @discardableResult
    private mutating func retain(_ payload: [UInt8], at topic: String) -> Bool {
        guard wanted[topic] != payload else { return false }
        wanted[topic] = payload
        makeDue(topic)
        return true
    }

    private mutating func makeDue(_ topic: String) {
        if isDue.insert(topic).inserted { due.append(topic) }
    }

    private static func text(_ state: RegionState) -> [UInt8] { Array(state.description.utf8) }

    /// Returns the JSON of a value whose numbers are all finite.
    private static func json(
        _ value: some Encodable, _ keys: JSONEncoder.KeyEncodingStrategy = .useDefaultKeys
    ) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = keys
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(value)).map(Array.init) ?? []
    }
}

/// An enter or an exit in the form that Home Assistant's event entities accept
/// (home-assistant.io/integrations/event.mqtt). The keys after the type become attributes.
private struct MovementMessage: Encodable {
    var eventType: String
    var beacon: String?
    var receiver: String?
}
