/// The terms on which a client connects: its options, less those that the broker has refused.
///
/// A broker that refuses a term says so with a reason of MQTT 5, and the next attempt does without the term. A broker
/// that does not speak the version says so or ends the connection, and the other version is tried.
struct ConnectionTerms: Hashable, Sendable {
    /// The protocol's version.
    private(set) var version: MQTTVersion

    /// True where messages are retained.
    private(set) var retains: Bool

    /// The highest quality of service.
    private(set) var quality = MQTTQualityOfService.atLeastOnce

    private let options: MQTTOptions
    /// True where this attempt has tried both versions.
    private var hasTriedBoth = false

    init(_ options: MQTTOptions) {
        self.options = options
        version = options.version ?? .v5
        retains = options.retainsMessages
    }

    /// Begins an attempt, which may try each version once.
    mutating func begin() { hasTriedBoth = options.version != nil }

    /// Gives up the term that the broker has refused.
    ///
    /// - Returns: true where another attempt may succeed at once.
    mutating func giveUp(after refusal: MQTTError) -> Bool {
        switch refusal.reason {
        case .retainNotSupported? where retains: retains = false
        case .qualityNotSupported? where quality != .atMostOnce: quality = .atMostOnce
        case nil where refusal.code == .connectionLost && !hasTriedBoth,
            .unsupportedVersion? where !hasTriedBoth,
            // A broker that knows version 5 calls what it cannot read malformed; one that does not may do so too.
            .protocolError? where !hasTriedBoth, .malformedPacket? where !hasTriedBoth:
            hasTriedBoth = true
            version = version == .v5 ? .v3_1_1 : .v5
        default: return false
        }
        return true
    }

    /// Notes what a broker stated when it accepted a connection. A term that it takes now is asked for next time.
    mutating func adopt(_ limits: BrokerLimits) {
        guard version == .v5 else { return }
        retains = options.retainsMessages && limits.keepsRetained
        quality = limits.quality
    }
}
