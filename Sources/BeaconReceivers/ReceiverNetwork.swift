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
        /// The places of what matters in messages of another kind.
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
    }

    /// The longest status in bytes that may come again and again.
    private static let longestStatus = 40

    /// The longest name of a receiver in bytes, and with the topic's levels before it.
    static let longestName = 64
    private static let longestKey = 256

    /// The time between two looks at who is silent, in nanoseconds.
    private static let reviewInterval = Timestamp.nanosecondsPerSecond / 4

    /// The receivers, in the order in which they appeared.
    public internal(set) var receivers: [NetworkReceiver] = []
    /// The names of the receivers in the same order.
    public private(set) var names: [String] = []
    /// The adverts and messages so far.
    public internal(set) var counts = SourceCounts()
    /// The messages that could not be read, by fault.
    public var faults: [MessageFault: Int] { unreadable.counts }
    /// Adverts that were too old when they came.
    public private(set) var lateAdverts = 0
    /// Messages that came twice.
    public private(set) var duplicates = 0

    let settings: Settings
    private var places: [Key: Int] = [:]
    private var unreadable = MessageFaults()
    private var recent = RecentMessages()
    /// The relays, by their topics up to their names.
    var relays: [String: Relay] = [:]
    /// What was said of receivers that have sent no advert so far: a gateway of another kind may have such a topic too.
    private var said: [Key: Bool] = [:]
    private var nextReview = Timestamp.zero
    private var isConnected = false

    private struct Key: Hashable {
        var kind: NetworkReceiver.Kind
        /// The name, with the topic's levels before it where its kind has such.
        var name: String
        /// The name of one of several receivers that have this name; empty where there is one.
        var inner = ""

        /// The name alone. Shelly's is the whole prefix.
        var lastLevel: String {
            guard kind == .openMQTTGateway || kind == .espresense || kind == .relay else { return name }
            let last = String(name.split(separator: "/", omittingEmptySubsequences: false).last ?? "")
            return kind == .relay ? Relay.name(ofLevel: last) : last
        }
    }

    /// A network without receivers.
    public init(_ settings: Settings = Settings()) { self.settings = settings }

    /// True where an advert could be heard now.
    public var isHearing: Bool { isConnected && receivers.contains(where: \.isHearing) }

    /// The status of each receiver.
    public var statuses: [ReceiverStatus] {
        receivers.map {
            ReceiverStatus(
                isConnected ? $0.state : .resetting, isDoubtful: $0.isDoubtful || $0.told?.isDoubtful == true,
                isSmoothed: $0.kind.isSmoothed || $0.told?.isSmoothed == true)
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

    /// Lets time pass: who has been silent for too long may be dead.
    ///
    /// - Parameter report: receives stretches of deafness that are noticed now.
    public mutating func advance(to time: Timestamp, report: (RadioEvent) -> Void) {
        guard isConnected, time >= nextReview else { return }
        nextReview = time.advanced(by: Self.reviewInterval)
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
            reportDeafness(of: place, at: time, report)
            receivers[place].isQuiet = true
        }
    }

    // MARK: - Messages

    /// Reads a message.
    ///
    /// - Parameters:
    ///   - topic: its topic; empty where it came by another way.
    ///   - payload: its content.
    ///   - isRetained: true for one that the broker kept.
    ///   - arrival: when it came.
    ///   - deliver: receives each advert with its AD structures.
    ///   - report: receives what else there is to say.
    /// - Throws: what `deliver` throws.
    public mutating func receive(
        topic: RawSpan, payload: RawSpan, isRetained: Bool = false, at arrival: Timestamp,
        deliver: (Reception, RawSpan) throws -> Void, report: (RadioEvent) -> Void
    ) rethrows {
        counts.packets += 1
        let message = Message(levels: TopicLevels(topic), arrival: arrival, isRetained: isRetained)
        // The same within 10 ms, which no beacon repeats so soon (20 ms: Core Specification, Vol 6, Part B, 4.4.2.2).
        // Statuses are short, and each counts.
        if !isRetained, payload.byteCount > Self.longestStatus,
            recent.note(recent.hash(topic, payload), at: arrival, within: 10_000_000)
        {
            duplicates += 1
            return
        }
        if let fault = try read(message, topic, payload, deliver, report), unreadable.note(fault) {
            let name = topic.byteCount > 0 ? " at \(topic.text(0..<min(topic.byteCount, 120)).printable)" : ""
            report(
                .notice(
                    RadioNotice(
                        .degraded, adapter: "messages",
                        "\(fault.subject)\(name) is not used: \(fault.problem). Others like it are counted, and not told"
                    )))
        }
    }

    private mutating func read(
        _ message: Message, _ topic: RawSpan, _ payload: RawSpan, _ deliver: (Reception, RawSpan) throws -> Void,
        _ report: (RadioEvent) -> Void
    ) rethrows -> MessageFault? {
        if settings.mapping != nil { return try readMapped(topic, message, payload, deliver) }
        let levels = message.levels
        let (last, second, third) = (levels[last: 1], levels[last: 2], levels[last: 3])
        // First, since a relay may have any name.
        if topic.equals(third, "beacon-relay") {
            let name = topic.text(0..<second.upperBound)
            guard settings.hearsRelays else { return nil }
            if topic.equals(last, "heard") { return try readRelay(name, message, payload, deliver, report) }
            if topic.equals(last, "status") { return noteRelayStatus(of: name, payload, message, report) }
            return nil
        }
        // A gateway is known by its topic up to its name: two of one name may have different prefixes.
        if topic.equals(second, "BTtoMQTT") {
            return try readOpenMQTTGateway(topic.text(0..<third.upperBound), message, payload, deliver)
        }
        if topic.equals(last, "BTtoMQTT") {
            return try readOpenMQTTGateway(topic.text(0..<second.upperBound), message, payload, deliver)
        }
        if topic.equals(last, "SYStoMQTT") {
            return noteSign(of: topic.text(0..<second.upperBound), .openMQTTGateway, message)
        }
        if topic.equals(last, "LWT") {
            return noteStatus(of: topic.text(0..<second.upperBound), .openMQTTGateway, payload, message, report)
        }
        if topic.equals(third, "devices") {
            let node = topic.text(0..<third.lowerBound) + topic.text(last)
            return try readESPresense(node, message, payload, deliver)
        }
        if topic.equals(third, "rooms") {
            let node = topic.text(0..<third.lowerBound) + topic.text(second)
            if topic.equals(last, "status") { return noteStatus(of: node, .espresense, payload, message, report) }
            if topic.equals(last, "telemetry") { return noteSign(of: node, .espresense, message) }
            return nil
        }
        if topic.equals(last, "rpc"), topic.equals(second, "events") {
            return try readShelly(topic.text(0..<levels.prefixCount), message, payload, deliver)
        }
        if topic.equals(last, "online") {
            return noteStatus(of: topic.text(0..<max(0, last.lowerBound - 1)), .shelly, payload, message, report)
        }
        if topic.equals(last, "gw_status") {
            return noteStatus(of: topic.text(second), .ruuvi, payload, message, report)
        }
        if topic.address(last) != nil, topic.address(second) != nil {
            return try readRuuvi(topic.text(second), topic, message, payload, deliver)
        }
        return try readPosted(message, payload, deliver)
    }

    // MARK: - What messages say

    /// Takes in an advert.
    ///
    /// - Parameters:
    ///   - receiver: the place of the receiver that heard it.
    ///   - stamp: when, by the receiver's own clock; nil where it does not say.
    mutating func hear(
        _ receiver: Int, _ message: Message, stamp: Timestamp? = nil, address: DeviceAddress?, rssi: Int,
        advert: RawSpan, _ deliver: (Reception, RawSpan) throws -> Void
    ) rethrows {
        counts.reports += 1
        receivers[receiver].adverts += 1
        guard !message.isRetained else {
            lateAdverts += 1
            return
        }
        var time = message.arrival
        if let stamp {
            guard let known = receivers[receiver].clock.time(of: stamp, arrivedAt: message.arrival) else {
                lateAdverts += 1
                return
            }
            time = known
        }
        note(receiver, message)
        try hear(receiver, at: time, address: address, rssi: rssi, advert: advert, deliver)
    }

    /// Delivers an advert.
    func hear(
        _ receiver: Int, at time: Timestamp, address: DeviceAddress?, rssi: Int, advert: RawSpan,
        _ deliver: (Reception, RawSpan) throws -> Void
    ) rethrows {
        // 127 is no reading (Core Specification, Vol 4, Part E, 7.7.65.2), and more than 20 dBm is none that there is.
        let strength = SignalStrength(rawValue: rssi > 20 ? 127 : Int8(clamping: max(rssi, -127)))
        let report = AdvertisingReport(
            kind: .nonConnectable, address: address ?? DeviceAddress(bits: 0, kind: .anonymous), rssi: strength)
        try deliver(
            Reception(time: time, receiver: ReceiverID(UInt16(receiver)), report: report), advert)
    }

    /// Takes in an iBeacon's advert that the receiver has decoded already.
    mutating func hear(
        _ receiver: Int, _ message: Message, stamp: Timestamp? = nil, address: DeviceAddress?, rssi: Int,
        frame: IBeaconFrame, _ deliver: (Reception, RawSpan) throws -> Void
    ) rethrows {
        try Self.withAdvert(of: frame) {
            try hear(receiver, message, stamp: stamp, address: address, rssi: rssi, advert: $0, deliver)
        }
    }

    /// Calls a function with the bytes of an iBeacon's advert.
    static func withAdvert(of frame: IBeaconFrame, _ body: (RawSpan) throws -> Void) rethrows {
        var advert = InlineArray<30, UInt8>(repeating: 0)
        var span = advert.mutableSpan
        span.withUnsafeMutableBytes { frame.write(to: $0) }
        try body(advert.span.bytes)
    }

    /// Returns the place of a receiver, which is added where it is new; nil where there are too many, or its name is
    /// none.
    ///
    /// - Parameter inner: the name of one of several receivers that have the name; empty where there is one.
    mutating func place(
        of name: String, _ kind: NetworkReceiver.Kind, inner: String = "", _ message: Message
    ) -> Int? {
        let key = Key(kind: kind, name: name, inner: inner)
        if let place = places[key] { return place }
        guard receivers.count < settings.mostReceivers, name.utf8.count <= Self.longestKey, !key.lastLevel.isEmpty,
            key.lastLevel.utf8.count <= Self.longestName, inner.utf8.count <= Self.longestName
        else { return nil }
        let place = receivers.count
        places[key] = place
        receivers.append(NetworkReceiver(shownName(of: key), kind, at: message.arrival))
        receivers[place].isOnline = said.removeValue(forKey: key)
        receivers[place].awaitsSign = message.isRetained
        receivers[place].isDoubtful = message.isRetained
        names.append(receivers[place].name)
        return place
    }

    /// Returns the name of a receiver for people, which no other has.
    private func shownName(of key: Key) -> String {
        let own = key.inner.isEmpty ? "" : "/" + key.inner
        let name =
            settings.names[key.name + own] ?? settings.names[key.lastLevel + own] ?? (key.lastLevel + own).printable
        guard names.contains(name) else { return name }
        let longer = "\(name) (\(key.kind.rawValue))"
        guard names.contains(longer) else { return longer }
        return "\(longer) \(receivers.count + 1)"
    }

    /// Notes a sign of life. What a broker kept is none.
    mutating func note(_ place: Int, _ message: Message) {
        if !message.isRetained { receivers[place].note(at: message.arrival) }
    }

    /// Returns whether there are places for receivers of a name, without adding any.
    func hasPlaces(for name: String, _ kind: NetworkReceiver.Kind, inners: [String]) -> Bool {
        let keys = inners.map { Key(kind: kind, name: name, inner: $0) }
        let new = keys.count { places[$0] == nil }
        return receivers.count + new <= settings.mostReceivers
            && keys.allSatisfy {
                name.utf8.count <= Self.longestKey && !$0.lastLevel.isEmpty
                    && $0.lastLevel.utf8.count <= Self.longestName && $0.inner.utf8.count <= Self.longestName
            }
    }

    /// Notes what was said of a name whose receivers are not known so far.
    mutating func noteSaid(of name: String, _ kind: NetworkReceiver.Kind, isOnline: Bool) {
        let key = Key(kind: kind, name: name)
        guard name.utf8.count <= Self.longestKey, said.count < settings.mostReceivers || said[key] != nil else {
            return
        }
        said[key] = isOnline
    }

    /// Returns what was said of a name.
    func said(of name: String, _ kind: NetworkReceiver.Kind) -> Bool? { said[Key(kind: kind, name: name)] }

    /// Counts a message that came before.
    mutating func countDuplicate() { duplicates += 1 }

    /// Counts adverts that came too late.
    mutating func countLate(_ adverts: Int) { lateAdverts += adverts }

    /// Notes an advert of another device, which is a sign of life.
    mutating func noteOther(_ receiver: Int, _ message: Message) {
        counts.reports += 1
        receivers[receiver].adverts += 1
        note(receiver, message)
    }

    /// Notes a sign of life that is no advert.
    private mutating func noteSign(
        of name: String, _ kind: NetworkReceiver.Kind, _ message: Message
    ) -> MessageFault? {
        if let place = places[Key(kind: kind, name: name)] { note(place, message) }
        return nil
    }

    /// Notes what a receiver, or its broker for it, says of its connection.
    mutating func noteStatus(
        of name: String, _ kind: NetworkReceiver.Kind, inner: String = "", _ payload: RawSpan, _ message: Message,
        _ report: (RadioEvent) -> Void
    ) -> MessageFault? {
        guard let isOnline = Self.isOnline(payload) else {
            return .noStatus
        }
        let key = Key(kind: kind, name: name, inner: inner)
        // ESPresense and Ruuvi gateways have nothing but Bluetooth; the others may be a lamp as well.
        let isKnown = places[key] != nil || kind == .espresense || kind == .ruuvi
        guard isKnown else {
            if said.count < settings.mostReceivers || said[key] != nil { said[key] = isOnline }
            return nil
        }
        guard let place = places[key] ?? place(of: name, kind, inner: inner, message) else { return .tooManyReceivers }
        // It was away since some time after its last message, and nobody knows when: one that says that it is online
        // now, too.
        let isNews = isOnline ? !message.isRetained : receivers[place].isOnline != false
        if isNews { reportDeafness(of: place, at: message.arrival, report) }
        if isOnline, !message.isRetained {
            receivers[place].begin(at: message.arrival)
            // A relay begins to hear later than it is online, and says when.
            if kind == .relay { receivers[place].awaitsSign = true }
            receivers[place].isDoubtful = kind == .relay
        }
        receivers[place].isOnline = isOnline
        return nil
    }

    func reportDeafness(of place: Int, at time: Timestamp, _ report: (RadioEvent) -> Void) {
        reportDeafness(of: place, from: receivers[place].lastKnown, to: time, report)
    }

    /// Reports a stretch in which nobody knows what a receiver heard.
    package func reportDeafness(
        of place: Int, from: Timestamp, to: Timestamp, _ report: (RadioEvent) -> Void
    ) {
        guard from < to else { return }
        report(.deaf(from: from, to: to, receiver: ReceiverID(UInt16(place))))
    }

    /// Returns what a status says: a word, or a member of an object; nil where it says nothing of this.
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

    static let tooManyReceivers = MessageFault(
        "a message", "there are 200 receivers already, or its receiver's name is empty or longer than 64 bytes")
}
