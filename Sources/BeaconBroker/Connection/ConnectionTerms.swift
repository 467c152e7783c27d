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

    private let options: MQTTSettings
    /// The version that the broker is known to speak: it has accepted version 5, or has accepted 3.1.1 after it named
    /// version 5 as unsupported.
    private var known: MQTTVersion?
    /// True where the broker has named a version as unsupported in this attempt.
    private var hasNamedVersion = false
    /// True where this attempt has tried both versions.
    private var hasTriedBoth = false

    init(_ options: MQTTSettings) {
        self.options = options
        version = options.version ?? .v5
        retains = options.retainsMessages
    }

    /// Begins an attempt, which may try each version once. A broker that ended a connection without a reason may speak
    /// version 5 the next time: perhaps it was starting.
    mutating func begin() {
        version = options.version ?? known ?? .v5
        hasTriedBoth = options.version != nil
        hasNamedVersion = false
    }

    /// Gives up the term that the broker has refused.
    ///
    /// - Returns: true where another attempt may succeed at once.
    mutating func giveUp(after refusal: MQTTError) -> Bool {
        switch refusal.reason {
        case .retainNotSupported? where retains: retains = false
        case .qualityNotSupported? where quality != .atMostOnce: quality = .atMostOnce
        case .unsupportedVersion? where !hasTriedBoth:
            tryOtherVersion()
            hasNamedVersion = true
        // A broker that does not know version 5 may also hang up, not answer, or call CONNECT malformed.
        case nil where [.connectionLost, .timedOut].contains(refusal.code) && !hasTriedBoth && known == nil,
            .protocolError? where !hasTriedBoth && known == nil, .malformedPacket? where !hasTriedBoth && known == nil:
            tryOtherVersion()
        default: return false
        }
        return true
    }

    /// Notes what a broker stated when it accepted a connection. A term that it takes now is asked for next time.
    mutating func adopt(_ limits: BrokerLimits) {
        if version == .v5 || hasNamedVersion { known = version }
        guard version == .v5 else { return }
        retains = options.retainsMessages && limits.keepsRetained
        quality = limits.quality
    }

    private mutating func tryOtherVersion() {
        hasTriedBoth = true
        version = version == .v5 ? .v3_1_1 : .v5
    }
}
