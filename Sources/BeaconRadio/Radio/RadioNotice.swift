/// Something that a radio noticed or did by itself, for whoever runs it: a scan that died and was begun again, a filter
/// that is active, an adapter that is gone.
public struct RadioNotice: Hashable, Sendable, CustomStringConvertible {
    /// What kind of thing happened. More may come, so a `switch` over kinds needs a default.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The name of the kind, in lower case with hyphens, as logs and metrics show it.
        public let name: String

        /// A kind of this name.
        public init(_ name: String) { self.name = name }

        /// The name.
        public var description: String { name }

        /// An adapter is used from now on, and how.
        public static let adapterUsed = Kind("adapter-used")
        /// An adapter is gone, switched off or blocked.
        public static let adapterLost = Kind("adapter-lost")
        /// The radio does not do all that was asked, and why.
        public static let degraded = Kind("degraded")
        /// How the radio keeps adverts that nobody wants from waking the process.
        public static let filtering = Kind("filtering")
        /// The controller refused a command, or did not answer it.
        public static let commandFailed = Kind("command-failed")
        /// Nothing was heard for so long that the scan was begun anew.
        public static let scanRestarted = Kind("scan-restarted")
        /// The adapter was switched off and on again.
        public static let adapterReset = Kind("adapter-reset")
        /// What an earlier process left on the air was taken back.
        public static let takenBack = Kind("taken-back")
        /// Whether the scan is alive cannot be told.
        public static let livenessUnknown = Kind("liveness-unknown")

        /// Whether it is a thing to look into, rather than one that is good to know.
        public var isTrouble: Bool { self != .adapterUsed && self != .filtering && self != .takenBack }
    }

    /// What kind of thing happened.
    public var kind: Kind

    /// The adapter it happened to, as `hci0`.
    public var adapter: String

    /// What happened, and what to do where something is to be done, in a sentence or two.
    public var message: String

    /// A notice from its parts.
    public init(_ kind: Kind, adapter: String, _ message: String) {
        self.kind = kind
        self.adapter = adapter
        self.message = message
    }

    /// Whether it is a thing to look into, rather than one that is good to know.
    public var isTrouble: Bool { kind.isTrouble }

    /// The adapter and the message.
    public var description: String { "\(adapter): \(message)" }
}
