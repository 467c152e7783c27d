public import BeaconModel

/// An event of a source, on its way from the driver to the core: adverts, states and notices.
@nonexhaustive
public enum SourceEvent: Sendable {
    /// The source is open. A radio hears from now on; a file begins.
    case opened
    /// Adverts that were heard, and the time up to which everything has been delivered.
    ///
    /// A radio gives the time at least once a second, whatever it hears. No other component does, so that a radio which
    /// fails silently is not mistaken for the absence of beacons.
    case heard(SourceBatch)
    /// A new state of the source's receivers as a whole.
    case state(RadioState)
    /// A stretch of time in which nothing could be heard, whatever the state says: the machine slept, the process was
    /// stopped, or an adapter was deaf. It comes before the first ``heard(_:)`` after it, and says nothing of the
    /// beacons. It concerns one receiver, or all where `receiver` is nil.
    case deaf(from: Timestamp, to: Timestamp, receiver: ReceiverID?)
    /// The outcome for one advert of ``Advertiser/advertise(_:)``. Each advert that a call has and the call before had
    /// not gets at least one; an advert that fails later gets another, and one that is sent again after that, too.
    case advertising(OutgoingAdvert, Result<Void, RadioError>)
    /// The number of nanoseconds the wall clock is ahead of the source's times from now on, negative where it is
    /// behind.
    ///
    /// A radio's times count from 1970 by the wall clock at the moment when the radio began, and are even. Where the
    /// wall clock is set, as on a machine without a battery once it has a network, the times stay even, and this is
    /// added wherever they are shown to people. For an app, a file or a simulation that plays in real time counts as
    /// heard now.
    case wallClock(ahead: Int64)
    /// A notice for the operator.
    case notice(RadioNotice)
    /// The source failed. A radio is tried again after a while; nil where it is not.
    case failed(any Error, retryAfter: Duration?)
    /// The source has come to its end.
    case ended
}

/// The adverts of a source since the batch before, and the time.
public struct SourceBatch: Sendable {
    /// The iBeacons that were heard, in order.
    public var sightings: [Sighting] = []
    /// All adverts that were heard, iBeacons and others, in order; none unless the mode is ``ScanMode/discovery``.
    public var adverts: [HeardAdvert] = []
    /// The time up to which everything has been delivered; nil before there is one.
    public var time: Timestamp?
    /// The names of the receivers so far.
    public var receiverNames: [String] = []
    /// The status of each receiver of a radio; none for a recording, which always hears.
    public var receiverStatuses: [ReceiverStatus] = []
    /// The number of packets read since the source was opened.
    public var packets = 0
    /// The number of iBeacons heard since the source was opened.
    public var iBeacons = 0

    /// Adverts, and the time up to which they are all that was heard.
    public init(_ sightings: [Sighting] = [], upTo time: Timestamp? = nil) {
        self.sightings = sightings
        self.time = time
    }
}

/// The status of one receiver of a radio.
public struct ReceiverStatus: Hashable, Sendable {
    /// Its state. Only in ``RadioState/poweredOn`` it hears.
    public var state: RadioState

    /// True where nothing came from it for a moment, so that it may be dead, or have nothing to tell: its silence
    /// counts for nothing until one of both is known.
    public var isDoubtful: Bool

    /// True where its signal strengths come smoothed and thinned: good for presence and places, and not for a distance
    /// each second.
    public var isSmoothed: Bool

    /// A status from its parts.
    public init(_ state: RadioState, isDoubtful: Bool = false, isSmoothed: Bool = false) {
        self.state = state
        self.isDoubtful = isDoubtful
        self.isSmoothed = isSmoothed
    }
}

/// A notice of a radio for its operator: a scan that failed and was begun again, a filter that is active, an adapter
/// that was removed.
public struct RadioNotice: Hashable, Sendable, CustomStringConvertible {
    /// The kind of a notice. More may come, so a `switch` over kinds needs a default.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The name of the kind, in lower case with hyphens, as logs and metrics show it.
        public let name: String

        /// A kind of this name.
        public init(_ name: String) { self.name = name }

        /// The name.
        public var description: String { name }

        /// An adapter is used from now on, in a way that the message states.
        public static let adapterUsed = Kind("adapter-used")
        /// An adapter was removed, switched off or blocked.
        public static let adapterLost = Kind("adapter-lost")
        /// The radio does not do all that was requested, for a reason that the message states.
        public static let degraded = Kind("degraded")
        /// A filter keeps adverts that no request matches from waking the process.
        public static let filtering = Kind("filtering")
        /// The controller refused a command, or did not answer it.
        public static let commandFailed = Kind("command-failed")
        /// Nothing was heard for so long that the scan was begun anew.
        public static let scanRestarted = Kind("scan-restarted")
        /// The adapter was switched off and on again.
        public static let adapterReset = Kind("adapter-reset")
        /// The adverts and the scan that an earlier process left on the air were ended.
        public static let takenBack = Kind("taken-back")
        /// A capture has lines that are none of its format, which are passed over.
        public static let foreignLine = Kind("foreign-line")
        /// A capture or a simulation has come to its end.
        public static let sourceEnded = Kind("source-ended")
        /// A beacon has no valid measured power, so that its distance assumes a default.
        public static let uncalibrated = Kind("uncalibrated")
        /// The radio cannot know whether the scan is alive.
        public static let livenessUnknown = Kind("liveness-unknown")

        /// Messages name more receivers than there are places for.
        public static let crowded = Kind("crowded")
        /// There are places for all receivers again.
        public static let uncrowded = Kind("uncrowded")

        /// True for trouble, which deserves a warning, and false for information.
        public var isTrouble: Bool {
            ![.adapterUsed, .filtering, .takenBack, .sourceEnded, .uncrowded].contains(self)
        }
    }

    /// The kind of the notice.
    public var kind: Kind

    /// The adapter it happened to, as `hci0`.
    public var adapter: String

    /// The event, its cause and the remedy, in a sentence or two.
    public var message: String

    /// A notice from its parts.
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
