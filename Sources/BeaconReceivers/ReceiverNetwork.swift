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
    static let longestKey = 256

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
    let reservedNames: Set<String>
    var unseenNames: Set<String>
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
