package import BeaconBroker
package import BeaconRadio
import BeaconSupport
import Foundation

/// A broker as a source: receivers that others own publish to it what they hear.
package struct BrokerSource: NetworkSource {
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
    package var options: MQTTSettings
    /// The topics; nil for ``defaultFilters``.
    package var filters: [String]?
    /// The settings of the receivers.
    package var network = ReceiverNetwork.Settings()
    /// The mistake in the address that the settings were read from; nil without one.
    private var addressMistake: AddressError?

    /// True where the client id was made up: reading the same settings again makes up another one.
    private let hasOwnClientID: Bool

    /// A source of the broker with these settings.
    ///
    /// - Parameters:
    ///   - options: the broker and how this client connects.
    ///   - hasOwnClientID: true where the client id was made up.
    package init(_ options: MQTTSettings, hasOwnClientID: Bool = false) {
        self.hasOwnClientID = hasOwnClientID
        self.options = options
        self.options.announcesAvailability = false
    }

    /// Reads `mqtt://[USER[:PASSWORD]@]HOST[:PORT][/TOPICS]`, or `mqtts:` for TLS. Several topics have commas between
    /// them.
    ///
    /// - Parameter environment: has the password as BEACON_BROKER_PASSWORD, which, unlike what is on a command line, no
    ///   other user of the machine can read.
    /// - Returns: nil for text that is not an address of the network. One with a mistake is a source with a mistake,
    ///   since as a file's name it would be shown, with its password.
    package init?(_ text: String, environment: [String: String] = ProcessInfo.processInfo.environment) {
        guard let colon = text.firstIndex(of: ":"), let scheme = ServerAddress.scheme(text[..<colon]) else {
            return nil
        }
        guard ["mqtt", "mqtts"].contains(scheme) else {
            guard text[colon...].hasPrefix("://") else { return nil }
            self.init(MQTTSettings(host: "", clientID: Self.newClientID()), hasOwnClientID: true)
            addressMistake = AddressError(
                .noScheme, "a source cannot have the scheme \(scheme); write mqtt://HOST, or mqtts://HOST for TLS")
            return
        }
        do throws(AddressError) {
            let address = try ServerAddress(text)
            guard address.hosts.count == 1 else {
                throw AddressError(.invalidHost, "there are several hosts; write one")
            }
            let password = address.user == nil ? nil : environment["BEACON_BROKER_PASSWORD"].map(Secret.init)
            self.init(
                MQTTSettings(
                    host: address.hosts[0].host, port: address.hosts[0].port, clientID: Self.newClientID(),
                    user: address.user, password: address.password ?? password,
                    tls: scheme == "mqtts" ? MQTTTLSSettings() : nil), hasOwnClientID: true)
            // An @ could be that of a password with a / before it.
            let topics = address.path.replacing("%40", with: "@")
            if !topics.isEmpty { filters = topics.split(separator: ",").map(String.init) }
        } catch {
            self.init(MQTTSettings(host: "", clientID: Self.newClientID()), hasOwnClientID: true)
            addressMistake = error
        }
    }

    /// Returns a client id that no other client has: of two with one id, the broker ends the first.
    package static func newClientID() -> String {
        "beacon-" + String(UInt64.random(in: .min ... .max), radix: 36)
    }

    /// The broker, for people. It never has the password.
    package var title: String {
        addressMistake == nil ? HostAndPort(host: options.host, port: options.port).description : "mqtt://…"
    }

    /// True where the address that the settings were read from has a mistake, and they have no broker.
    package var hasAddressMistake: Bool { addressMistake != nil }

    /// Returns the mistakes in the settings, each with its remedy.
    package func mistakes() -> [String] {
        if let addressMistake { return ["\(addressMistake)"] }
        var mistakes = options.mistakes()
        if options.port == 0 { mistakes.append("port 0 is not valid; write a number from 1 to 65535") }
        for filter in filters ?? [] {
            if let mistake = Self.mistake(in: filter) { mistakes.append("the topic \"\(filter)\" \(mistake)") }
        }
        return mistakes
    }

    package func makeDriver() throws(RadioError) -> any ReceiverDriver { try BrokerDriver(self) }

    /// Returns the source with the client id that was made up for an earlier one.
    package func continuing(_ earlier: BrokerSource) -> BrokerSource {
        guard hasOwnClientID, earlier.hasOwnClientID else { return self }
        var source = self
        source.options.clientID = earlier.options.clientID
        return source
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
