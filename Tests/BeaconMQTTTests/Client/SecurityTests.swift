import BeaconDelivery
import BeaconMQTT
import Foundation
import TestSupport
import Testing

@Suite("A broker that wants to know who comes", .fewAtATime)
struct SecurityTests {
    @Test("lets the right password in", arguments: MQTTVersion.allCases)
    func rightPassword(version: MQTTVersion) async throws {
        let broker = try await Self.brokerWithPassword()
        var options = MQTTSettings.test(port: broker.port, version: version)
        (options.user, options.password) = ("ann", Secret("open sesame"))
        let client = try MQTTClient(options)
        try await running(client.run) {
            try await client.publish(MQTTMessage(topic: "a", text: "b"))
        }
    }

    @Test("tells of a wrong password at once, without showing it", arguments: MQTTVersion.allCases)
    func wrongPassword(version: MQTTVersion) async throws {
        let broker = try await Self.brokerWithPassword()
        var options = MQTTSettings.test(port: broker.port, version: version)
        (options.user, options.password) = ("ann", Secret("open barley"))
        options.publishTimeout = .seconds(600)
        let client = try MQTTClient(options)
        try await running(client.run) {
            let error = await #expect(throws: MQTTError.self) {
                try await client.publish(MQTTMessage(topic: "a", text: "b"))
            }
            #expect(error?.code == .badCredentials)
            #expect(error?.description.contains("ann") == true)
            #expect(error?.description.contains("barley") == false)
        }
    }

    @Test("with MQTT 5, tells of a message that the user may not publish, and goes on")
    func missingRight() async throws {
        let folder = try TemporaryFolder()
        let rights = folder.url.appendingPathComponent("acl")
        try "topic write allowed/#\n".write(to: rights, atomically: true, encoding: .utf8)
        // The broker reads it after it gave its rights as root up.
        let broker = try await Broker("allow_anonymous true\nacl_file \(rights.path)", in: folder)
        let client = try MQTTClient(.test(port: broker.port, version: .v5, announces: false))
        try await running(client.run) {
            let error = await #expect(throws: MQTTError.self) {
                try await client.publish(MQTTMessage(topic: "forbidden", text: "b"))
            }
            #expect(error?.code == .notAuthorized)
            #expect(error?.reason?.rawValue == 0x87)
            try await client.publish(MQTTMessage(topic: "allowed/a", text: "b"))
        }
    }

    @Test("is connected to by TLS, with its certificate verified", arguments: MQTTVersion.allCases)
    func tls(version: MQTTVersion) async throws {
        let certificates = try Certificates()
        let broker = try await Broker(certificates.brokerSettings, in: certificates.folder)
        var options = MQTTSettings.test(port: broker.port, version: version)
        options.host = "localhost"
        options.tls = MQTTTLSSettings(authorityFile: certificates.path("authority.pem"))
        let client = try MQTTClient(options)
        try await running(client.run) {
            for result in await client.publish((0..<200).map { MQTTMessage(topic: "n", text: "\($0)") }) {
                try result.get()
            }
        }
    }

    @Test("is not trusted by another authority, nor under another name, and the reason is told")
    func tlsFailures() async throws {
        let certificates = try Certificates()
        let broker = try await Broker(certificates.brokerSettings, in: certificates.folder)
        for (host, authority) in [("localhost", "other-authority.pem"), ("127.0.0.1", "authority.pem")] {
            var options = MQTTSettings.test(port: broker.port)
            options.host = host
            options.tls = MQTTTLSSettings(authorityFile: certificates.path(authority))
            options.publishTimeout = .seconds(600)
            let client = try MQTTClient(options)
            try await running(client.run) {
                let error = await #expect(throws: MQTTError.self) {
                    try await client.publish(MQTTMessage(topic: "a", text: "b"))
                }
                #expect(error?.code == .tlsFailed)
                #expect(error?.cause != nil)
            }
        }
    }

    @Test("gets a client's certificate where it wants one, and refuses who has none")
    func clientCertificate() async throws {
        let certificates = try Certificates()
        let broker = try await Broker(
            certificates.brokerSettings + "\nrequire_certificate true\nuse_identity_as_username true",
            in: certificates.folder)
        var options = MQTTSettings.test(port: broker.port)
        options.host = "localhost"
        options.tls = MQTTTLSSettings(
            authorityFile: certificates.path("authority.pem"), certificateFile: certificates.path("client.pem"),
            keyFile: certificates.path("client.key"))
        let client = try MQTTClient(options)
        try await running(client.run) { try await client.publish(MQTTMessage(topic: "a", text: "b")) }

        options.tls?.certificateFile = nil
        options.tls?.keyFile = nil
        options.publishTimeout = .seconds(60)
        let other = try MQTTClient(options)
        try await running(other.run) {
            let error = await #expect(throws: MQTTError.self) {
                try await other.publish(MQTTMessage(topic: "a", text: "b"))
            }
            #expect(error?.code == .tlsFailed)
        }
    }

    @Test("is told of a file for TLS that is not there")
    func missingFile() async throws {
        var options = MQTTSettings.test(port: 8883)
        options.tls = MQTTTLSSettings(authorityFile: "/nowhere/authority.pem")
        let client = try MQTTClient(options)
        try await running(client.run) {
            let error = await #expect(throws: MQTTError.self) {
                try await client.publish(MQTTMessage(topic: "a", text: "b"))
            }
            #expect(error?.code == .invalidSettings)
            #expect(error?.description.contains("/nowhere/authority.pem") == true)
        }
    }

    private static func brokerWithPassword() async throws -> Broker {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("passwords").path
        try ChildProcess.run("mosquitto_passwd", "-b", "-c", file, "ann", "open sesame")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        return try await Broker("allow_anonymous false\npassword_file \(file)", in: folder)
    }
}
