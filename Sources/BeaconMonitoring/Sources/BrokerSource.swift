package import BeaconBroker
package import BeaconReceivers
import Foundation

/// A broker as a source: receivers that others own publish to it what they hear.
package struct BrokerSource: Hashable, Sendable {
    /// The topics that are asked for where no others are named: those that the known projects use by default.
    package static let defaultFilters = [
        // OpenMQTTGateway and Theengs Gateway
        "home/+/BTtoMQTT/#", "home/+/LWT", "home/+/SYStoMQTT",
        "espresense/devices/+/+", "espresense/rooms/+/status", "espresense/rooms/+/telemetry",
        // Shelly's prefix is the device's id.
        "+/events/rpc", "+/online",
        "ruuvi/+/+",
        "tele/+/SENSOR", "tele/+/STATE", "tele/+/LWT",
        "beacon-relay/+/heard", "beacon-relay/+/status",
    ]

    /// The broker and how this client connects.
    package var options: MQTTOptions
    /// The topics; nil for ``defaultFilters``.
    package var filters: [String]?
    /// What is known of the receivers.
    package var network = ReceiverNetwork.Settings()

    /// A source of the broker with these settings.
    package init(_ options: MQTTOptions) {
        self.options = options
        self.options.announcesAvailability = false
    }

    /// Reads `mqtt://[USER[:PASSWORD]@]HOST[:PORT][/TOPICS]`, or `mqtts:` for TLS. Several topics have commas between
    /// them.
    ///
    /// - Parameter environment: has the password as BEACON_BROKER_PASSWORD, which, unlike what is on a command line, no
    ///   other user of the machine can read.
    /// - Returns: nil for what is none.
    init?(_ text: String, environment: [String: String] = ProcessInfo.processInfo.environment) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let scheme = parts[0].lowercased()
        let isSecured = scheme == "mqtts"
        // One that lacks a slash is meant all the same; as a file's name it would be shown, with its password.
        guard isSecured || scheme == "mqtt", parts.count == 2 else { return nil }
        let rest = parts[1].drop { $0 == "/" }
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        var authority = rest[..<slash]
        var (user, password): (String?, String?)
        if let at = authority.lastIndex(of: "@") {
            let parts = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            user = parts.first.map { $0.removingPercentEncoding ?? String($0) }
            password = parts.count > 1 ? parts[1].removingPercentEncoding ?? String(parts[1]) : nil
            authority = authority[authority.index(after: at)...]
        }
        var host = String(authority)
        var port: UInt16?
        // An address of version 6 has brackets around it (RFC 3986, 3.2.2).
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            host = String(authority[authority.index(after: authority.startIndex)..<end])
            authority = authority[authority.index(after: end)...]
        } else if let colon = authority.firstIndex(of: ":") {
            host = String(authority[..<colon])
            authority = authority[colon...]
        } else {
            authority = ""
        }
        if authority.hasPrefix(":") {
            // 0 is no port, and so a mistake that is told.
            port = UInt16(authority.dropFirst()) ?? 0
        }
        self.init(
            MQTTOptions(
                host: host, port: port, clientID: Self.newClientID(), user: user,
                password: (password ?? (user == nil ? nil : environment["BEACON_BROKER_PASSWORD"])).map(Secret.init),
                tls: isSecured ? MQTTTLSOptions() : nil))
        let topics = slash == rest.endIndex ? "" : rest[rest.index(after: slash)...]
        if !topics.isEmpty { filters = topics.split(separator: ",").map(String.init) }
    }

    /// Returns a client id that no other client has: of two with one id, the broker ends the first.
    package static func newClientID() -> String {
        "beacon-" + String(UInt64.random(in: .min ... .max), radix: 36)
    }

    /// The broker, for people. It never has the password.
    package var title: String { options.host + (options.port.map { ":\($0)" } ?? "") }

    /// Returns the mistakes in the settings, each with its remedy.
    package func mistakes() -> [String] {
        var mistakes = options.mistakes()
        if options.port == 0 { mistakes.append("the port is none; write a number from 1 to 65535") }
        for filter in filters ?? [] {
            if let mistake = Self.mistake(in: filter) { mistakes.append("the topic \"\(filter)\" \(mistake)") }
        }
        return mistakes
    }

    /// Returns what is wrong with a filter (MQTT 3.1.1, 4.7); nil where nothing is.
    private static func mistake(in filter: String) -> String? {
        if filter.isEmpty || filter.utf8.count > 65_535 || filter.utf8.contains(0) { return "is empty or too long" }
        let levels = filter.split(separator: "/", omittingEmptySubsequences: false)
        for (index, level) in levels.enumerated() {
            if level.contains("#"), level != "#" || index != levels.count - 1 {
                return "has a # that is not its last level; write # alone behind the last /"
            }
            if level.contains("+"), level != "+" {
                return "has a + beside other characters; write + alone between two /"
            }
        }
        return nil
    }
}
