import BeaconBroker
import BeaconDelivery
import BeaconMQTT
import BeaconModel
import BeaconMonitoring
import BeaconReceivers
import BeaconSupport
import Foundation
import Logging

extension GuidedStart.Choice.Broker {
    /// The time limit for a broker's answer, name resolution included: a little longer than that of a connection.
    private static let patience = Duration.seconds(12)

    /// An error in a broker's address, with the remedy.
    package struct InvalidBroker: Error, CustomStringConvertible {
        /// The message, without secrets.
        package var description: String
    }

    /// Reads a host, or the URL of a source at a broker: `mqtt://[USER@]HOST[:PORT][?KEY=VALUE]`, or `mqtts:` for TLS.
    ///
    /// - Throws: ``InvalidBroker`` for any other text, and for a password, which other users of the machine could read.
    package init(_ text: String) throws(InvalidBroker) {
        // A bare host may be an IPv6 address without brackets, which a URL does not allow.
        let address = text.contains("://") ? text : "mqtt://" + ((try? HostAndPort(text))?.description ?? text)
        let broker = BrokerSource(address, environment: [:])
        if let mistake = broker.map({ $0.mistakes().first }) ?? "it is no address" {
            throw InvalidBroker(description: "is \(text.shownAddress), which cannot be used: \(mistake). \(Self.form)")
        }
        guard let broker, broker.options.password == nil else {
            throw InvalidBroker(
                description:
                    "contains a password, which other users can see; leave it out. You are asked for it, or "
                    + "set BEACON_BROKER_PASSWORD in the environment")
        }
        guard broker.filters == nil else {
            throw InvalidBroker(
                description:
                    "is \(text.shownAddress); write only the host and the port, and settings as ?KEY=VALUE. The topic "
                    + "belongs in the configuration file")
        }
        self.init(host: broker.options.host)
        (port, user) = (broker.options.port.map(Int.init), broker.options.user)
        tls = broker.options.tls == nil ? nil : true
        // The configuration may be in another folder.
        options = Dictionary(
            uniqueKeysWithValues: broker.query.map { key, value in
                (key, ConnectionOption(rawValue: key)?.isOfTLS == true ? URL(fileURLWithPath: value).path : value)
            })
    }

    private static let form =
        "Write the broker's name or address, such as homeassistant.local or mqtt://homeassistant.local:1883"

    /// The fault of the password; nil if it is valid. A file of secrets has each value on one line.
    var passwordFault: GuidedStart.Draft.Fault? {
        guard let password,
            password.contains(where: { $0.isNewline || $0.unicodeScalars.contains { $0.value < 32 } })
        else { return nil }
        return .init(
            key: "broker.password", detail: "contains a line break or another control character; remove it")
    }

    /// The settings of a second client beside the service's, which may be connected already.
    private func connection() throws(AddressError) -> MQTTSettings {
        var settings = MQTTSettings(
            host: host, port: port.map { UInt16(clamping: $0) }, clientID: BrokerSource.newClientID(),
            tls: tls == true ? MQTTTLSSettings() : nil, baseTopic: MachineIdentity.current.baseTopic,
            announcesAvailability: false)
        if let user, !user.isEmpty { settings.user = user }
        if let password, !password.isEmpty { settings.password = Secret(password) }
        try ConnectionOption.apply(options ?? [:], to: &settings)
        return settings
    }

    private static func client(_ options: MQTTSettings) throws(MQTTError) -> MQTTClient {
        try MQTTClient(options, logger: Logger(label: "beacon.mqtt") { _ in SwiftLogNoOpLogHandler() })
    }

    /// A message to the broker.
    package enum Reported: Sendable {
        /// The subscriptions are active: messages from now on are received.
        case listening
        /// A device of Home Assistant, with its name and whether it is a region.
        case device(String, isRegion: Bool)
        /// An event, with its topic and the name of its beacon.
        case event(String, beacon: String?)
    }

    /// Returns the messages that this machine's gateway sends to the broker, as Home Assistant receives them. The
    /// stream ends if the broker does not allow the subscriptions.
    package func reported() -> AsyncStream<Reported> {
        let (stream, continuation) = AsyncStream.makeStream(of: Reported.self)
        let task = Task {
            defer { continuation.finish() }
            guard let client = try? Self.client(connection()) else { return }
            let run = Task { await client.run() }
            defer { run.cancel() }
            let events = client.events()
            let devices = "homeassistant/device/+/config"
            guard (try? await client.subscribe(to: devices)) != nil,
                (try? await client.subscribe(to: client.options.baseTopic + "/event/#")) != nil
            else { return }
            continuation.yield(.listening)
            for await case .message(let message) in events where !message.isRetained {
                if message.topic.hasPrefix(client.options.baseTopic + "/") {
                    let event = try? JSONDecoder().decode(BeaconNotification.self, from: Data(message.payload))
                    let beacon = event?.beacon.map { event?.beaconName ?? "\($0.major)/\($0.minor)" }
                    continuation.yield(.event(message.topic, beacon: beacon))
                } else if let reported = try? JSONDecoder().decode(Announcement.self, from: Data(message.payload)),
                    reported.stateTopic.hasPrefix(client.options.baseTopic + "/"),
                    let model = DeviceModel(rawValue: reported.device.model), model == .beacon || model == .region
                {
                    continuation.yield(.device(reported.device.name, isRegion: model == .region))
                }
            }
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }

    private struct Announcement: Decodable {
        struct Device: Decodable {
            var name: String
            var model: String
        }
        var device: Device
        var stateTopic: String

        private enum CodingKeys: String, CodingKey {
            case device
            case stateTopic = "state_topic"
        }
    }

    /// Connects to the broker once, to find out why it does not accept this machine.
    ///
    /// - Returns: the fault; nil if the broker accepted the connection.
    package func fault() async -> GuidedStart.Draft.Fault? {
        if let passwordFault { return passwordFault }
        guard port.map({ (1...65535).contains($0) }) ?? true else {
            return .init(key: "broker.port", detail: "is not a valid port; write a number from 1 to 65535")
        }
        let options: MQTTSettings
        do throws(AddressError) {
            options = try connection()
        } catch {
            return .init(key: "broker.host", detail: "cannot be used: \(error)")
        }
        return await Self.fault(of: options)
    }

    /// Connects with these settings once.
    ///
    /// - Returns: the fault; nil if the broker accepted the connection.
    static func fault(of options: MQTTSettings) async -> GuidedStart.Draft.Fault? {
        let client: MQTTClient
        do throws(MQTTError) {
            client = try Self.client(options)
        } catch {
            let mistakes = options.mistakes().joined(separator: "; ")
            return .init(
                key: "broker.\(mistakes.hasPrefix("a password") ? "user" : "host")",
                detail: mistakes.hasPrefix("host ") ? String(mistakes.dropFirst(5)) : mistakes)
        }
        // Without a wait: its end takes a while if a host does not answer.
        let run = Task { await client.run() }
        defer { run.cancel() }
        let outcome = await within(Self.patience) { () -> MQTTError? in
            for await event in client.events() {
                switch event {
                case .connected: return nil
                case .disconnected(let error): return error
                case .message, .messageTooLong: continue
                }
            }
            return nil
        }
        let error =
            if let outcome { outcome } else {
                MQTTError(
                    .timedOut, "\(options.host) did not answer within \(Self.patience).",
                    possibleCauses: [
                        "the host or the port is wrong", "a firewall is in between",
                        "the broker or its machine is not running",
                    ])
            }
        return error.map { error in
            let key =
                switch error.code {
                case .badCredentials: options.user == nil ? "user" : "password"
                case .notAuthorized: "user"
                default: "host"
                }
            return .init(key: "broker.\(key)", detail: error.description)
        }
    }
}
