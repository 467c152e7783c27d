import BeaconBroker
import BeaconMonitoring
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
        // An address of version 6 alone has no brackets.
        let isAddress = text.count { $0 == ":" } > 1 && !text.contains { "/[@".contains($0) }
        let source = SourceSpecification(
            text.contains("://") ? text : "mqtt://" + (isAddress ? "[\(text)]" : text))
        let shown = text.split(separator: "@").last.map(String.init) ?? text
        guard let broker = source.broker, broker.options.mistakes().isEmpty, broker.options.port != 0 else {
            throw Mistake(
                description: "is \(shown); write the broker's name or address, as homeassistant.local or "
                    + "mqtt://homeassistant.local:1883")
        }
        let behindScheme = text.range(of: "://").map { text[$0.upperBound...] } ?? text[...]
        guard behindScheme.lastIndex(of: "@").map({ !behindScheme[..<$0].contains(":") }) ?? true else {
            throw Mistake(
                description:
                    "has a password in it, which others can see while this runs; leave it out. It is asked for, or "
                    + "MQTT_PASSWORD in the environment has it")
        }
        guard broker.filters == nil, !broker.options.host.contains("?") else {
            throw Mistake(
                description:
                    "is \(shown); write the host and the port alone. All else, as the topic or the authority of a "
                    + "certificate, is for the configuration's file")
        }
        self.init(host: broker.options.host)
        port = broker.options.port.map(Int.init)
        user = broker.options.user
        tls = broker.options.tls == nil ? nil : true
    }

    /// What is wrong with the password; nil where nothing is. A file of secrets has a value on one line.
    var passwordFault: GuidedStart.Draft.Fault? {
        guard let password,
            password.contains(where: { $0.isNewline || $0.unicodeScalars.contains { $0.value < 32 } })
        else { return nil }
        return .init(
            key: "broker.password", detail: "has a line's end or another control character; write it without")
    }

    /// Finds out why the broker does not take this machine, by connecting to it once.
    ///
    /// - Returns: what is wrong; nil where it took it.
    package func fault() async -> GuidedStart.Draft.Fault? {
        if let passwordFault { return passwordFault }
        guard port.map({ (1...65535).contains($0) }) ?? true else {
            return .init(key: "broker.port", detail: "is no port; write a number from 1 to 65535")
        }
        // Another client than the service's, which may be connected.
        var options = MQTTOptions(
            host: host, port: port.map { UInt16($0) }, clientID: BrokerSource.newClientID(),
            tls: tls == true ? MQTTTLSOptions() : nil, announcesAvailability: false)
        if let user, !user.isEmpty { options.user = user }
        if let password, !password.isEmpty { options.password = Secret(password) }
        let client: MQTTClient
        do throws(MQTTError) {
            client = try MQTTClient(options, logger: Logger(label: "beacon.mqtt") { _ in SwiftLogNoOpLogHandler() })
        } catch {
            let mistakes = options.mistakes().joined(separator: "; ")
            return .init(
                key: "broker.\(mistakes.hasPrefix("a password") ? "user" : "host")",
                detail: mistakes.hasPrefix("host ") ? String(mistakes.dropFirst(5)) : mistakes)
        }
        // Its end takes a while where a host does not answer, and nobody waits for it.
        let run = Task { await client.run() }
        defer { run.cancel() }
        let outcome = await withTaskGroup(of: MQTTError?.self) { group in
            group.addTask {
                for await event in client.events() {
                    switch event {
                    case .connected: return nil
                    case .disconnected(let error): return error
                    case .message: continue
                    }
                }
                return nil
            }
            group.addTask {
                try? await Task.sleep(for: Self.patience)
                return MQTTError(
                    .timedOut, "\(host) does not answer; check the host's name or address, and the network.")
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        return outcome.map { error in
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
