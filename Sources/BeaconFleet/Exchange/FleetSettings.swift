import BeaconModel
package import BeaconNATS
import BeaconSupport
import Foundation

/// A machine's part in a fleet.
public struct FleetSettings: Hashable, Sendable {
    /// The longest name of a machine in bytes. With a source's number appended, it reaches the longest name that
    /// workers accept.
    package static let longestNode = 56

    /// The maximum number of partitions, more than the processors of any machine.
    package static let maximumPartitions = 1024

    /// The transport between the machines.
    package enum Transport: Hashable, Sendable {
        /// NATS servers.
        case nats(NATSSettings)
        /// This process only: a fleet of one machine.
        case local
    }

    package var transport: Transport
    /// The name of the fleet. Several fleets can share servers.
    package var name = "beacons"
    /// The machine's name, unique within the fleet.
    package var node: String
    /// The number of partitions, if this machine creates the fleet.
    package var partitions = 16
    /// The number of servers that store durable data.
    package var replicas = 3
    /// Whether the machine owns partitions.
    package var works = true
    /// Whether it may deliver.
    package var delivers = true

    /// The address of a fleet of one machine.
    package static let local = "local"

    /// Creates settings from a fleet's address.
    ///
    /// - Parameter address: `nats://[USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]]…`, `tls://…` or `local`.
    /// - Throws: An error that quotes no part of the address.
    public init(_ address: String) throws {
        transport = address == Self.local ? .local : .nats(try NATSSettings(address))
        node = Self.machine
    }

    /// Creates the settings of a fleet of one machine.
    package init() {
        transport = .local
        node = Self.machine
    }

    /// Whether the fleet uses servers. It is false for a fleet of one machine.
    package var hasServers: Bool {
        if case .nats = transport { true } else { false }
    }

    /// The servers and their credentials. A fleet of one machine has none and ignores new ones.
    package var servers: NATSSettings {
        get {
            if case .nats(let settings) = transport { settings } else { NATSSettings(servers: []) }
        }
        set {
            if case .nats = transport { transport = .nats(newValue) }
        }
    }

    private static var machine: String {
        let name = ProcessInfo.processInfo.hostName.prefix { $0 != "." }
        return name.isEmpty ? "beacond" : String(name)
    }

    /// The servers, for display.
    package var title: String {
        switch transport {
        case .nats(let options): options.title
        case .local: "this process"
        }
    }

    /// The mistakes, each with its remedy.
    package func mistakes() -> [String] {
        var mistakes: [String] = []
        if case .nats(let options) = transport { mistakes += options.mistakes() }
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

    /// Returns whether a text is a valid fleet name. The names of NATS streams contain it.
    public static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0
                    || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
            }
    }
}

extension FleetSettings.Transport {
    /// Returns these servers, with the credentials of other settings if these have none.
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
