package import BeaconBroker
package import BeaconRadio
import BeaconSupport
import Foundation

/// A broker as a source: receivers of other projects publish their adverts to it.
package struct BrokerSource: NetworkSource {
    /// The topics that the known projects use by default.
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
    /// The mistake in the address that the settings were read from; nil if it has none.
    private var addressMistake: AddressError?

    /// The settings behind the question mark of the address that the settings were read from.
    package private(set) var query: [String: String] = [:]

    /// True if the client id is random. Reading the same settings again creates another id.
    private let hasOwnClientID: Bool

    /// Creates a source for the broker with these settings.
    ///
    /// - Parameters:
    ///   - options: the broker and how this client connects.
    ///   - hasOwnClientID: true if the client id is random.
    package init(_ options: MQTTSettings, hasOwnClientID: Bool = false) {
        self.hasOwnClientID = hasOwnClientID
        self.options = options
        self.options.announcesAvailability = false
    }

    /// Parses `mqtt://[USER[:PASSWORD]@]HOST[:PORT][/TOPICS][?KEY=VALUE]`, or `mqtts:` for TLS. Commas separate topics.
    /// ``ConnectionOption`` lists the keys.
    ///
    /// - Parameter environment: the environment. It has the password as BEACON_BROKER_PASSWORD: other users of the
    ///   machine can read a command line, but not the environment.
    /// - Returns: nil if the text is not a network address. An address with a mistake gives a source with a mistake: as
    ///   a file name it would be shown together with its password.
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
            var options = MQTTSettings(
                host: address.hosts[0].host, port: address.hosts[0].port, clientID: Self.newClientID(),
                user: address.user, password: address.password ?? password,
                tls: scheme == "mqtts" ? MQTTTLSSettings() : nil)
            try ConnectionOption.apply(address.query, to: &options)
            self.init(options, hasOwnClientID: address.query[ConnectionOption.clientID.rawValue] == nil)
            query = address.query
            // The @ of a password that contains a / ends up in the path.
            let topics = address.path.replacing("%40", with: "@").replacing("%3F", with: "?")
            if !topics.isEmpty { filters = topics.split(separator: ",").map(String.init) }
        } catch {
            self.init(MQTTSettings(host: "", clientID: Self.newClientID()), hasOwnClientID: true)
            addressMistake = error
        }
    }

    /// Returns a unique client id: if two clients share an id, the broker disconnects the first.
    package static func newClientID() -> String {
        "beacon-" + String(UInt64.random(in: .min ... .max), radix: 36)
    }

    /// The broker, for people. It never contains the password.
    package var title: String {
        addressMistake == nil ? HostAndPort(host: options.host, port: options.port).description : "mqtt://…"
    }

    /// True if the address that the settings were read from has a mistake, so the settings have no broker.
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

    /// Returns the source with the random client id of an earlier one.
    package func continuing(_ earlier: BrokerSource) -> BrokerSource {
        guard hasOwnClientID, earlier.hasOwnClientID else { return self }
        var source = self
        source.options.clientID = earlier.options.clientID
        return source
    }

    /// Returns the mistake in a filter (MQTT 3.1.1, 4.7); nil if it is valid.
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
