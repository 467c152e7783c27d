extension BeaconNotification {
    /// What a notification tells. More may come, also from a newer version's outbox, so a `switch` needs a default.
    public struct Kind: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
        /// The word for it in JSON.
        public let rawValue: String

        /// A kind of this name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A region was entered.
        public static let enter = Kind(rawValue: "enter")
        /// A region was left.
        public static let exit = Kind(rawValue: "exit")
        /// A beacon is new, or at another nearness than before.
        public static let proximity = Kind(rawValue: "proximity")
        /// A beacon that was told of is not heard any more.
        public static let gone = Kind(rawValue: "gone")
        /// Who is present where, told from time to time so that a receiver that missed something recovers.
        public static let heartbeat = Kind(rawValue: "heartbeat")

        /// The word for it.
        public var description: String { rawValue }
    }
}
