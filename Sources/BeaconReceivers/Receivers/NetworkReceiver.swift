public import BeaconModel
import BeaconRadio

/// A receiver of a network: its name and its state.
public struct NetworkReceiver {
    /// The project that its messages come from.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case openMQTTGateway = "OpenMQTTGateway"
        case espresense = "ESPresense"
        case shelly = "Shelly"
        case ruuvi = "Ruuvi Gateway"
        case moko = "MOKO"
        case minew = "Minew"
        case ingics = "Ingics"
        case raddec = "raddec"
        case relay = "beacon relay"
        case esphome = "ESPHome"
        case tasmota = "Tasmota"
        case mapped = "mapping"

        /// True if signal strengths are smoothed and thinned, so that they do not allow a distance every second.
        public var isSmoothed: Bool { self == .espresense }

        /// How its receivers pass on the adverts of phones.
        var tags: TagReception {
            switch self {
            case .shelly, .esphome: .all
            case .ruuvi, .moko, .minew, .ingics, .raddec, .mapped: .filtered
            case .openMQTTGateway: .optional
            case .relay: .relayed
            case .espresense, .tasmota: .none
            }
        }

        /// True for gateways that collect adverts and send them together.
        var gathers: Bool { [.ruuvi, .moko, .minew, .ingics, .raddec, .tasmota].contains(self) }

        /// True for gateways whose name is in their messages and not in the topic.
        var isNamedInMessages: Bool {
            switch self {
            case .moko, .minew, .ingics, .raddec, .ruuvi, .mapped: true
            case .openMQTTGateway, .espresense, .shelly, .relay, .esphome, .tasmota: false
            }
        }
    }

    /// The silence after which it is unknown whether a receiver hears, in nanoseconds. It is short, so that events wait
    /// that would be due after the receiver's death. The next message ends the doubt, and nearly everywhere some device
    /// is heard each second.
    static let doubt = Timestamp.nanosecondsPerSecond / 2

    /// The length of a doubt after which delayed messages may follow, in nanoseconds.
    private static let longDoubt = 5 * Timestamp.nanosecondsPerSecond

    /// The time for these delayed messages to arrive, in nanoseconds.
    private static let settlingTime = Timestamp.nanosecondsPerSecond

    /// The shortest silence that can mean death, in nanoseconds, whatever gaps are usual.
    private static let shortestSilence = 10 * Timestamp.nanosecondsPerSecond

    /// The same for gateways that collect adverts: Ruuvi's send every ten seconds.
    private static let gatheringSilence = 15 * Timestamp.nanosecondsPerSecond

    /// The number of longest usual gaps after which a silence means death.
    static let usualGaps: Int64 = 4

    /// The period over which messages are counted for ``use(at:)``, in nanoseconds.
    private static let hour = 3600 * Timestamp.nanosecondsPerSecond

    /// The time after which the older half of the gaps is discarded, in nanoseconds.
    private static let halfLife = 300 * Timestamp.nanosecondsPerSecond

    /// The time after which a rhythm is discarded, in nanoseconds. It is long, since a rhythm does not show while
    /// beacons are present.
    private static let rhythmLife = 24 * hour

    /// The name in events.
    public let name: String
    /// The project that its messages come from.
    public let kind: Kind

    /// The last connection status that it or its broker reported: true for online; nil before the first one.
    public internal(set) var isOnline: Bool?
    /// The time of its last message.
    public internal(set) var lastMessage: Timestamp
    /// True after a silence so long that it may be dead.
    public internal(set) var isQuiet = false
    /// True after a short silence: it may be dead, or have nothing to send.
    public internal(set) var isDoubtful = false
    /// The number of adverts that it heard, from beacons and other devices.
    public internal(set) var adverts = 0

    /// The hash of the topic of its last message; 0 if it has none, or if its topic identifies it.
    var topic: UInt64 = 0
    /// True if a message has named it since the last call of `advance`. Its adverts may not have been delivered yet, so
    /// its index must not pass to another receiver.
    var isInUse = true
    /// True if a mapping has found an iBeacon in one of its messages.
    var hasSentBeacon = false

    /// The status that it reports; nil if it reports none.
    var reported: ReceiverStatus?
    /// True if it has sent nothing since the connection began. Retained messages do not count.
    var awaitsSign = false
    /// The time until which its silence proves nothing, although it sent a message: after a long doubt, its adverts may
    /// arrive late in several messages.
    var settlesAt: Timestamp?
    /// The time, by our clock, up to which all its adverts have arrived; nil if it does not report it.
    private(set) var covered: Timestamp?
    /// The newest time up to which it is known to have heard. It only grows.
    private var confirmed = Timestamp.zero
    var clock = SkewedClock()
    private var longest: (now: Int64, before: Int64) = (0, 0)
    private var halfBegan: Timestamp
    /// The last silence that counted as its death, and the end of that silence.
    private var death: (silence: Int64, end: Timestamp)?
    /// The repeated silence between two messages in an empty room, and its last occurrence; nil if none has repeated.
    private var rhythm: (silence: Int64, seen: Timestamp)?
    /// The number of messages in the current hour and in the one before.
    private var messages: (now: Int, before: Int) = (0, 0)
    private var hourBegan: Timestamp

    init(_ name: String, _ kind: Kind, at time: Timestamp) {
        self.name = name
        self.kind = kind
        lastMessage = time
        halfBegan = time
        hourBegan = time
    }

    /// True if its silence means that no device is near.
    public var isHearing: Bool { isOnline != false && !isQuiet && (reported?.state ?? .poweredOn) == .poweredOn }

    /// The state in the terms of radios.
    var state: RadioState {
        if isHearing { return .poweredOn }
        if isOnline == false { return .poweredOff }
        return isQuiet ? .resetting : reported?.state ?? .resetting
    }

    /// The silence after which it may be dead, in nanoseconds.
    var patience: Int64 {
        max(
            kind.gathers ? Self.gatheringSilence : Self.shortestSilence,
            Self.usualGaps.multipliedReportingOverflow(by: max(longest.now, longest.before, rhythm?.silence ?? 0)).0)
    }

    /// Returns true if another receiver may replace it.
    func canMakeWay(at time: Timestamp) -> Bool { time.since(lastMessage) > Self.shortestSilence }

    /// Returns the number of messages in the last one to two hours.
    func use(at time: Timestamp) -> Int {
        switch time.since(hourBegan) / Self.hour {
        case ..<1: messages.now + messages.before
        case 1: messages.now
        default: 0
        }
    }

    private mutating func countMessage(at time: Timestamp) {
        let hours = time.since(hourBegan) / Self.hour
        if hours > 0 {
            messages = (0, hours == 1 ? messages.now : 0)
            hourBegan = time
        }
        messages.now += 1
    }

    /// The time from which its adverts are unknown.
    var lastKnown: Timestamp { min(lastMessage, covered ?? lastMessage) }

    /// True if too little is known about the last half second: it may be dead.
    func isDoubtful(at time: Timestamp) -> Bool {
        awaitsSign || time.since(covered ?? lastMessage) > Self.doubt
    }

    /// Notes that all its adverts up to a time have arrived.
    ///
    /// - Parameters:
    ///   - end: that time. If it is not recent, more adverts are to come, and the doubt continues.
    ///   - time: the time of the message.
    mutating func noteCoverage(upTo end: Timestamp, at time: Timestamp) {
        covered = end
        note(at: time)
        settlesAt = nil
        isDoubtful = isDoubtful(at: time)
        confirm()
    }

    /// Notes that its silence until its last message counts.
    mutating func confirm() { confirmed = max(confirmed, lastKnown) }

    /// The status for clients.
    var status: ReceiverStatus {
        var status = reported ?? ReceiverStatus(.poweredOn)
        status.state = state
        if kind.isSmoothed { status.isSmoothed = true }
        status.tags = kind.tags
        if isDoubtful {
            let own = confirmed.advanced(by: awaitsSign ? 0 : Self.doubt)
            status.heardUntil = status.isDoubtful ? min(own, status.heardUntil) : own
            status.isDoubtful = true
        }
        if !status.isDoubtful { status.heardUntil = .zero }
        return status
    }

    /// Notes a message from it.
    mutating func note(at time: Timestamp) {
        let gap = time.since(lastMessage)
        countMessage(at: time)
        if time.since(halfBegan) > Self.halfLife {
            longest = (0, longest.now)
            halfBegan = time
        }
        if isQuiet { noteDeath(after: gap, at: time) } else { longest.now = max(longest.now, gap) }
        if let rhythm, gap >= rhythm.silence / 2 {
            self.rhythm?.seen = time
        } else if let rhythm, time.since(rhythm.seen) > Self.rhythmLife {
            self.rhythm = nil
        }
        let wasLong = isDoubtful && gap > Self.longDoubt
        let settling = settlesAt
        begin(at: time)
        // If it reports how far its adverts are complete, the time after that remains unknown.
        isDoubtful = isDoubtful(at: time)
        // A live advert outweighs an old will message.
        if isOnline == false { isOnline = nil }
        if wasLong || settling != nil {
            settlesAt = settling ?? time.advanced(by: Self.settlingTime)
            isDoubtful = true
        } else {
            confirm()
        }
    }

    /// Notes that it is alive although its silence counted as death.
    ///
    /// One such silence is not a usual gap: it may have been away. Two of about the same length in short succession are
    /// its rhythm: in an empty room it sends only a heartbeat.
    private mutating func noteDeath(after silence: Int64, at time: Timestamp) {
        defer { death = (silence, time) }
        guard let death else { return }
        let (shorter, longer) = (min(death.silence, silence), max(death.silence, silence))
        // Other messages, of another rhythm, may lie between the two.
        guard longer - shorter <= longer / 4, time.since(death.end) - silence <= 2 * longer else { return }
        rhythm = (longer, time)
    }

    /// Notes that it is alive after a time in which it could send nothing.
    mutating func begin(at time: Timestamp) {
        lastMessage = max(lastMessage, time)
        isQuiet = false
        isDoubtful = false
        awaitsSign = false
        settlesAt = nil
    }
}
