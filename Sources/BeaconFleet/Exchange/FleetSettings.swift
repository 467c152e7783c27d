import BeaconModel
package import BeaconNATS
import BeaconSupport
import Foundation

/// A machine's part in a fleet.
public struct FleetSettings: Hashable, Sendable {
    /// The longest name of a machine in bytes: with the number of a source behind it, as long as those who listen take.
    package static let longestNode = 56

    /// The most partitions, which exceeds the processors of any machine.
    package static let mostPartitions = 1024

    /// The meeting point of the machines.
    package enum Meeting: Hashable, Sendable {
        /// NATS servers.
        case nats(NATSSettings)
        /// Nothing but this process: a fleet of one.
        case local
    }

    package var meeting: Meeting
    /// The name of the fleet; several can share servers.
    package var name = "beacons"
    /// The machine's name, which no other of the fleet has.
    package var node: String
    /// The number of partitions of a fleet that begins with this machine.
    package var partitions = 16
    /// The servers that keep what must not be lost.
    package var replicas = 3
    /// Whether the machine owns partitions.
    package var works = true
    /// Whether it may deliver.
    package var delivers = true

    /// The text of a fleet of one.
    package static let local = "local"

    /// Reads where a fleet meets.
    ///
    /// - Parameter address: `nats://[USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]]…`, `tls://…` or `local`.
    /// - Throws: an error that quotes nothing of the address.
    public init(_ address: String) throws {
        meeting = address == Self.local ? .local : .nats(try NATSSettings(address))
        node = Self.machine
    }

    /// Creates the settings of a fleet of one.
    package init() {
        meeting = .local
        node = Self.machine
    }

    /// False for a fleet of one.
    package var hasServers: Bool {
        if case .nats = meeting { true } else { false }
    }

    /// The servers and the credentials for them; a fleet of one has none, and takes none.
    package var servers: NATSSettings {
        get {
            if case .nats(let settings) = meeting { settings } else { NATSSettings(servers: []) }
        }
        set {
            if case .nats = meeting { meeting = .nats(newValue) }
        }
    }

    private static var machine: String {
        let name = ProcessInfo.processInfo.hostName.prefix { $0 != "." }
        return name.isEmpty ? "beacond" : String(name)
    }

    /// The servers for people.
    package var title: String {
        switch meeting {
        case .nats(let options): options.title
        case .local: "this process"
        }
    }

    /// The mistakes, each with its remedy.
    package func mistakes() -> [String] {
        var mistakes: [String] = []
        if case .nats(let options) = meeting { mistakes += options.mistakes() }
        if !Self.isName(name) {
            mistakes.append(
                "\"name\" is \"\(name.printable)\"; write 1 to 64 letters of English, digits, hyphens and underscores")
        }
        if node.isEmpty || node.utf8.count > Self.longestNode || node.contains(FleetRelay.separator) {
            mistakes.append(
                "\"node\" is \"\(node.printable)\"; write a name of 1 to \(Self.longestNode) bytes without a number sign, which no other machine has"
            )
        }
        return mistakes
    }

    /// Returns whether a text can be a fleet's name. Streams of NATS have it in their names.
    public static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0
                    || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
            }
    }
}

extension FleetSettings.Meeting {
    /// Returns these servers with the credentials of others, where these have no credentials.
    package func keeping(_ other: Self) -> Self {
        guard case .nats(var options) = self, case .nats(let before) = other else { return self }
        options.user = options.user ?? before.user
        options.password = options.password ?? before.password
        options.token = options.token ?? before.token
        options.credentialsFile = options.credentialsFile ?? before.credentialsFile
        options.authorityFile = options.authorityFile ?? before.authorityFile
        options.certificateFile = options.certificateFile ?? before.certificateFile
        options.keyFile = options.keyFile ?? before.keyFile
        return .nats(options)
    }
}
