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
    /// The port of the API; with ``isEach``, the port of the first receiver.
    package var port = ESPHomeSource.port
    /// True if each receiver is a device; false if one device has the adverts of all receivers.
    package var isEach = false
    /// The key of the API: 32 bytes as base64; nil for plain connections.
    package var key: Secret?
    /// The address to listen at; nil for all addresses of the machine.
    package var address: String?
    /// True to announce the devices in the local network.
    package var isAnnounced = true
    /// True if some adverts come from receivers in the network, and not only from this machine's radios.
    package var isOfNetwork = false
    /// The file with the ports of receivers; nil if they may change with each start.
    package var portsPath: String?

    /// The longest name that ESPHome allows (esphome.io, core configuration). With a receiver's name and four digits it
    /// fits into the 63 bytes of a label (RFC 1035, 2.3.4).
    private static let longestName = 31

    /// Creates settings with a name; nil for the machine's name.
    package init(name: String? = nil) { self.name = name ?? Self.defaultName }

    /// The machine's name with the prefix `beacon-`.
    private static var defaultName: String {
        let machine = ProcessInfo.processInfo.hostName.prefix { $0 != "." }
        // Removes a hyphen at the end of a cut name. A machine's name may contain no valid character.
        return slug(("beacon-" + slug(machine)).prefix(longestName))
    }

    /// The default file for the ports of receivers.
    package var userPortsPath: String {
        StateDirectory.user.url.path + "/proxy-" + String(name.filter { $0 != "/" }.prefix(64)) + ".json"
    }

    /// The IPv4 address to listen at, in four bytes; nil for all addresses of the machine, and for an IPv6 address.
    var networkAddress: [UInt8]? {
        var bytes = in_addr()
        guard let address, inet_pton(AF_INET, address, &bytes) == 1, bytes.s_addr != 0 else { return nil }
        return withUnsafeBytes(of: &bytes) { Array($0) }
    }

    /// True to listen at all addresses of the machine.
    var listensEverywhere: Bool { address == nil || address == "::" || address == "0.0.0.0" }

    /// Returns the mistakes in the settings, each with its remedy.
    package func mistakes() -> [String] {
        var mistakes: [String] = []
        if name != Self.slug(name) || name.isEmpty || name.utf8.count > Self.longestName {
            mistakes.append(
                "\"\(name.printable)\" is not a valid device name; write lower case letters, digits and hyphens, "
                    + "at most \(Self.longestName)"
            )
        }
        if port == 0 { mistakes.append("port 0 is not valid; write a number from 1 to 65535") }
        if let key, ESPHomeSource.bytes(of: key) == nil {
            mistakes.append("the key is invalid; write 32 bytes as base64, for example from 'openssl rand -base64 32'")
        }
        if let address, HostResolver.literal(address, port: 0) == nil {
            mistakes.append(
                "\"\(address.printable)\" is not an address of this machine; write one, such as 192.168.1.5")
        }
        return mistakes
    }

    /// Returns the identity of a device.
    ///
    /// - Parameter receiver: the device's only receiver; nil for all receivers.
    func identity(of receiver: String?) -> ESPHomeDevice.Identity {
        let deviceName = receiver.map { name + "-" + Self.slug($0).prefix(26) } ?? name
        return ESPHomeDevice.Identity(
            name: deviceName, title: receiver.map { "\(name) \($0.printable)" } ?? name,
            address: Self.address(of: receiver.map { name + "/" + $0 } ?? name),
            project: isOfNetwork ? ESPHomeDevice.networkProject : ESPHomeDevice.radioProject,
            key: key.flatMap(ESPHomeSource.bytes(of:)))
    }

    /// Returns a name reduced to lower case letters, digits and hyphens.
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

    /// Returns an address that should be unique in the network. It is the same each time on one machine, and has the
    /// bit of locally administered addresses (IEEE 802, 8.4), since clients use it as the address of a Bluetooth
    /// adapter and of a network card.
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
    /// A kind of failure.
    package enum Code: Sendable {
        case invalidSettings, cannotListen, noEncryption
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
