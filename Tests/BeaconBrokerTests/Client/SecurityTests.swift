import BeaconBroker
import BrokerTestSupport
import Foundation
import TestSupport
import Testing

@Suite("Brokers with access control", .fewAtATime)
struct SecurityTests {
    @Test("The right password is accepted", arguments: MQTTVersion.allCases)
    func rightPassword(version: MQTTVersion) async throws {
        let broker = try await Self.brokerWithPassword()
        var options = MQTTSettings.test(port: broker.port, version: version)
        (options.user, options.password) = ("ann", Secret("open sesame"))
        let client = try MQTTClient(options)
        try await running(client.run) {
            try await client.publish(MQTTMessage(topic: "a", text: "b"))
        }
    }

    @Test("A wrong password is reported at once, without showing it", arguments: MQTTVersion.allCases)
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

    @Test("With MQTT 5, a message that the user may not publish is reported, and the connection stays")
    func missingRight() async throws {
        let folder = try TemporaryFolder()
        let rights = folder.url.appendingPathComponent("acl")
        try "topic write allowed/#\n".write(to: rights, atomically: true, encoding: .utf8)
        // The broker reads it after it gave up its root privileges.
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

    @Test("TLS is used, and the broker's certificate is verified", arguments: MQTTVersion.allCases)
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

    @Test("Another authority or another name is not trusted, and the reason is reported")
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

    @Test("A required client certificate is sent, and a client without one is refused")
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

    @Test("A missing file for TLS is reported")
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
