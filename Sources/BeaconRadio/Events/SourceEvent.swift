public import BeaconModel

/// An event of a source, in transit from the driver to the core: adverts, states and notices.
@nonexhaustive
public enum SourceEvent: Sendable {
    /// The source is open. A radio receives from now on; a file begins.
    case opened
    /// The received adverts, and the time up to which everything has been delivered.
    ///
    /// A radio reports the time at least once a second, even if it receives nothing. No other component does, so a
    /// radio that fails silently is not mistaken for the absence of beacons.
    case heard(SourceBatch)
    /// A new state of the source's receivers as a whole.
    case state(RadioState)
    /// A period without reception, independent of the state: the machine slept, the process was stopped, or an adapter
    /// was deaf. It precedes the first ``heard(_:)`` after it. Presence during that time is unknown. It concerns one
    /// receiver, or all if `receiver` is nil.
    case deaf(from: Timestamp, to: Timestamp, receiver: ReceiverID?)
    /// The outcome for one advert of ``Advertiser/advertise(_:)``. Each advert that the previous call did not have gets
    /// at least one outcome. An advert that fails later gets another, and so does one that is sent again after that.
    case advertising(OutgoingAdvert, Result<Void, RadioError>)
    /// The number of nanoseconds by which the wall clock is ahead of the source's times from now on; negative if it is
    /// behind.
    ///
    /// A radio's times count from 1970 by the wall clock when the radio began, and are steady. If the wall clock is
    /// set, as on a machine without a battery once it has a network, the times stay steady, and the offset is added
    /// wherever people see them. Apps treat a file or a simulation that plays in real time as if it were received now.
    case wallClock(ahead: Int64)
    /// A dropped iBeacon with the made-up UUID of a tag: its device may be pretending to be that tag. The sighting has
    /// the tag's identity. Each source reports it at most once an hour for each tag.
    case forged(Sighting, tag: String)
    /// A notice for the operator.
    case notice(RadioNotice)
    /// The source failed. A radio is tried again after `retryAfter`; nil if it is not.
    case failed(any Error, retryAfter: Duration?)
    /// The source has ended.
    case ended
}

/// The adverts of a source since the previous batch, and the time.
public struct SourceBatch: Sendable {
    /// The iBeacons received, in order.
    public var sightings: [Sighting] = []
    /// All adverts received, iBeacons and others, in order; empty unless the mode is ``ScanMode/discovery``.
    public var adverts: [HeardAdvert] = []
    /// The time up to which everything has been delivered, or nil before the first one.
    public var time: Timestamp?
    /// The names of the known receivers.
    public var receiverNames: [String] = []
    /// The keys by which a configuration names them, in the same order; empty if it cannot.
    package var receiverKeys: [String] = []
    /// The status of each receiver of a radio; empty for a recording, which always receives.
    public var receiverStatuses: [ReceiverStatus] = []
    /// The number of packets read since the source was opened.
    public var packets = 0
    /// The number of iBeacons received since the source was opened.
    public var iBeacons = 0

    /// Creates a batch of adverts, with the time up to which they are complete.
    public init(_ sightings: [Sighting] = [], upTo time: Timestamp? = nil) {
        self.sightings = sightings
        self.time = time
    }
}

/// The status of one receiver of a radio.
public struct ReceiverStatus: Hashable, Sendable {
    /// The receiver's state. It receives only in ``RadioState/poweredOn``.
    public var state: RadioState

    /// True if the receiver has been quiet for a while, so that it may be dead or have nothing to report. Its silence
    /// proves nothing until one of the two is known.
    public var isDoubtful: Bool

    /// True if its signal strengths are smoothed and thinned out: suitable for presence and places, but not for a
    /// distance every second.
    public var isSmoothed: Bool

    /// The time up to which the silence of a doubtful receiver counts; zero if unknown. It only grows, so that a sign
    /// of life between two statuses is not lost.
    public var heardUntil: Timestamp

    /// How it passes on the adverts of tags.
    package var tags = TagReception.all

    /// Creates a status from its parts.
    public init(
        _ state: RadioState, isDoubtful: Bool = false, isSmoothed: Bool = false, heardUntil: Timestamp = .zero
    ) {
        self.state = state
        self.isDoubtful = isDoubtful
        self.isSmoothed = isSmoothed
        self.heardUntil = heardUntil
    }
}

/// A notice of a radio for its operator: a restarted scan, an active filter, a removed adapter.
public struct RadioNotice: Hashable, Sendable, CustomStringConvertible {
    /// The kind of a notice. New kinds may be added, so a `switch` over kinds needs a default.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The name of the kind, in lower case with hyphens, as logs and metrics show it.
        public let name: String

        /// Creates a kind with this name.
        public init(_ name: String) { self.name = name }

        /// The name.
        public var description: String { name }

        /// An adapter is now in use, as described by the message.
        public static let adapterUsed = Kind("adapter-used")
        /// An adapter was removed, switched off or blocked.
        public static let adapterLost = Kind("adapter-lost")
        /// The radio does not do everything that was requested, for the reason in the message.
        public static let degraded = Kind("degraded")
        /// A filter stops adverts without a match from waking the process.
        public static let filtering = Kind("filtering")
        /// The controller refused a command, or did not answer it.
        public static let commandFailed = Kind("command-failed")
        /// A long silence made the radio restart the scan.
        public static let scanRestarted = Kind("scan-restarted")
        /// The adapter was switched off and on again.
        public static let adapterReset = Kind("adapter-reset")
        /// The radio ended adverts and a scan that an earlier process left on the air.
        public static let endedLeftovers = Kind("ended-leftovers")
        /// A capture has lines of another format, which were skipped.
        public static let foreignLine = Kind("foreign-line")
        /// A capture or a simulation has ended.
        public static let sourceEnded = Kind("source-ended")
        /// A beacon has no valid measured power, so its distance assumes a default.
        public static let uncalibrated = Kind("uncalibrated")
        /// The radio cannot detect whether the scan is alive.
        public static let livenessUnknown = Kind("liveness-unknown")

        /// The radio cannot hear tags in this scan mode, for the reason in the message.
        public static let tagsUnheard = Kind("tags-unheard")
        /// A tag was recognized by its key for the first time.
        public static let tagRecognized = Kind("tag-recognized")

        /// There are more receivers than the source can number.
        public static let tooManyReceivers = Kind("too-many-receivers")
        /// The source can number all receivers again.
        public static let receiversFit = Kind("receivers-fit")

        /// True for trouble, which deserves a warning, and false for information.
        public var isTrouble: Bool {
            ![.adapterUsed, .filtering, .endedLeftovers, .sourceEnded, .receiversFit, .tagRecognized].contains(self)
        }
    }

    /// The kind of the notice.
    public var kind: Kind

    /// The adapter that the notice is about, such as `hci0`.
    public var adapter: String

    /// The event, its cause and the remedy, in a sentence or two.
    public var message: String

    /// Creates a notice from its parts.
    public init(_ kind: Kind, adapter: String, _ message: String) {
        self.kind = kind
        self.adapter = adapter
        self.message = message
    }

    /// True for trouble, which deserves a warning, and false for information.
    public var isTrouble: Bool { kind.isTrouble }

    /// The adapter and the message.
    public var description: String { "\(adapter): \(message)" }
}
