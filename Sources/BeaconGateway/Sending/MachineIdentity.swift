import BeaconBroker
import BeaconSupport
import Crypto
import Foundation

/// The default names of this machine at a broker, which no other machine has.
///
/// Many machines have one host name, as `raspberrypi`. A broker ends the first of two connections of one client id, and
/// each of two gateways with one base topic would delete the other's retained messages. So the names come from
/// /etc/machine-id, which systemd makes for each installation (machine-id(5)). The id itself stays secret, as that page
/// asks: a hash for this application takes its place.
struct MachineIdentity: Hashable, Sendable {
    /// The identity of this machine.
    static let current = MachineIdentity(
        machineIDFile: "/etc/machine-id", hostName: ProcessInfo.processInfo.hostName)

    /// This application, a random number made for it once. It may never change: brokers and Home Assistant know the
    /// names that come from it.
    private static let application: [UInt8] = [
        0x4c, 0x8a, 0x52, 0x40, 0xf6, 0xec, 0x03, 0x6b, 0x6e, 0xe9, 0x30, 0x9a, 0x09, 0x97, 0x76, 0xce,
    ]

    /// The machine's name without its domain, which the network may change.
    let name: String

    /// False for a machine without a name.
    private let hasName: Bool

    /// 16 hexadecimal digits, the same for as long as the system is installed; nil without a usable machine id.
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

    /// Returns what `sd_id128_get_machine_app_specific` gives for a machine id: the first 16 bytes of an HMAC with
    /// SHA-256 whose key is the machine id, marked as a UUID of version 4 (sd_id128_get_machine(3)).
    ///
    /// - Parameter text: the file's content, 32 hexadecimal digits and a line's end.
    /// - Returns: nil for anything else, as `uninitialized` during the first boot.
    static func applicationSpecific(_ text: [UInt8]) -> [UInt8]? {
        let digits = String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        let values = digits.compactMap { $0.isASCII ? $0.hexDigitValue : nil }
        guard digits.count == 32, values.count == 32, values.contains(where: { $0 != 0 }) else { return nil }
        let key = stride(from: 0, to: 32, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
        var id = Array(
            HMAC<SHA256>.authenticationCode(for: application, using: SymmetricKey(data: key)).prefix(16))
        id[6] = id[6] & 0x0F | 0x40
        id[8] = id[8] & 0x3F | 0x80
        return id
    }

    /// Returns the default client id of a destination. Without a machine id the host's name takes its place.
    func clientID(for destination: String) -> String {
        "beacond-\(code ?? TopicLevel.escape(name))-\(TopicLevel.escape(destination))"
    }

    /// The default prefix of ids in Home Assistant; nil without a machine id, so that the client id takes its place.
    var nodeID: String? { code.map { "beacond-\($0)" } }

    /// The name of this machine's gateway for people.
    var title: String { hasName ? "beacond \(name)" : "beacond" }

    /// The default prefix of topics: the host's name for people, and half of the code.
    var baseTopic: String { "beacond/" + TopicLevel.escape(name) + (code.map { "-\($0.prefix(8))" } ?? "") }
}
