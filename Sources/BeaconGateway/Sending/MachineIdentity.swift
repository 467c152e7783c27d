import BeaconBroker
import BeaconSupport
import Foundation

/// The default names of this machine at a broker, which are unique to it.
///
/// Many machines share a host name, such as `raspberrypi`. If two connections have the same client id, a broker ends
/// the first; if two gateways have the same base topic, each deletes the other's retained messages. So the names are
/// derived from /etc/machine-id, which systemd creates for each installation (machine-id(5)). The id itself stays
/// secret, as that page asks: the names contain a hash of it for this application.
struct MachineIdentity: Hashable, Sendable {
    /// The identity of this machine.
    static let current = MachineIdentity(
        machineIDFile: "/etc/machine-id", hostName: ProcessInfo.processInfo.hostName)

    /// The application's id, a random number. It must never change: brokers and Home Assistant know the names derived
    /// from it.
    private static let application: [UInt8] = [
        0x4c, 0x8a, 0x52, 0x40, 0xf6, 0xec, 0x03, 0x6b, 0x6e, 0xe9, 0x30, 0x9a, 0x09, 0x97, 0x76, 0xce,
    ]

    /// The machine's name without its domain, which the network may change.
    let name: String

    /// False for a machine without a name.
    private let hasName: Bool

    /// 16 hexadecimal digits that stay the same while the system is installed; nil without a usable machine id.
    let code: String?

    /// Creates the identity of a machine.
    ///
    /// - Parameters:
    ///   - machineIDFile: the path of the file with the machine id. A container may have none, or an empty one.
    ///   - hostName: the host's name, with or without a domain.
    init(machineIDFile: String, hostName: String) {
        let first = hostName.prefix { $0 != "." }
        hasName = !first.isEmpty
        name = hasName ? String(first) : "gateway"
        let text = (try? SmallFile.contents(path: machineIDFile, limit: 4096)) ?? []
        code = Self.applicationSpecific(text).map { id in
            id.prefix(8).map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined()
        }
    }

    /// Returns the result of `sd_id128_get_machine_app_specific` for a machine id: the first 16 bytes of an HMAC with
    /// SHA-256 whose key is the machine id, marked as a UUID of version 4 (sd_id128_get_machine(3)).
    ///
    /// - Parameter text: the file's content, 32 hexadecimal digits and a newline.
    /// - Returns: nil for any other content, such as `uninitialized` during the first boot.
    static func applicationSpecific(_ text: [UInt8]) -> [UInt8]? {
        let digits = String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        let values = digits.compactMap { $0.isASCII ? $0.hexDigitValue : nil }
        guard digits.count == 32, values.count == 32, values.contains(where: { $0 != 0 }) else { return nil }
        let key = stride(from: 0, to: 32, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
        var id = Array(SHA256.hmac(application, key: key).prefix(16))
        id[6] = id[6] & 0x0F | 0x40
        id[8] = id[8] & 0x3F | 0x80
        return id
    }

    /// Returns the default client id of a destination, with the host's name if there is no machine id.
    func clientID(for destination: String) -> String {
        "beacond-\(code ?? TopicLevel.escape(name))-\(TopicLevel.escape(destination))"
    }

    /// The default prefix of ids in Home Assistant; nil without a machine id, so that the client id is used instead.
    var nodeID: String? { code.map { "beacond-\($0)" } }

    /// The name of this machine's gateway for people.
    var title: String { hasName ? "beacond \(name)" : "beacond" }

    /// The default prefix of topics: the host's name, and half of the code.
    var baseTopic: String { "beacond/" + TopicLevel.escape(name) + (code.map { "-\($0.prefix(8))" } ?? "") }
}
