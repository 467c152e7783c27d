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
    /// The time that a broker has to answer, its name's resolution included: a little more than a connection has.
    private static let patience = Duration.seconds(12)

    /// What is wrong with a text that is to be a broker, and what to write instead.
    package struct Mistake: Error, CustomStringConvertible {
        /// The sentence, which has no secret.
        package var description: String
    }

    /// Reads a host alone, or what names a source at a broker: `mqtt://[USER@]HOST[:PORT]`, or `mqtts:` for TLS.
    ///
    /// - Throws: ``Mistake`` for what is none. A password is one: other users of the machine could read it.
    package init(_ text: String) throws(Mistake) {
        let address: ServerAddress
        do throws(AddressError) {
            // A host alone may be an address of IPv6 without brackets, which a URL does not have.
            let name = (try? HostAndPort(text))?.description ?? text
            address = try ServerAddress(text.contains("://") ? text : "mqtt://" + name)
        } catch {
            throw Mistake(description: "cannot be used: \(error). \(Self.form)")
        }
        guard ["mqtt", "mqtts"].contains(address.scheme), address.hosts.count == 1 else {
            throw Mistake(description: "is \(text.shownAddress); \(Self.form)")
        }
        guard address.password == nil else {
            throw Mistake(
                description:
                    "has a password in it, which others can see while this runs; leave it out. It is asked for, or "
                    + "MQTT_PASSWORD in the environment has it")
        }
        guard address.path.isEmpty else {
            throw Mistake(
                description:
                    "is \(text.shownAddress); write the host and the port alone. All else, as the topic or the authority "
                    + "of a certificate, is for the configuration's file")
        }
        self.init(host: address.hosts[0].host)
        port = address.hosts[0].port.map(Int.init)
        user = address.user
        tls = address.scheme == "mqtts" ? true : nil
    }

    private static let form =
        "Write the broker's name or address, as homeassistant.local or mqtt://homeassistant.local:1883"

    /// What is wrong with the password; nil where nothing is. A file of secrets has a value on one line.
    var passwordFault: GuidedStart.Draft.Fault? {
        guard let password,
            password.contains(where: { $0.isNewline || $0.unicodeScalars.contains { $0.value < 32 } })
        else { return nil }
        return .init(
            key: "broker.password", detail: "has a line's end or another control character; write it without")
    }

    /// The options of a client beside the service's, which may be connected.
    private var options: MQTTSettings {
        var options = MQTTSettings(
            host: host, port: port.map { UInt16(clamping: $0) }, clientID: BrokerSource.newClientID(),
            tls: tls == true ? MQTTTLSSettings() : nil, baseTopic: MachineIdentity.current.baseTopic,
            announcesAvailability: false)
        if let user, !user.isEmpty { options.user = user }
        if let password, !password.isEmpty { options.password = Secret(password) }
        return options
    }

    private static func client(_ options: MQTTSettings) throws(MQTTError) -> MQTTClient {
        try MQTTClient(options, logger: Logger(label: "beacon.mqtt") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Something that the broker is told.
    package enum Reported: Sendable {
        /// Whatever comes from now on is heard.
        case listening
        /// A device of Home Assistant, by its name; whether it is a region.
        case device(String, isRegion: Bool)
        /// An event, by its topic, and the beacon that it is about, for people.
        case event(String, beacon: String?)
    }

    /// Returns what this machine's gateway tells the broker from now on, as Home Assistant hears it. It ends where the
    /// broker does not let it be heard.
    package func reported() -> AsyncStream<Reported> {
        let (stream, continuation) = AsyncStream.makeStream(of: Reported.self)
        let task = Task {
            defer { continuation.finish() }
            guard let client = try? Self.client(options) else { return }
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
                    reported.device.model != DeviceModel.gateway.rawValue
                {
                    continuation.yield(
                        .device(reported.device.name, isRegion: reported.device.model == DeviceModel.region.rawValue))
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

    /// Finds out why the broker does not take this machine, by connecting to it once.
    ///
    /// - Returns: what is wrong; nil where it took it.
    package func fault() async -> GuidedStart.Draft.Fault? {
        if let passwordFault { return passwordFault }
        guard port.map({ (1...65535).contains($0) }) ?? true else {
            return .init(key: "broker.port", detail: "is no port; write a number from 1 to 65535")
        }
        let options = options
        let client: MQTTClient
        do throws(MQTTError) {
            client = try Self.client(options)
        } catch {
            let mistakes = options.mistakes().joined(separator: "; ")
            return .init(
                key: "broker.\(mistakes.hasPrefix("a password") ? "user" : "host")",
                detail: mistakes.hasPrefix("host ") ? String(mistakes.dropFirst(5)) : mistakes)
        }
        // Its end takes a while where a host does not answer, and nobody waits for it.
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
                    .timedOut, "\(host) did not answer within \(Self.patience).",
                    possibleCauses: [
                        "the host or the port is wrong", "a firewall is in between",
                        "the broker or its machine is not up",
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
