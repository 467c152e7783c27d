package import BeaconRadio
package import BeaconSupport
import Foundation

/// Bluetooth proxies of ESPHome as a source. Each has its own connection.
package struct ESPHomeSource: NetworkSource {
    /// A device.
    package struct Node: Hashable, Sendable {
        /// Its name or address in the network.
        package var host: String
        /// The port of its API.
        package var port: UInt16
        /// The mistake in the text that names the device; nil if it has none.
        fileprivate var mistake: AddressError?

        /// Creates a device with this name or address.
        package init(host: String, port: UInt16 = ESPHomeSource.port) {
            self.host = host
            self.port = port
        }
    }

    /// The port of the native API (ESPHome, native API component).
    package static let port: UInt16 = 6053

    /// The devices; empty for all that are found.
    package var nodes: [Node] = []
    /// The key of all devices: 32 bytes as base64; nil for plain connections.
    package var key: Secret?
    /// True to take the adverts even if another program loses them.
    package var mayTake = false
    /// The settings of the receivers.
    package var network = ReceiverNetwork.Settings()

    /// Creates a source of all devices that are found.
    package init() {}

    /// Parses `esphome[:HOST[:PORT],…][?take]`.
    ///
    /// - Parameter environment: the environment. It has the key as BEACON_ESPHOME_KEY: other users of the machine can
    ///   read a command line, but not the environment.
    /// - Returns: nil if the text has another form.
    package init?(_ text: String, environment: [String: String] = ProcessInfo.processInfo.environment) {
        var rest = text[...]
        guard rest.hasPrefix("esphome") else { return nil }
        rest = rest.dropFirst(7)
        if rest.hasSuffix("?take") {
            mayTake = true
            rest = rest.dropLast(5)
        }
        guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
        let hosts = rest.dropFirst().drop { $0 == "/" }
        if hosts.contains("@") {
            // The text before the @ may be a password, which may contain commas.
            nodes = [Node(text: hosts)]
        } else {
            nodes = hosts.split(separator: ",").map { Node(text: $0) }
        }
        key = environment["BEACON_ESPHOME_KEY"].map(Secret.init)
    }

    /// The devices, for people.
    package var title: String {
        nodes.isEmpty ? "esphome" : nodes.map(\.host.shownAddress).joined(separator: ",")
    }

    /// Returns the mistakes in the settings, each with its remedy.
    package func mistakes() -> [String] {
        var mistakes: [String] = []
        for node in nodes {
            if let mistake = node.mistake { mistakes.append("\"\(node.host.shownAddress)\": \(mistake)") }
        }
        if let key, Self.bytes(of: key) == nil {
            mistakes.append(
                "the key is invalid; write the one under api: encryption: in the device's configuration, "
                    + "32 bytes as base64")
        }
        return mistakes
    }

    /// True if it looks for devices. Then anyone in the network can announce some.
    package var admitsStrangers: Bool { nodes.isEmpty }

    package func makeDriver() throws(RadioError) -> any ReceiverDriver { try ESPHomeDriver(self) }

    /// Returns the bytes of a key; nil if it is invalid.
    package static func bytes(of key: Secret) -> [UInt8]? {
        let bytes = Data(base64Encoded: key.reveal()).map(Array.init)
        return bytes?.count == ESPHomeFraming.keyCount ? bytes : nil
    }
}

extension ESPHomeSource.Node {
    /// Parses `HOST[:PORT]`.
    package init(text: some StringProtocol) {
        do throws(AddressError) {
            let address = try HostAndPort(bracketed: text)
            self.init(host: address.host, port: address.port ?? ESPHomeSource.port)
        } catch {
            self.init(host: String(text))
            mistake = error
        }
    }
}
