/// The terms of a connection: the client's options without those that the broker has refused.
///
/// If a broker refuses a term with a reason of MQTT 5, the next attempt omits the term. If a broker does not support
/// the protocol version, it reports this or ends the connection, and the next attempt uses the other version.
struct ConnectionTerms: Hashable, Sendable {
    /// The protocol's version.
    private(set) var version: MQTTVersion

    /// Whether messages are retained.
    private(set) var retains: Bool

    /// The highest quality of service.
    private(set) var quality = MQTTQualityOfService.atLeastOnce

    private let options: MQTTSettings
    /// The version that the broker is known to support: 5 if it has accepted that, or 3.1.1 if it has accepted that
    /// after reporting version 5 as unsupported.
    private var known: MQTTVersion?
    /// Whether the broker has reported a version as unsupported in this attempt.
    private var hasNamedVersion = false
    /// Whether this attempt has tried both versions.
    private var hasTriedBoth = false

    init(_ options: MQTTSettings) {
        self.options = options
        version = options.version ?? .v5
        retains = options.retainsMessages
    }

    /// Begins an attempt, which may try each version once. A broker that ended a connection without a reason may accept
    /// version 5 next time, for example if it was starting.
    mutating func begin() {
        version = options.version ?? known ?? .v5
        hasTriedBoth = options.version != nil
        hasNamedVersion = false
    }

    /// Gives up the term that the broker has refused.
    ///
    /// - Returns: Whether another attempt may succeed at once.
    mutating func giveUp(after refusal: MQTTError) -> Bool {
        switch refusal.reason {
        case .retainNotSupported? where retains: retains = false
        case .qualityNotSupported? where quality != .atMostOnce: quality = .atMostOnce
        case .unsupportedVersion? where !hasTriedBoth:
            tryOtherVersion()
            hasNamedVersion = true
        // A broker without version 5 may also end the connection, not answer, or report CONNECT as malformed.
        case nil where [.connectionLost, .timedOut].contains(refusal.code) && !hasTriedBoth && known == nil,
            .protocolError? where !hasTriedBoth && known == nil, .malformedPacket? where !hasTriedBoth && known == nil:
            tryOtherVersion()
        default: return false
        }
        return true
    }

    /// Stores the limits of an accepted connection. The next attempt requests a term again if the broker now supports
    /// it.
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
