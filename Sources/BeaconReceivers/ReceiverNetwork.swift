public import BeaconModel
public import BeaconRadio
import BeaconSupport

/// A network of receivers that send what they hear as messages: which receivers there are, whether each hears, and the
/// adverts in their messages.
///
/// It does no I/O and reads no clock. A message that cannot be read is counted by its fault, which is told once.
/// Adverts that the broker kept, and those that are older than a few seconds, are not of the present and are passed
/// over.
public struct ReceiverNetwork {
    /// The settings of a network.
    public struct Settings: Hashable, Sendable {
        /// The user's names of receivers, by the names that these have themselves.
        public var names: [String: String] = [:]
        /// Receivers that always get a place, by the names that events have, besides those in ``names``.
        package var reserved: Set<String> = []
        /// Where messages of another kind have what matters.
        public var mapping: ReceiverMapping?
        /// The silence, in nanoseconds, from which on a receiver's room counts as empty though the receiver may be
        /// dead; nil for never.
        public var emptyAfter: Int64?
        /// Whether relays of this package are receivers. They are not for a relay, whose own messages may come back to
        /// it.
        public var hearsRelays = true
        /// The most receivers; by default 200, since an engine has 256 places and other sources have receivers too.
        package var mostReceivers = 200

        /// The default settings.
        public init() {}
    }

    /// A message, with the bytes of its topic and its payload beside it.
    struct Message {
        var levels: TopicLevels
        var arrival: Timestamp
        /// True for one that the broker kept: it may be of any time.
        var isRetained: Bool
        /// The number that stands for the topic; 0 for a message without one.
        var topic: UInt64 = 0
    }

    /// The longest status in bytes that may come again and again.
    private static let longestStatus = 40

    /// The longest name of a receiver in bytes, and with the topic's levels before it.
    static let longestName = 64
    static let longestKey = 256

    /// The time between two looks at who is silent, in nanoseconds.
    private static let reviewInterval = Timestamp.nanosecondsPerSecond / 4

    /// The receivers, in the order in which they appeared.
    public internal(set) var receivers: [NetworkReceiver] = []
    /// The names of the receivers in the same order. A place may get another receiver, which has another name.
    public internal(set) var names: [String] = []
    /// The adverts and messages so far.
    public internal(set) var counts = SourceCounts()
    /// The messages that could not be read, by fault.
    public var faults: [MessageFault: Int] { unreadable.counts }
    /// Adverts that were too old when they came.
    public internal(set) var lateAdverts = 0
    /// Messages that came twice.
    public internal(set) var duplicates = 0

    /// False while nothing that receivers hear is wanted. Whether they hear is followed all the time.
    public var isListening = true

    let settings: Settings
    private let title: String
    /// The names of receivers that always get a place, and those of them that have none yet.
    let reservedNames: Set<String>
    var unmetNames: Set<String>
    /// The places of the receivers, and the receiver at each.
    var places: [Key: Int] = [:]
    var keys: [Key] = []
    var unreadable = MessageFaults()
    /// Why there is no place for the receiver that was looked for last.
    var refusal = MessageFault.badName
    /// The receivers that the message names that is being read.
    var signs = SignsOfLife()
    private var recent = RecentMessages()
    /// The relays, by their topics up to their names.
    var relays: [String: RelayMemory] = [:]
    /// The statuses of receivers that have sent no advert yet, with their times: a gateway of another kind may have
    /// such a topic too.
    var said: [Key: (isOnline: Bool, time: Timestamp)] = [:]
    var crowd = Crowd()
    private var nextReview = Timestamp.zero
    private var isConnected = false

    /// A network without receivers.
    ///
    /// - Parameters:
    ///   - settings: the settings.
    ///   - title: the name of the network in notices.
    public init(_ settings: Settings = Settings(), titled title: String = "messages") {
        self.settings = settings
        self.title = title
        reservedNames = settings.reserved.union(settings.names.values)
        unmetNames = reservedNames
    }

    /// True where an advert could be heard now.
    public var isHearing: Bool { isConnected && receivers.contains(where: \.isHearing) }

    /// The status of each receiver.
    public var statuses: [ReceiverStatus] {
        receivers.map {
            ReceiverStatus(
                isConnected ? $0.state : .resetting, isDoubtful: $0.isDoubtful || $0.reported?.isDoubtful == true,
                isSmoothed: $0.kind.isSmoothed || $0.reported?.isSmoothed == true)
        }
    }

    /// When time has to be let pass again, at the latest; the end of time where all that can be doubted is.
    public var deadline: Timestamp {
        isConnected && receivers.contains { !$0.isDoubtful && !$0.isQuiet }
            ? nextReview : .latest
    }

    // MARK: - The connection

    /// Notes that there is a connection to the receivers' broker: what comes from now on is of now.
    public mutating func connect(at time: Timestamp) {
        isConnected = true
        nextReview = time
        // What a broker knows of them it says again.
        said = [:]
        // Who died meanwhile sends nothing now either.
        for place in receivers.indices {
            receivers[place].begin(at: time)
            receivers[place].awaitsSign = true
            receivers[place].isDoubtful = true
            receivers[place].isOnline = nil
        }
    }

    /// Notes that there is none: nobody is heard, and nobody's silence means anything.
    public mutating func disconnect() { isConnected = false }

    /// Lets time pass. A receiver that has been silent for too long may be dead.
    ///
    /// Adverts are handed over before the next message is received. After that, receivers may make way for others.
    ///
    /// - Parameters:
    ///   - time: the present.
    ///   - batch: receives stretches of deafness that are noticed now.
    public mutating func advance(to time: Timestamp, into batch: inout AdvertBatch) {
        for place in receivers.indices { receivers[place].isInUse = false }
        guard isConnected, time >= nextReview else { return }
        nextReview = time.advanced(by: Self.reviewInterval)
        crowd.report(at: time, limit: settings.mostReceivers, in: title, &batch)
        for place in receivers.indices {
            let receiver = receivers[place]
            let silence = time.since(receiver.lastMessage)
            let empty = settings.emptyAfter ?? .max
            // Of one with a last will its broker says so.
            let isDead = receiver.isOnline != true && empty == .max && silence > receiver.patience
            if let settled = receiver.settlesAt {
                // Once: what it heard is in, and what was due meanwhile happens.
                guard time >= settled else { continue }
                receivers[place].settlesAt = nil
                receivers[place].isDoubtful = false
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
    /// It proves that every receiver that it names is alive, whatever is in it. If it names none, it proves this for
    /// the receiver that uses its topic. A message that the broker kept proves nothing.
    ///
    /// - Parameters:
    ///   - topic: its topic; empty where it came by another way.
    ///   - payload: its content.
    ///   - isRetained: true for one that the broker kept.
    ///   - arrival: when it came.
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
        // The same within 10 ms, which no beacon repeats so soon (20 ms: Core Specification, Vol 6, Part B, 4.4.2.2).
        // Statuses are short, and each counts.
        if !isRetained, payload.byteCount > Self.longestStatus,
            recent.note(recent.hash(payload, behind: mark), at: arrival, within: 10_000_000)
        {
            duplicates += 1
            return
        }
        signs.begin()
        let fault = read(message, topic, payload, &batch)
        noteSigns(of: message)
        // The crowd is reported as a whole.
        if let fault, unreadable.note(fault, of: signs.only), fault != .noPlace {
            let place = topic.byteCount > 0 ? topic.text(0..<min(topic.byteCount, 120)).printable : nil
            let text = fault.report(of: signs.only.map { names[$0] }, at: place)
            batch.report(.notice(RadioNotice(.degraded, adapter: title, text)))
        }
        crowd.report(at: arrival, limit: settings.mostReceivers, in: title, &batch)
    }

    /// Notes a sign of life of the receivers that a message names.
    private mutating func noteSigns(of message: Message) {
        guard !message.isRetained else { return }
        if signs.isEmpty, let owner = owner(of: message) { signs.add(owner) }
        for number in 0..<signs.count {
            guard let place = signs.living(number) else { continue }
            receivers[place].note(at: message.arrival)
            if receivers[place].kind.isNamedInMessages { receivers[place].topic = message.topic }
        }
    }

    /// Returns the only receiver whose last message had the same topic, of those that name themselves in messages.
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
        // First, since a relay may have any name.
        if topic.equals(third, "beacon-relay") {
            let name = topic.text(0..<second.upperBound)
            guard settings.hearsRelays else { return nil }
            if topic.equals(last, "heard") { return readRelay(name, message, payload, &batch) }
            if topic.equals(last, "status") { return noteRelayStatus(of: name, payload, message, &batch) }
            return nil
        }
        // A gateway is known by its topic up to its name: two of one name may have different prefixes.
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
        // Its other radios, and itself (SYStoMQTT). Commands for it are at topics that begin with "MQTTto".
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
        // With its status for each component, where that is switched on.
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
