public import BeaconDelivery

/// How to reach a broker, and what to say there.
public struct MQTTSettings: Hashable, Sendable {
    /// The version of the protocol.
    public enum Version: String, Hashable, Sendable, CaseIterable {
        /// MQTT 3.1.1, which every broker speaks.
        case v3 = "3.1.1"
        /// MQTT 5.
        case v5 = "5"
    }

    /// Files for TLS.
    public struct TLS: Hashable, Sendable {
        /// The certificates (PEM) that are trusted in place of the machine's.
        public var authorityFile: String?
        /// The gateway's own certificate, where the broker wants one.
        public var certificateFile: String?
        /// Its key.
        public var keyFile: String?

        /// TLS that trusts what the machine does.
        public init() {}
    }

    /// What Home Assistant is told.
    public struct HomeAssistant: Hashable, Sendable {
        /// Whether it is told of the named beacons; if not, what it was told before is taken back.
        public var isEnabled = true
        /// What its discovery topics begin with; nil for Home Assistant's own default.
        public var discoveryPrefix: String?
        /// Where it tells that it has started; nil for its own default.
        public var statusTopic: String?

        /// Home Assistant as it comes.
        public init() {}
    }

    /// The broker's host.
    public var host: String
    /// Its port; nil for the usual one.
    public var port: Int?
    /// The version of the protocol.
    public var version = Version.v3
    /// What this gateway is called at the broker; nil for a name made of the host's.
    public var clientID: String?
    /// Who signs in.
    public var user: String?
    /// With which password.
    public var password: Secret?
    /// TLS; nil for none.
    public var tls: TLS?
    /// After how long of silence both sides make sure of each other; nil for the usual.
    public var keepAlive: Duration?
    /// What all topics begin with; nil for one made of the host's name.
    public var baseTopic: String?
    /// How hard the broker tries: 0 or 1.
    public var qualityOfService = 1
    /// What Home Assistant is told; nil where nobody spoke of it.
    public var homeAssistant: HomeAssistant?
    /// The least time from one state of a beacon to the next; nil for the usual.
    public var stateInterval: Duration?

    /// A broker on a host.
    public init(host: String) { self.host = host }
}
