import BeaconApplications
import BeaconModel
import BeaconReceivers
package import BeaconSupport
import CLibrary
import Foundation

/// The settings of a ``ProxyServer``.
package struct ProxySettings: Hashable, Sendable {
    /// The device's name in the network: lower case letters, digits and hyphens.
    package var name: String
    /// The port of the API; with ``isEach`` that of the first receiver.
    package var port = ESPHomeSource.port
    /// True where each receiver is a device of its own, and false where one device has what all hear.
    package var isEach = false
    /// The key of the API: 32 bytes as base64; nil for plain connections.
    package var key: Secret?
    /// The address to listen at; nil for all of the machine.
    package var address: String?
    /// True where the devices are announced in the local network.
    package var isAnnounced = true
    /// True where some of what is heard comes from receivers in the network, not from this machine's radios alone.
    package var isOfNetwork = false
    /// The file in which the ports of receivers are kept; nil where they may be others next time.
    package var portsPath: String?

    /// The longest name, as ESPHome has it (esphome.io, core configuration). With a receiver's name and four digits it
    /// has the 63 bytes of a label (RFC 1035, 2.3.4).
    private static let longestName = 31

    /// Settings with a name; nil for the machine's.
    package init(name: String? = nil) { self.name = name ?? Self.defaultName }

    /// The machine's name behind `beacon-`.
    private static var defaultName: String {
        let machine = ProcessInfo.processInfo.hostName.prefix { $0 != "." }
        // What is cut may end with a hyphen; a machine's name may have no letter that counts.
        return slug(("beacon-" + slug(machine)).prefix(longestName))
    }

    /// The file of the ports where the user names no other.
    package var userPortsPath: String {
        StateDirectory.user.url.path + "/proxy-" + String(name.filter { $0 != "/" }.prefix(64)) + ".json"
    }

    /// The address to listen at in four bytes; nil for all of the machine, and for one of version 6.
    var networkAddress: [UInt8]? {
        var bytes = in_addr()
        guard let address, inet_pton(AF_INET, address, &bytes) == 1, bytes.s_addr != 0 else { return nil }
        return withUnsafeBytes(of: &bytes) { Array($0) }
    }

    /// True where all addresses of the machine are listened at.
    var listensEverywhere: Bool { address == nil || address == "::" || address == "0.0.0.0" }

    /// Returns the mistakes in the settings, each with its remedy.
    package func mistakes() -> [String] {
        var mistakes: [String] = []
        if name != Self.slug(name) || name.isEmpty || name.utf8.count > Self.longestName {
            mistakes.append(
                "\"\(name.printable)\" is no name of a device; write lower case letters, digits and hyphens, at most \(Self.longestName)"
            )
        }
        if port == 0 { mistakes.append("the port is none; write a number from 1 to 65535") }
        if let key, ESPHomeSource.bytes(of: key) == nil {
            mistakes.append("the key is none; write 32 bytes as base64, as 'openssl rand -base64 32' makes them")
        }
        if let address, HostResolver.literal(address, port: 0) == nil {
            mistakes.append("\"\(address.printable)\" is no address of this machine; write one, such as 192.168.1.5")
        }
        return mistakes
    }

    /// Returns what a device says of itself.
    ///
    /// - Parameter receiver: the one receiver that it has; nil for all.
    func identity(of receiver: String?) -> ESPHomeDevice.Identity {
        let deviceName = receiver.map { name + "-" + Self.slug($0).prefix(26) } ?? name
        return ESPHomeDevice.Identity(
            name: deviceName, title: receiver.map { "\(name) \($0.printable)" } ?? name,
            address: Self.address(of: receiver.map { name + "/" + $0 } ?? name),
            project: isOfNetwork ? ESPHomeDevice.networkProject : ESPHomeDevice.radioProject,
            key: key.flatMap(ESPHomeSource.bytes(of:)))
    }

    /// Returns lower case letters, digits and hyphens for what a name has.
    private static func slug(_ text: some StringProtocol) -> String {
        var slug = ""
        for character in text.lowercased() {
            if character.isASCII, character.isLetter || character.isNumber {
                slug.append(character)
            } else if !slug.isEmpty, slug.last != "-" {
                slug.append("-")
            }
        }
        while slug.last == "-" { slug.removeLast() }
        return slug
    }

    /// Returns an address that no other device of the network should have: the same each time on one machine, and
    /// marked as chosen locally (IEEE 802, 8.4), since clients take it for the address of an adapter and of a network
    /// card.
    private static func address(of name: String) -> DeviceAddress {
        let machine = (try? SmallFile.contents(path: "/etc/machine-id", limit: 4096)) ?? []
        // FNV-1a of 64 bits (Fowler, Noll, Vo).
        let hash = (machine + Array(name.utf8)).reduce(0xCBF2_9CE4_8422_2325 as UInt64) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
        }
        let bits = (hash ^ hash >> 48) & 0xFCFF_FFFF_FFFF | 0x0200_0000_0000
        return DeviceAddress(bits: bits, kind: .public)
    }
}

/// The reason why a machine cannot be a proxy, with its remedy.
package struct ProxyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A kind of failure. More may come, so a `switch` over codes needs a default.
    package struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable { case invalidSettings, cannotListen, noEncryption }

        private let value: Value

        /// The settings contain mistakes.
        package static let invalidSettings = Code(value: .invalidSettings)
        /// The port cannot be listened at.
        package static let cannotListen = Code(value: .cannotListen)
        /// The machine has no library for encryption.
        package static let noEncryption = Code(value: .noEncryption)
    }

    /// The kind of failure.
    package var code: Code
    /// The problem and its remedy.
    package var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    package var description: String { message }
}

/// A notice of a proxy for its operator.
package struct ProxyNotice: Hashable, Sendable, CustomStringConvertible {
    /// True for trouble, which deserves a warning, and false for information.
    package var isTrouble: Bool
    /// The event, its cause and the remedy, in a sentence or two.
    package var message: String

    /// The message.
    package var description: String { message }
}
