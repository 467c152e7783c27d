public import BeaconDelivery
import Foundation

/// Which broker to connect to, as whom, and how.
public struct MQTTOptions: Hashable, Sendable {
    /// The broker's name or address.
    public var host: String

    /// The broker's port; nil for the registered one, 1883, or 8883 with TLS (IANA: mqtt, secure-mqtt).
    public var port: UInt16?

    /// The protocol's version. 3.1.1 unless told otherwise, since every broker speaks it.
    public var version: MQTTVersion

    /// By what name the broker knows this client. Of two clients with one name the broker drops the first, so it has to be
    /// a gateway's own. It stays the same for ever, since Home Assistant's ids are made of it unless they are told
    /// otherwise: `beacond-` and the machine's name by default.
    public var clientID: String

    /// Who this client is to the broker, where it asks for that.
    public var user: String?

    /// The user's password.
    public var password: Secret?

    /// How the connection is secured; nil for not at all, which is for a broker on the same machine.
    public var tls: MQTTTLSOptions?

    /// After how much silence client and broker make sure of each other. A broker tells others that this client is
    /// offline after one and a half times this (MQTT 5.0, 3.1.2.10). 5 s to 65535 s.
    public var keepAlive: Duration

    /// What the topics of this gateway begin with, `beacond/` and the machine's name by default. All below it belongs to
    /// this gateway alone: what is retained there and is not configured any more is removed.
    public var baseTopic: String

    /// Whether this client tells that it is online, and has the broker tell once it is not.
    public var announcesAvailability: Bool

    /// How hard it is tried to hand a message over. Less than at least once means that an event counts as delivered once it
    /// was written to the connection.
    public var qualityOfService: MQTTQualityOfService

    /// How long one message may take to be acknowledged, the time to connect included.
    public var publishTimeout: Duration

    /// How many messages may be unacknowledged at a time. A broker may ask for fewer (MQTT 5.0, 3.2.2.3.3).
    public var maximumInFlight: Int

    /// How long to wait before a lost connection is tried again.
    public var reconnection: BackOff

    /// Options for a broker; all but its host have defaults.
    public init(
        host: String = "localhost", port: UInt16? = nil, version: MQTTVersion = .v3_1_1, clientID: String? = nil,
        user: String? = nil, password: Secret? = nil, tls: MQTTTLSOptions? = nil, keepAlive: Duration = .seconds(60),
        baseTopic: String? = nil, announcesAvailability: Bool = true,
        qualityOfService: MQTTQualityOfService = .atLeastOnce,
        publishTimeout: Duration = .seconds(10), maximumInFlight: Int = 20,
        reconnection: BackOff = BackOff(base: .seconds(1), maximum: .seconds(60))
    ) {
        self.host = host
        self.port = port
        self.version = version
        self.clientID = clientID ?? "beacond-" + Self.machineName
        self.user = user
        self.password = password
        self.tls = tls
        self.keepAlive = keepAlive
        self.baseTopic = baseTopic ?? "beacond/" + TopicLevel.escape(Self.machineName)
        self.announcesAvailability = announcesAvailability
        self.qualityOfService = qualityOfService
        self.publishTimeout = publishTimeout
        self.maximumInFlight = maximumInFlight
        self.reconnection = reconnection
    }

    /// The port that is connected to.
    public var effectivePort: UInt16 { port ?? (tls == nil ? 1883 : 8883) }

    /// The broker as messages name it.
    var place: String { "\(host):\(effectivePort)" }

    /// Where the broker keeps `online` or `offline` for this client; nil where that is not announced.
    public var availabilityTopic: String? { announcesAvailability ? baseTopic + "/status" : nil }

    /// The machine's name without its domain, which a network may change.
    private static var machineName: String {
        let name = ProcessInfo.processInfo.hostName.prefix { $0 != "." }
        return name.isEmpty ? "gateway" : String(name)
    }

    /// Says what is wrong with these options, each mistake with what to write instead. Files are not looked at.
    public func mistakes() -> [String] {
        var mistakes: [String] = []
        if host.isEmpty || host.utf8.contains(0) {
            mistakes.append("host is empty; write the broker's name or address")
        }
        if clientID.isEmpty || clientID.utf8.contains(0) || clientID.utf8.count > 65535 {
            mistakes.append("clientID is empty; write a name that no other client of the broker has")
        }
        if keepAlive < .seconds(5) || keepAlive > .seconds(65535) {
            mistakes.append("keepAlive is \(keepAlive); write 5 to 65535 seconds")
        }
        if !(1...65535).contains(maximumInFlight) {
            mistakes.append("maximumInFlight is \(maximumInFlight); write a number from 1 to 65535")
        }
        if publishTimeout <= .zero { mistakes.append("publishTimeout is \(publishTimeout); write more than none") }
        if let mistake = TopicLevel.mistake(inTopic: baseTopic) { mistakes.append("baseTopic \(mistake)") }
        if password != nil, user == nil {
            mistakes.append("a password is given without a user; give both (MQTT 3.1.1, 3.1.2.9)")
        }
        if let tls, (tls.certificateFile == nil) != (tls.keyFile == nil) {
            mistakes.append("a client's certificate and its key go together; give both files or none")
        }
        return mistakes
    }
}
