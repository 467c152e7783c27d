import Foundation

@_exported public import struct BeaconSupport.RetryPolicy
@_exported public import struct BeaconSupport.Secret

/// The settings of a broker connection and of the topics.
public struct MQTTSettings: Hashable, Sendable {
    /// The broker's host name or address.
    public var host: String

    /// The broker's port; nil for the default: 1883, or 8883 with TLS (IANA: mqtt, secure-mqtt).
    public var port: UInt16?

    /// The protocol's version; nil for 5 if the broker supports it, otherwise 3.1.1. Only version 5 provides reasons
    /// and limits.
    public var version: MQTTVersion?

    /// The client id, by default `beacond-` and the machine's name. It must be unique: if two clients have the same id,
    /// the broker disconnects the first one. It should never change, because Home Assistant's ids contain it unless
    /// ``HomeAssistantSettings/nodeID`` is set.
    public var clientID: String

    /// The user name, if the broker requires one.
    public var user: String?

    /// The user's password.
    public var password: Secret?

    /// The TLS settings; nil for an unencrypted connection, which suits a broker on the same machine.
    public var tls: MQTTTLSSettings?

    /// The longest silence before the client pings the broker, 5 s to 65535 s. The broker announces this client as
    /// offline after one and a half times this period (MQTT 5.0, 3.1.2.10).
    public var keepAlive: Duration

    /// The prefix of this gateway's topics, by default `beacond/` and the machine's name. Only this gateway may use
    /// topics below it: it deletes retained messages there that are no longer configured.
    public var baseTopic: String

    /// Whether the client publishes `online` after connecting, with a will message that publishes `offline`.
    public var announcesAvailability: Bool

    /// Whether the broker keeps states and announcements for later subscribers. Set it to false for a broker that does
    /// not support retained messages; the client then publishes them without the retained flag.
    public var retainsMessages: Bool

    /// The quality of service of events. With ``MQTTQualityOfService/atMostOnce`` an event counts as delivered once it
    /// is written to the connection.
    public var qualityOfService: MQTTQualityOfService

    /// The longest time until a message is acknowledged, including the time to connect.
    public var publishTimeout: Duration

    /// The maximum number of messages that may be unacknowledged. A broker may ask for fewer (MQTT 5.0, 3.2.2.3.3).
    public var maximumInFlight: Int

    /// The waits between attempts to connect.
    public var reconnection: RetryPolicy

    /// The time that a restart may take; zero for a client that is offline as soon as its connection ends.
    ///
    /// With any other time, the client announces itself as restarting at the start and the end of a connection. It
    /// publishes ``MQTTClient/onlineMessage`` itself. With MQTT 5, the broker announces it as offline after this time
    /// without a connection. With MQTT 3.1.1, the broker does so at once if the connection is lost, and never after a
    /// proper end.
    package var restartTime = Duration.zero

    /// Creates settings.
    ///
    /// - Parameters:
    ///   - host: the broker's host name or address.
    ///   - port: the broker's port; nil for the default.
    ///   - version: the protocol's version; nil for the highest that the broker supports.
    ///   - clientID: the client id; nil for `beacond-` and the machine's name.
    ///   - user: the user name, if the broker requires one.
    ///   - password: the user's password.
    ///   - tls: the TLS settings; nil for an unencrypted connection.
    ///   - keepAlive: the longest silence before the client pings the broker.
    ///   - baseTopic: the prefix of the topics; nil for `beacond/` and the machine's name.
    ///   - announcesAvailability: true to publish `online` and `offline`.
    ///   - retainsMessages: true to have the broker keep states and announcements.
    ///   - qualityOfService: the quality of service of events.
    ///   - publishTimeout: the longest time until a message is acknowledged.
    ///   - maximumInFlight: the maximum number of messages that may be unacknowledged.
    ///   - reconnection: the waits between attempts to connect.
    public init(
        host: String = "localhost", port: UInt16? = nil, version: MQTTVersion? = nil, clientID: String? = nil,
        user: String? = nil, password: Secret? = nil, tls: MQTTTLSSettings? = nil, keepAlive: Duration = .seconds(60),
        baseTopic: String? = nil, announcesAvailability: Bool = true, retainsMessages: Bool = true,
        qualityOfService: MQTTQualityOfService = .atLeastOnce,
        publishTimeout: Duration = .seconds(10), maximumInFlight: Int = 20,
        reconnection: RetryPolicy = RetryPolicy(base: .seconds(1), maximum: .seconds(60))
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
        self.retainsMessages = retainsMessages
        self.qualityOfService = qualityOfService
        self.publishTimeout = publishTimeout
        self.maximumInFlight = maximumInFlight
        self.reconnection = reconnection
    }

    /// The port, or the default if none is set.
    public var effectivePort: UInt16 { port ?? (tls == nil ? 1883 : 8883) }

    /// The topic of the retained message `online` or `offline`; nil if the client does not publish it.
    public var availabilityTopic: String? { announcesAvailability ? baseTopic + "/status" : nil }

    /// Whether the client announces a restart.
    var mayRestart: Bool { restartTime > .zero }

    /// The machine's name without its domain, which the network may change.
    private static var machineName: String {
        let name = ProcessInfo.processInfo.hostName.prefix { $0 != "." }
        return name.isEmpty ? "gateway" : String(name)
    }

    /// Returns the mistakes in these settings, each with its remedy. It does not read files.
    public func mistakes() -> [String] {
        var mistakes: [String] = []
        if let mistake = hostMistake { mistakes.append(mistake) }
        if clientID.isEmpty || clientID.utf8.contains(0) || clientID.utf8.count > 65535 {
            mistakes.append("clientID is empty; write a name that no other client of the broker has")
        }
        if keepAlive < .seconds(5) || keepAlive > .seconds(65535) {
            mistakes.append("keepAlive is \(keepAlive); write 5 to 65535 seconds")
        }
        if !(1...65535).contains(maximumInFlight) {
            mistakes.append("maximumInFlight is \(maximumInFlight); write a number from 1 to 65535")
        }
        if publishTimeout <= .zero { mistakes.append("publishTimeout is \(publishTimeout); write a longer time") }
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

/// A version of the MQTT protocol.
@nonexhaustive
public enum MQTTVersion: String, Hashable, Sendable, CaseIterable {
    /// Version 3.1.1 of 2014, which every broker supports. It acknowledges messages that it refuses (MQTT 3.1.1,
    /// 3.3.5), so that a missing permission to publish goes unnoticed.
    case v3_1_1 = "3.1.1"

    /// Version 5.0 of 2019, which gives a reason for each refusal, and has a property for a message's id.
    case v5 = "5"
}

extension MQTTVersion: CustomStringConvertible {
    /// The version number.
    public var description: String { rawValue }
}

/// The TLS settings of a connection to a broker. The broker's certificate and host name are always verified.
public struct MQTTTLSSettings: Hashable, Sendable {
    /// The default folder of certificate authorities, from Debian's package ca-certificates.
    public static let systemAuthorityFolder = "/etc/ssl/certs"

    /// A PEM file with the certificates of the authorities to trust; nil for the folder ``authorityFolder``.
    public var authorityFile: String?

    /// A folder of authorities' certificates, prepared by `openssl rehash`. It is used if ``authorityFile`` is nil.
    public var authorityFolder: String

    /// A PEM file with the client's certificate, if the broker requires one.
    public var certificateFile: String?

    /// A PEM file with the unencrypted key of ``certificateFile``.
    public var keyFile: String?

    /// Creates TLS settings, by default with the system's authorities and without a client certificate.
    ///
    /// - Parameters:
    ///   - authorityFile: a PEM file with the certificates of the authorities to trust.
    ///   - authorityFolder: a folder of authorities' certificates, used without a file.
    ///   - certificateFile: a PEM file with the client's certificate.
    ///   - keyFile: a PEM file with the certificate's key.
    public init(
        authorityFile: String? = nil, authorityFolder: String = MQTTTLSSettings.systemAuthorityFolder,
        certificateFile: String? = nil, keyFile: String? = nil
    ) {
        self.authorityFile = authorityFile
        self.authorityFolder = authorityFolder
        self.certificateFile = certificateFile
        self.keyFile = keyFile
    }
}
