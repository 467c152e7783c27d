import BeaconBroker
import BeaconMQTT
import BeaconSupport
import Foundation
import Testing

@testable import BeaconGateway

@Suite("Default names of a machine on a broker")
struct MachineIdentityTests {
    private static let id = "0123456789abcdef0123456789abcdef"

    /// Returns the identity of a machine with such a file, or without one for nil.
    private static func identity(_ text: String?, host: String = "raspberrypi") throws -> MachineIdentity {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("machine-id-\(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        try text.map { try Data($0.utf8).write(to: file) }
        return MachineIdentity(machineIDFile: file.path, hostName: host)
    }

    @Test("The id is hashed like systemd's ids for applications, so that it stays secret")
    func hash() throws {
        // systemd-id128 machine-id --app-specific=4c8a5240f6ec036b6ee9309a099776ce, with this machine id.
        let expected = "e0be90dd982a4078b804b1805448d74d"
        let hash = try #require(MachineIdentity.applicationSpecific(Array((Self.id + "\n").utf8)))
        #expect(hash.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() == expected)
        let identity = try Self.identity(Self.id + "\n")
        #expect(identity.code == "e0be90dd982a4078")
        #expect(identity.clientID(for: "home") == "beacond-e0be90dd982a4078-home")
        #expect(identity.baseTopic == "beacond/raspberrypi-e0be90dd")
        #expect(!identity.clientID(for: "home").contains(Self.id.prefix(8)))
    }

    @Test("Two machines with one host name have different client ids and topic prefixes, and so do two destinations")
    func different() throws {
        let (one, other) = (try Self.identity(Self.id), try Self.identity(String(Self.id.reversed())))
        #expect(one.clientID(for: "home") != other.clientID(for: "home"))
        #expect(one.baseTopic != other.baseTopic)
        #expect(one.clientID(for: "home") != one.clientID(for: "office"))
    }

    @Test("A client id does not change with the host name")
    func renamedHost() throws {
        let (one, other) = (try Self.identity(Self.id, host: "a.local"), try Self.identity(Self.id, host: "b"))
        #expect(one.clientID(for: "home") == other.clientID(for: "home"))
        #expect(one.name == "a")
    }

    @Test(
        "Without a usable id the host name is used",
        arguments: [
            nil, "", "\n", "uninitialized\n", "0123", "00000000000000000000000000000000",
            "0123456789abcdef0123456789abcdeg", "0123456789abcdef0123456789abcdef0",
        ])
    func fallBack(_ text: String?) throws {
        let identity = try Self.identity(text, host: "hall 1.example.org")
        #expect(identity.code == nil)
        #expect(identity.clientID(for: "my home") == "beacond-hall%201-my%20home")
        #expect(identity.baseTopic == "beacond/hall%201")
    }

    @Test("The configuration overrides the defaults", arguments: [true, false])
    func configured(_ isGiven: Bool) throws {
        let names = isGiven ? ", client-id: hall, topic: museum/hall" : ""
        let checked = GatewayConfiguration.check(
            "destinations: [{ name: home, type: mqtt, host: broker\(names) }]", folder: URL(fileURLWithPath: "/"),
            environment: [:])
        guard case .mqtt(let broker) = try #require(checked.configuration.destinations.first).kind else {
            Issue.record("it is not a broker")
            return
        }
        let machine = MachineIdentity.current
        #expect(broker.connection.clientID == (isGiven ? "hall" : machine.clientID(for: "home")))
        #expect(broker.connection.baseTopic == (isGiven ? "museum/hall" : machine.baseTopic))
        #expect(broker.homeAssistant.nodeID == (isGiven ? nil : machine.nodeID))
        #expect(broker.homeAssistant.gatewayName == (isGiven ? nil : machine.title))
    }
}
