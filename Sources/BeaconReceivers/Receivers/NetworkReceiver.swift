public import BeaconModel
import BeaconRadio

/// A receiver of a network: its name, and whether it hears.
public struct NetworkReceiver {
    /// The project that its messages are of.
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

        /// True where signal strengths come smoothed and thinned, so that a distance each second cannot be made of
        /// them.
        public var isSmoothed: Bool { self == .espresense }

        /// True for gateways that hear all the time and send it together.
        var gathers: Bool { [.ruuvi, .moko, .minew, .ingics, .raddec, .tasmota].contains(self) }

        /// True for gateways whose name is in their messages, and not in the topic.
        var isNamedInMessages: Bool {
            switch self {
            case .moko, .minew, .ingics, .raddec, .ruuvi, .mapped: true
            case .openMQTTGateway, .espresense, .shelly, .relay, .esphome, .tasmota: false
            }
        }
    }

    /// The silence from which on nobody knows whether a receiver hears, in nanoseconds: short, so that what would be
    /// due after its death waits. The next message resolves it, and nearly everywhere some device is heard each second.
    static let doubt = Timestamp.nanosecondsPerSecond / 2

    /// A doubt that is longer than this may end with messages that were delayed, in nanoseconds.
    private static let longDoubt = 5 * Timestamp.nanosecondsPerSecond

    /// The time for which those may come, in nanoseconds.
    private static let settlingTime = Timestamp.nanosecondsPerSecond

    /// A silence that counts as one though nothing longer was usual, in nanoseconds.
    private static let shortestSilence = 10 * Timestamp.nanosecondsPerSecond

    /// The same for gateways that gather what they hear: Ruuvi's send each ten seconds.
    private static let gatheringSilence = 15 * Timestamp.nanosecondsPerSecond

    /// How many times the longest usual gap a silence has to be.
    static let usualGaps: Int64 = 4

    /// The time over which messages are counted for ``use(at:)``, in nanoseconds.
    private static let hour = 3600 * Timestamp.nanosecondsPerSecond

    /// The time after which an older half of the gaps is forgotten, in nanoseconds.
    private static let halfLife = 300 * Timestamp.nanosecondsPerSecond

    /// The time after which a rhythm is forgotten, in nanoseconds. It is long, since a rhythm does not show while there
    /// are beacons.
    private static let rhythmLife = 24 * hour

    /// The name in events.
    public let name: String
    /// The project that its messages are of.
    public let kind: Kind

    /// What it or its broker said of it last: true for online; nil before it said anything.
    public internal(set) var isOnline: Bool?
    /// When anything came from it last.
    public internal(set) var lastMessage: Timestamp
    /// True where nothing came for so long that it may be dead.
    public internal(set) var isQuiet = false
    /// True where nothing came for a moment: it may be dead, or have nothing to tell.
    public internal(set) var isDoubtful = false
    /// The number of adverts that it heard, of beacons and others.
    public internal(set) var adverts = 0

    /// The number that stands for the topic of its last message; 0 where it has none, or is known by its topic.
    var topic: UInt64 = 0
    /// True if a message has named it since time was let pass last. Its adverts may not be handed over yet, so its
    /// number stays its own.
    var isInUse = true
    /// True where a mapping has found an iBeacon in a message of it.
    var hasSentBeacon = false

    /// What it says of itself; nil for one that does not.
    var reported: ReceiverStatus?
    /// True where nothing came from it since there is a connection: what a broker kept says nothing of now.
    var awaitsSign = false
    /// Until when its silence counts for nothing though it sent something: after a longer doubt, what it heard may come
    /// in several messages, late.
    var settlesAt: Timestamp?
    /// Up to when all that it heard has come, by our clock; nil for one that does not say so.
    private(set) var covered: Timestamp?
    var clock = SkewedClock()
    private var longest: (now: Int64, before: Int64) = (0, 0)
    private var halfBegan: Timestamp
    /// The last silence that was taken for its death, and when it ended.
    private var death: (silence: Int64, end: Timestamp)?
    /// The silence between two messages in an empty room, and when it was seen last; nil where none has repeated.
    private var rhythm: (silence: Int64, seen: Timestamp)?
    /// The messages of the present hour and of the one before.
    private var messages: (now: Int, before: Int) = (0, 0)
    private var hourBegan: Timestamp

    init(_ name: String, _ kind: Kind, at time: Timestamp) {
        self.name = name
        self.kind = kind
        lastMessage = time
        halfBegan = time
        hourBegan = time
    }

    /// True where its silence means that there is nothing to hear.
    public var isHearing: Bool { isOnline != false && !isQuiet && (reported?.state ?? .poweredOn) == .poweredOn }

    /// The state as radios have it.
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

    /// Returns true if another receiver may have its place.
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

    /// From when on nobody knows what it heard.
    var lastKnown: Timestamp { min(lastMessage, covered ?? lastMessage) }

    /// True where so little is known of the last moments that it may be dead.
    func isDoubtful(at time: Timestamp) -> Bool {
        awaitsSign || time.since(covered ?? lastMessage) > Self.doubt
    }

    /// Notes that all that it heard up to a moment has come.
    ///
    /// - Parameters:
    ///   - moment: the moment. Where it is a while ago there is more to come, and the doubt goes on.
    ///   - time: when that was known.
    mutating func noteCoverage(upTo moment: Timestamp, at time: Timestamp) {
        covered = moment
        note(at: time)
        settlesAt = nil
        isDoubtful = isDoubtful(at: time)
    }

    /// Notes that something came from it.
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
        // One that says up to when all has come proves nothing of the time after that.
        isDoubtful = isDoubtful(at: time)
        // A live advert proves more than an old will does.
        if isOnline == false { isOnline = nil }
        if wasLong || settling != nil {
            settlesAt = settling ?? time.advanced(by: Self.settlingTime)
            isDoubtful = true
        }
    }

    /// Notes that it lives though its silence was taken for its death.
    ///
    /// One such silence is no usual gap: it may have been away. Two of about the same length, one soon after the other,
    /// are its rhythm: in an empty room it sends nothing but a heartbeat.
    private mutating func noteDeath(after silence: Int64, at time: Timestamp) {
        defer { death = (silence, time) }
        guard let death else { return }
        let (shorter, longer) = (min(death.silence, silence), max(death.silence, silence))
        // Between the two there may be other messages, of another rhythm.
        guard longer - shorter <= longer / 4, time.since(death.end) - silence <= 2 * longer else { return }
        rhythm = (longer, time)
    }

    /// Notes that it lives, after a time in which it could send nothing.
    mutating func begin(at time: Timestamp) {
        lastMessage = max(lastMessage, time)
        isQuiet = false
        isDoubtful = false
        awaitsSign = false
        settlesAt = nil
    }
}
