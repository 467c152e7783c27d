public import BeaconModel
public import BeaconRadio
import BeaconSupport

/// A network of receivers that publish adverts in messages. It knows the receivers and their states, and extracts the
/// adverts.
///
/// It does no I/O and reads no clock. It counts unreadable messages by fault, and reports each fault once. It skips
/// retained messages, and adverts that are older than a few seconds.
public struct ReceiverNetwork {
    /// The settings of a network.
    public struct Settings: Hashable, Sendable {
        /// The user's names of receivers, by the names that the receivers use.
        public var names: [String: String] = [:]
        /// Names of receivers that always get a place, as used in events, besides those in ``names``.
        package var reserved: Set<String> = []
        /// The mapping for messages of an unsupported gateway.
        public var mapping: ReceiverMapping?
        /// The silence, in nanoseconds, after which a receiver's room counts as empty, although the receiver may be
        /// dead; nil for never.
        public var emptyAfter: Int64?
        /// True to accept relays of this package as receivers. A relay itself does not: its own messages may return to
        /// it.
        public var acceptsRelays = true
        /// The most receivers; by default 200, since an engine has 256 places and other sources have receivers, too.
        package var maximumReceivers = 200

        /// Creates the default settings.
        public init() {}

        /// The names of receivers that always get a place, as used in events.
        package var reservedNames: Set<String> {
            var names = reserved.union(self.names.values)
            if case .fixed(let name) = mapping?.receiver { names.insert(name) }
            return names
        }
    }

    /// A message without the bytes of its topic and payload.
    struct Message {
        var levels: TopicLevels
        var arrival: Timestamp
        /// True for a message that the broker retained: it may be of any age.
        var isRetained: Bool
        /// The hash of the topic; 0 for a message without a topic.
        var topic: UInt64 = 0
    }

    /// The longest message, in bytes, that may be a status. A status may repeat.
    private static let longestStatus = 40

    /// The longest name of a receiver in bytes, and the longest one that includes topic levels.
    static let longestName = 64
    private static let longestKey = 256

    /// The interval between checks for silent receivers, in nanoseconds.
    private static let reviewInterval = Timestamp.nanosecondsPerSecond / 4

    /// The receivers, in the order in which they appeared.
    public internal(set) var receivers: [NetworkReceiver] = []
    /// The names of the receivers, in the same order. A place may pass to another receiver with another name.
    public internal(set) var names: [String] = []
    /// The counts of adverts and messages.
    public internal(set) var counts = SourceCounts()
    /// The counts of unreadable messages by fault.
    public var faults: [MessageFault: Int] { unreadable.counts }
    /// The number of adverts that arrived too late.
    public internal(set) var lateAdverts = 0
    /// The number of messages that arrived twice.
    public internal(set) var duplicates = 0

    /// False to discard adverts. The states of receivers are tracked in any case.
    public var isListening = true

    let settings: Settings
    let title: String
    /// The names of receivers that always get a place, and those that have not appeared yet.
    private let reservedNames: Set<String>
    private var unseenNames: Set<String>
    /// The receivers' indices by key, and the key at each index.
    var places: [Key: Int] = [:]
    var keys: [Key] = []
    var unreadable = MessageFaults()
    /// The faults of the current message that were not reported before.
    var newFaults: [(fault: MessageFault, receiver: Int?)] = []
    /// The reason why the last receiver got no place.
    var refusal = MessageFault.badName
    /// The receivers that the current message names.
    var signs = SignsOfLife()
    private var recent = RecentMessages()
    /// The relays, by their topics up to and including their names.
    var relays: [String: RelayMemory] = [:]
    /// The statuses of names that have sent no advert yet, with their times. Gateways of other kinds may use such a
    /// topic, too. The rank is 1 for reserved names, which stay longest.
    var earlyStatuses: [Key: (isOnline: Bool, time: Timestamp, rank: Int)] = [:]
    var crowd = Crowd()
    private var nextReview = Timestamp.zero
    private var isConnected = false

    /// Creates a network without receivers.
    ///
    /// - Parameters:
    ///   - settings: the settings.
    ///   - title: the name of the network in notices.
    public init(_ settings: Settings = Settings(), titled title: String = "messages") {
        self.settings = settings
        self.title = title
        reservedNames = settings.reservedNames
        unseenNames = reservedNames
    }

    /// True if any receiver can hear adverts now.
    public var isHearing: Bool { isConnected && receivers.contains(where: \.isHearing) }

    /// The status of each receiver.
    public var statuses: [ReceiverStatus] {
        receivers.map {
            var status = $0.status
            if !isConnected { status.state = .resetting }
            return status
        }
    }

    /// The latest time at which `advance` must be called again; `latest` if nothing can become doubtful.
    public var deadline: Timestamp {
        isConnected && receivers.contains { !$0.isDoubtful && !$0.isQuiet }
            ? nextReview : .latest
    }

    /// Returns the key of a receiver's name in ``Settings/names``: the beginning of its topics, or its own name.
    package func key(of place: Int) -> String {
        keys[place].name + (keys[place].inner.isEmpty ? "" : "/" + keys[place].inner)
    }

    /// The key of each receiver's name in ``Settings/names``: the one in use, or else the one that names no other.
    var nameKeys: [String] {
        keys.indices.map { place in
            let (key, short) = (key(of: place), keys[place].shortName)
            // A short key may stand for several receivers.
            let isShared = keys.count { $0.shortName == short } > 1
            return settings.names[key] == nil && settings.names[short] != nil && !isShared ? short : key
        }
    }

    // MARK: - The connection

    /// Notes a new connection to the receivers' broker. Messages from now on are current.
    public mutating func connect(at time: Timestamp) {
        isConnected = true
        nextReview = time
        // The broker sends its retained statuses again.
        earlyStatuses = [:]
        // A receiver may have died while there was no connection. It sends nothing now, either.
        for place in receivers.indices {
            receivers[place].begin(at: time)
            receivers[place].awaitsSign = true
            receivers[place].isDoubtful = true
            receivers[place].isOnline = nil
        }
    }

    /// Notes the loss of the connection. Silence proves nothing until the next one.
    public mutating func disconnect() { isConnected = false }

    /// Advances the clock. A receiver that has been silent for too long may be dead.
    ///
    /// Call it after the batch has been delivered and before the next message: then receivers may be replaced by
    /// others.
    ///
    /// - Parameters:
    ///   - time: the current time.
    ///   - batch: receives the times for which receivers were deaf.
    public mutating func advance(to time: Timestamp, into batch: inout AdvertBatch) {
        for place in receivers.indices { receivers[place].isInUse = false }
        guard isConnected, time >= nextReview else { return }
        nextReview = time.advanced(by: Self.reviewInterval)
        crowd.report(at: time, limit: settings.maximumReceivers, in: title, &batch)
        for place in receivers.indices {
            let receiver = receivers[place]
            let silence = time.since(receiver.lastMessage)
            let empty = settings.emptyAfter ?? .max
            // For a receiver with a will message, the broker reports its end.
            let isDead = receiver.isOnline != true && empty == .max && silence > receiver.patience
            if let settled = receiver.settlesAt {
                // The delayed messages have arrived. Pending events may now occur.
                guard time >= settled else { continue }
                receivers[place].settlesAt = nil
                receivers[place].isDoubtful = false
                receivers[place].confirm()
                continue
            }
            receivers[place].isDoubtful =
                receiver.isDoubtful(at: time) && silence < empty && !isDead
            guard isDead, !receiver.isQuiet else { continue }
            reportDeafness(of: place, at: time, &batch)
            receivers[place].isQuiet = true
        }
    }

    // MARK: - Messages

    /// Reads a message.
    ///
    /// The message proves that every receiver that it names is alive, whatever its content. If it names none, it proves
    /// this for the receiver that uses its topic. A retained message proves nothing.
    ///
    /// - Parameters:
    ///   - topic: its topic; empty if it did not arrive at a topic.
    ///   - payload: its content.
    ///   - isRetained: true for a message that the broker retained.
    ///   - arrival: the time of its arrival.
    ///   - batch: receives the adverts and events.
    public mutating func receive(
        topic: RawSpan, payload: RawSpan, isRetained: Bool = false, at arrival: Timestamp,
        into batch: inout AdvertBatch
    ) {
        counts.packets += 1
        let mark = recent.hash(topic)
        let message = Message(
            levels: TopicLevels(topic), arrival: arrival, isRetained: isRetained,
            topic: topic.byteCount > 0 ? max(mark, 1) : 0)
        // A repetition within 10 ms is a duplicate: no beacon repeats that soon (20 ms: Core Specification, Vol 6, Part
        // B, 4.4.2.2). Statuses are short, and each one counts.
        if !isRetained, payload.byteCount > Self.longestStatus,
            recent.note(recent.hash(payload, behind: mark), at: arrival, within: 10_000_000)
        {
            duplicates += 1
            return
        }
        signs.begin()
        let fault = read(message, topic, payload, &batch)
        noteSigns(of: message)
        if let fault { note(fault, of: signs.only) }
        if !newFaults.isEmpty {
            reportFaults(at: topic.byteCount > 0 ? topic.text(0..<min(topic.byteCount, 120)).printable : nil, &batch)
        }
        crowd.report(at: arrival, limit: settings.maximumReceivers, in: title, &batch)
    }

    /// Notes signs of life of the receivers that a message names.
    private mutating func noteSigns(of message: Message) {
        guard !message.isRetained else { return }
        if signs.isEmpty, let owner = owner(of: message) { signs.add(owner) }
        for number in 0..<signs.count {
            guard let place = signs.living(number) else { continue }
            receivers[place].note(at: message.arrival)
            if receivers[place].kind.isNamedInMessages { receivers[place].topic = message.topic }
        }
    }

    /// Returns the receiver whose last message had the same topic, of those that messages name; nil if there are
    /// several.
    private func owner(of message: Message) -> Int? {
        guard message.topic != 0 else { return nil }
        var owner: Int?
        for place in receivers.indices where receivers[place].topic == message.topic {
            guard owner == nil else { return nil }
            owner = place
        }
        return owner
    }

    private mutating func read(
        _ message: Message, _ topic: RawSpan, _ payload: RawSpan, _ batch: inout AdvertBatch
    ) -> MessageFault? {
        if settings.mapping != nil { return readMapped(topic, message, payload, &batch) }
        let levels = message.levels
        let (last, second, third) = (levels[last: 1], levels[last: 2], levels[last: 3])
        // Check this first, since a relay may have any name.
        if topic.equals(third, "beacon-relay") {
            let name = topic.text(0..<second.upperBound)
            guard settings.acceptsRelays else { return nil }
            if topic.equals(last, "heard") { return readRelay(name, message, payload, &batch) }
            if topic.equals(last, "status") { return noteRelayStatus(of: name, payload, message, &batch) }
            return nil
        }
        // The key of a gateway is its topic up to its name: gateways with different prefixes may share a name.
        if topic.equals(second, "BTtoMQTT") {
            return readOpenMQTTGateway(topic.text(0..<third.upperBound), message, payload, &batch)
        }
        if topic.equals(last, "BTtoMQTT") {
            return readOpenMQTTGateway(topic.text(0..<second.upperBound), message, payload, &batch)
        }
        if topic.equals(second, "tele") || topic.equals(third, "tele") {
            let device = topic.text(0..<(topic.equals(third, "tele") ? second : third).upperBound)
            if topic.equals(last, "LWT") { return noteStatus(of: device, .tasmota, payload, message, &batch) }
            noteSign(of: device, .tasmota)
            return topic.equals(last, "SENSOR") ? readTasmota(device, message, payload, &batch) : nil
        }
        // Messages of its other radios and of itself (SYStoMQTT). Topics of commands to it begin with "MQTTto".
        for number in 1...3 where topic.ends(levels[last: number], in: "toMQTT") {
            noteSign(of: topic.text(0..<levels[last: number + 1].upperBound), .openMQTTGateway)
            return nil
        }
        if topic.equals(last, "LWT") {
            return noteStatus(of: topic.text(0..<second.upperBound), .openMQTTGateway, payload, message, &batch)
        }
        if topic.equals(third, "devices") {
            let node = topic.text(0..<third.lowerBound) + topic.text(last)
            return readESPresense(node, message, payload, &batch)
        }
        if topic.equals(third, "rooms") {
            let node = topic.text(0..<third.lowerBound) + topic.text(second)
            if topic.equals(last, "status") { return noteStatus(of: node, .espresense, payload, message, &batch) }
            // Telemetry, measurements and settings.
            noteSign(of: node, .espresense)
            return nil
        }
        if topic.equals(last, "rpc"), topic.equals(second, "events") {
            return readShelly(topic.text(0..<levels.prefixCount), message, payload, &batch)
        }
        if topic.equals(last, "online") {
            return noteStatus(of: topic.text(0..<max(0, last.lowerBound - 1)), .shelly, payload, message, &batch)
        }
        // The status of each component, if that is enabled.
        if topic.equals(second, "status") {
            noteSign(of: topic.text(0..<levels.prefixCount), .shelly)
            if !signs.isEmpty { return nil }
        }
        if topic.equals(last, "gw_status") {
            return noteStatus(of: topic.text(second), .ruuvi, payload, message, &batch)
        }
        if topic.address(last) != nil, topic.address(second) != nil {
            return readRuuvi(topic.text(second), topic, message, payload, &batch)
        }
        if topic.address(second) != nil { noteSign(of: topic.text(second), .ruuvi) }
        return readPosted(message, payload, &batch)
    }
}

// The receivers and their places. Any client that may write to a broker can make up names. So receivers that the user
// named always get a place. Of the others, a new receiver replaces the least used one that is silent.

extension ReceiverNetwork {
    /// The identity of a receiver in messages.
    struct Key: Hashable {
        var kind: NetworkReceiver.Kind
        /// The name, including topic levels before it for some kinds.
        var name: String
        /// The name of one of several receivers that share this name; empty if there is only one.
        var inner = ""

        /// The name without topic levels. A Shelly's name is the whole prefix.
        var lastLevel: String {
            switch kind {
            case .openMQTTGateway, .espresense, .tasmota: lastPart
            case .relay: RelayMemory.name(ofLevel: lastPart)
            default: name
            }
        }

        /// The name without topic levels, for one of several receivers with its own name.
        var shortName: String { inner.isEmpty ? lastLevel : lastLevel + "/" + inner }

        private var lastPart: String {
            String(name.split(separator: "/", omittingEmptySubsequences: false).last ?? "")
        }

        /// True if the name is empty or too long.
        var isBad: Bool {
            let own = lastLevel
            return own.isEmpty || own.utf8.count > longestName || inner.utf8.count > longestName
                || name.utf8.count > longestKey
        }
    }

    /// Returns the index of the receiver that a message names, and notes a sign of its life. Returns nil if the
    /// receiver gets no place; ``refusal`` has the reason.
    mutating func sender(_ name: String, _ kind: NetworkReceiver.Kind, _ message: Message) -> Int? {
        guard let place = place(of: name, kind, message) else { return nil }
        signs.add(place)
        return place
    }

    /// Notes a sign of life of a receiver, if it is known.
    mutating func noteSign(of name: String, _ kind: NetworkReceiver.Kind) {
        guard let place = places[Key(kind: kind, name: name)] else { return }
        receivers[place].isInUse = true
        signs.add(place)
    }

    /// Returns the index of a receiver, and adds new receivers. Returns nil if the receiver gets no place; ``refusal``
    /// has the reason.
    ///
    /// - Parameter inner: the name of one of several receivers that share the name; empty if there is only one.
    mutating func place(
        of name: String, _ kind: NetworkReceiver.Kind, inner: String = "", _ message: Message
    ) -> Int? {
        let key = Key(kind: kind, name: name, inner: inner)
        if let place = places[key] {
            receivers[place].isInUse = true
            return place
        }
        guard !key.isBad else {
            refusal = .badName
            return nil
        }
        let shown = shownName(of: key)
        guard let place = newPlace(for: shown, at: message.arrival) else {
            refusal = .noPlace
            return nil
        }
        var receiver = NetworkReceiver(shown, kind, at: message.arrival)
        receiver.isOnline = earlyStatuses.removeValue(forKey: key)?.isOnline
        receiver.awaitsSign = message.isRetained
        receiver.isDoubtful = message.isRetained
        places[key] = place
        unseenNames.remove(shown)
        if place == receivers.count {
            receivers.append(receiver)
            names.append(shown)
            keys.append(key)
        } else {
            (receivers[place], names[place], keys[place]) = (receiver, shown, key)
        }
        return place
    }

    /// Returns a unique name of a receiver for people.
    private func shownName(of key: Key) -> String {
        let own = key.inner.isEmpty ? "" : "/" + key.inner
        let name = settings.names[key.name + own] ?? settings.names[key.shortName] ?? key.shortName.printable
        guard names.contains(name) else { return name }
        let longer = "\(name) (\(key.kind.rawValue))"
        guard names.contains(longer) else { return longer }
        // A receiver that was replaced may have freed the number of another one.
        return (2...).lazy.map { "\(longer) \($0)" }.first { !names.contains($0) } ?? longer
    }

    // MARK: - Places

    /// The number of places reserved for receivers that the user named: at most half. The names may belong to other
    /// sources.
    private var heldPlaces: Int { min(unseenNames.count, settings.maximumReceivers / 2) }

    /// Returns the index for a new receiver: a free one, or that of a receiver that it replaces.
    private mutating func newPlace(for name: String, at time: Timestamp) -> Int? {
        let isReserved = reservedNames.contains(name)
        if receivers.count + (isReserved ? 0 : heldPlaces) < settings.maximumReceivers { return receivers.count }
        crowd.note(name, at: time)
        let others = receivers.indices.filter { canMakeWay($0, at: time, isUrgent: isReserved) }
        let leastUsed = others.min { one, other in
            let (one, other) = (receivers[one], receivers[other])
            return (one.use(at: time), one.lastMessage) < (other.use(at: time), other.lastMessage)
        }
        if let leastUsed { forget(leastUsed) }
        return leastUsed
    }

    /// Returns true if a new receiver may replace this one.
    ///
    /// - Parameter isUrgent: true if the new receiver has a reserved place, so that it need not wait for a silence.
    private func canMakeWay(_ place: Int, at time: Timestamp, isUrgent: Bool) -> Bool {
        // ESPHome devices have a connection, so their names are not made up.
        guard receivers[place].kind != .esphome, !receivers[place].isInUse, !reservedNames.contains(names[place])
        else { return false }
        return isUrgent || receivers[place].canMakeWay(at: time)
    }

    /// Removes a receiver that another one replaces.
    private mutating func forget(_ place: Int) {
        places[keys[place]] = nil
        unreadable.forget(place)
        // The relay's other receivers start again with its next message.
        for (name, relay) in relays where relay.places.contains(place) { relays[name] = nil }
    }

    /// Returns true if there are places for all receivers that share a name, without adding any.
    mutating func hasPlaces(
        for name: String, _ kind: NetworkReceiver.Kind, inners: [String], at time: Timestamp
    ) -> Bool {
        let keys = inners.map { Key(kind: kind, name: name, inner: $0) }
        // They must not replace one another.
        for place in keys.compactMap({ places[$0] }) { receivers[place].isInUse = true }
        let new = keys.filter { places[$0] == nil }
        guard !new.isEmpty else { return true }
        guard !new.contains(where: \.isBad) else {
            refusal = .badName
            return false
        }
        let isReserved = new.allSatisfy { reservedNames.contains(shownName(of: $0)) }
        let free = settings.maximumReceivers - receivers.count - (isReserved ? 0 : heldPlaces)
        guard new.count > free else { return true }
        guard
            new.count <= max(free, 0)
                + receivers.indices.count(where: { canMakeWay($0, at: time, isUrgent: isReserved) })
        else {
            crowd.note(name, at: time)
            refusal = .noPlace
            return false
        }
        return true
    }

    // MARK: - Early statuses

    /// Notes the status of a name whose receivers are not known yet.
    mutating func noteEarlyStatus(of name: String, _ kind: NetworkReceiver.Kind, isOnline: Bool, at time: Timestamp) {
        let key = Key(kind: kind, name: name)
        guard !key.isBad else { return }
        if earlyStatuses.count >= settings.maximumReceivers, earlyStatuses[key] == nil,
            let oldest = earlyStatuses.min(by: { ($0.value.rank, $0.value.time) < ($1.value.rank, $1.value.time) })?.key
        {
            earlyStatuses[oldest] = nil
        }
        let rank = earlyStatuses[key]?.rank ?? (reservedNames.contains(shownName(of: key)) ? 1 : 0)
        earlyStatuses[key] = (isOnline, time, rank)
    }

    /// Returns the status of a name whose receivers are not known yet.
    func earlyStatus(of name: String, _ kind: NetworkReceiver.Kind) -> Bool? {
        earlyStatuses[Key(kind: kind, name: name)]?.isOnline
    }
}

extension MessageFault {
    static let badName = MessageFault(
        "a message", "the name of its receiver is empty, or longer than 64 bytes")

    static let noPlace = MessageFault("a message", "there is no free place for its receiver")
}

// The adverts in messages.

extension ReceiverNetwork {
    /// Adds an advert whose bytes are in a message.
    ///
    /// - Parameters:
    ///   - receiver: the index of the receiver that heard it.
    ///   - reception: its address, its signal strength, and its time by the receiver's own clock.
    ///   - bytes: its AD structures.
    mutating func hear(
        _ receiver: Int, _ message: Message, _ reception: GatewayAdvert.Reception, _ bytes: RawSpan,
        _ batch: inout AdvertBatch
    ) {
        guard let time = countAdvert(of: receiver, message, stamp: reception.stamp) else { return }
        hear(receiver, at: time, address: reception.address, rssi: reception.rssi, advert: bytes, &batch)
    }

    /// Adds an iBeacon that the gateway has decoded.
    mutating func hear(
        _ receiver: Int, _ message: Message, _ reception: GatewayAdvert.Reception, _ frame: IBeaconFrame,
        _ batch: inout AdvertBatch
    ) {
        guard let time = countAdvert(of: receiver, message, stamp: reception.stamp) else { return }
        hear(
            Sighting(
                time: time, receiver: ReceiverID(UInt16(receiver)), address: Self.address(reception.address),
                identity: frame.identity, measuredPower: frame.measuredPower, rssi: Self.strength(reception.rssi)),
            &batch)
    }

    /// Adds an advert without an iBeacon. The message has only its address.
    mutating func hearOther(
        _ receiver: Int, _ message: Message, _ reception: GatewayAdvert.Reception, _ batch: inout AdvertBatch
    ) {
        guard let time = countAdvert(of: receiver, message, stamp: reception.stamp), isListening else { return }
        let report = AdvertisingReport(
            kind: .nonConnectable, address: Self.address(reception.address), rssi: Self.strength(reception.rssi))
        batch.hear(withoutBytes: Reception(time: time, receiver: ReceiverID(UInt16(receiver)), report: report))
    }

    /// Counts an advert.
    ///
    /// - Returns: the time at which the receiver heard it; nil if the advert is not current, so that it proves no life.
    private mutating func countAdvert(of receiver: Int, _ message: Message, stamp: Timestamp?) -> Timestamp? {
        counts.reports += 1
        receivers[receiver].adverts += 1
        guard !message.isRetained else {
            lateAdverts += 1
            return nil
        }
        guard let stamp else { return message.arrival }
        let known = receivers[receiver].clock.time(of: stamp, arrivedAt: message.arrival)
        signs.add(receiver, isLate: known == nil)
        if known == nil { lateAdverts += 1 }
        return known
    }

    /// Delivers an advert.
    func hear(
        _ receiver: Int, at time: Timestamp, address: DeviceAddress?, rssi: Int, advert: RawSpan,
        _ batch: inout AdvertBatch
    ) {
        guard isListening else { return }
        let report = AdvertisingReport(
            kind: .nonConnectable, address: Self.address(address), rssi: Self.strength(rssi))
        batch.hear(Reception(time: time, receiver: ReceiverID(UInt16(receiver)), report: report), advert)
    }

    /// Delivers an iBeacon.
    func hear(_ sighting: Sighting, _ batch: inout AdvertBatch) {
        if isListening { batch.hear(sighting) }
    }

    private static func address(_ address: DeviceAddress?) -> DeviceAddress {
        address ?? DeviceAddress(bits: 0, kind: .anonymous)
    }

    /// Returns a signal strength. A number outside the range of a byte counts as unavailable.
    private static func strength(_ rssi: Int) -> SignalStrength {
        Int8(exactly: rssi).map(SignalStrength.init(rawValue:)) ?? .unavailable
    }
}

// The connection statuses that receivers, or their broker, report. A status is not a sign of life: a broker may send
// the status of a dead receiver.

extension ReceiverNetwork {
    /// Notes the connection status that a receiver, or the broker's will message for it, reports.
    mutating func noteStatus(
        of name: String, _ kind: NetworkReceiver.Kind, inner: String = "", _ payload: RawSpan, _ message: Message,
        _ batch: inout AdvertBatch
    ) -> MessageFault? {
        guard let isOnline = Self.isOnline(payload) else {
            return .noStatus
        }
        let key = Key(kind: kind, name: name, inner: inner)
        // ESPresense and Ruuvi gateways are always receivers. Devices of other kinds may be lamps, for example.
        let isKnown = places[key] != nil || kind == .espresense || kind == .ruuvi
        guard isKnown else {
            noteEarlyStatus(of: name, kind, isOnline: isOnline, at: message.arrival)
            return nil
        }
        guard let place = place(of: name, kind, inner: inner, message) else { return refusal }
        // It was away from some time after its last message on, even if it is online again now.
        let isChange = isOnline ? !message.isRetained : receivers[place].isOnline != false
        if isChange { reportDeafness(of: place, at: message.arrival, &batch) }
        if isOnline, !message.isRetained {
            receivers[place].begin(at: message.arrival)
            // A relay starts to hear after it is online, and reports that separately.
            if kind == .relay { receivers[place].awaitsSign = true }
            receivers[place].isDoubtful = kind == .relay
        }
        receivers[place].isOnline = isOnline
        return nil
    }

    func reportDeafness(of place: Int, at time: Timestamp, _ batch: inout AdvertBatch) {
        reportDeafness(of: place, from: receivers[place].lastKnown, to: time, &batch)
    }

    /// Reports a time for which a receiver may have been deaf.
    package func reportDeafness(
        of place: Int, from: Timestamp, to: Timestamp, _ batch: inout AdvertBatch
    ) {
        guard from < to else { return }
        batch.report(.deaf(from: from, to: to, receiver: ReceiverID(UInt16(place))))
    }

    /// Returns the status in a message, a word or a member of an object; nil if it has none.
    static func isOnline(_ payload: RawSpan) -> Bool? {
        for (word, isOnline) in [("online", true), ("offline", false), ("true", true), ("false", false)] {
            if payload.text(0..<min(payload.byteCount, 16)).lowercased() == word { return isOnline }
        }
        guard let object = payload.json else { return nil }
        var found: Bool?
        payload.forEachMember(of: object) { key, value in
            guard payload.equals(key, "state") || payload.equals(key, "status") || payload.equals(key, "online") else {
                return true
            }
            switch payload.text(value.range.count <= 16 ? value.range : 0..<0).lowercased() {
            case "online", "true": found = true
            case "offline", "false": found = false
            default: break
            }
            return found == nil
        }
        return found
    }
}

extension MessageFault {
    static let noStatus = MessageFault("a receiver's status", "it is neither online nor offline")
}
