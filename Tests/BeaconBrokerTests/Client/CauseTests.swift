import BeaconBroker
import BrokerTestSupport
import Foundation
import TestSupport
import Testing

/// An error states a cause only if the broker or the system reported it. Otherwise it lists possible causes.
@Suite("Causes in connection errors", .fewAtATime)
struct CauseTests {
    /// The versions that a user may set.
    static let versions: [MQTTVersion?] = [nil, .v3_1_1, .v5]

    @Test(
        "A refused user is reported, without a guess at the wrong name, password or permission", arguments: versions)
    func credentials(version: MQTTVersion?) async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("passwords").path
        try ChildProcess.run("mosquitto_passwd", "-b", "-c", file, "ann", "open sesame")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        let broker = try await Broker("allow_anonymous false\npassword_file \(file)", in: folder)
        var options = MQTTSettings.test(port: broker.port, version: version)
        for (user, password) in [("ann", "open barley"), ("bob", "open sesame")] {
            (options.user, options.password) = (user, Secret(password))
            let error = try await MQTTClient.fault(options)
            #expect(error.code == .badCredentials && error.reason?.rawValue == 0x87)
            #expect(error.description.contains("user \(user)") && error.description.contains("not authorized"))
            #expect(error.possibleCauses.count == 3 && !error.description.contains("open"))
        }
        (options.user, options.password) = (nil, nil)
        let error = try await MQTTClient.fault(options)
        #expect(error.code == .notAuthorized && error.description.contains("requires a user"))
    }

    @Test("A message that the user may not publish is reported if the broker sends a reason")
    func right() async throws {
        let folder = try TemporaryFolder()
        let rights = folder.url.appendingPathComponent("acl")
        try "topic write allowed/#\n".write(to: rights, atomically: true, encoding: .utf8)
        let broker = try await Broker("allow_anonymous true\nacl_file \(rights.path)", in: folder)
        let client = try MQTTClient(.test(port: broker.port, version: nil))
        try await running(client.run) {
            let error = await #expect(throws: MQTTError.self) {
                try await client.publish(MQTTMessage(topic: "forbidden", text: "abc", isRetained: true))
            }
            #expect(error?.code == .notAuthorized && error?.possibleCauses.isEmpty == true)
            #expect(
                error?.message == "The broker at 127.0.0.1:\(broker.port) refused the message at forbidden (3 bytes, "
                    + "retained): not authorized.")
        }
    }

    @Test("A second client with the same id is reported, or listed as a possible cause", arguments: versions)
    func clash(version: MQTTVersion?) async throws {
        let broker = try await Broker()
        let options = MQTTSettings.test(port: broker.port, version: version)
        let first = Task { try await MQTTClient.fault(options) }
        let other = try MQTTClient(options)
        let error = try await running(other.run) { try await first.value }
        #expect(error.code == .connectionLost && error.description.contains("client id"))
        // Debian's broker of version 2.0.11 ends the first connection without a reason, even with MQTT 5.
        if error.reason?.rawValue == 0x8E {
            #expect(version != .v3_1_1 && error.possibleCauses.isEmpty, "\(error)")
        } else {
            #expect(error.possibleCauses.contains("another client has the client id gateway"), "\(error)")
        }
    }

    @Test("Possible causes are listed if only the broker uses TLS", arguments: versions)
    func tls(version: MQTTVersion?) async throws {
        let certificates = try Certificates()
        let secured = try await Broker(certificates.brokerSettings, in: certificates.folder)
        var options = MQTTSettings.test(port: secured.port, version: version)
        options.host = "localhost"
        let closed = try await MQTTClient.fault(options)
        #expect(closed.code == .connectionLost && closed.possibleCauses.first == "the port requires TLS", "\(closed)")
        #expect(closed.message.contains("in answer to CONNECT") && closed.message.contains("client id gateway"))
    }

    /// A connection that TLS prevents.
    struct TLSFault: Sendable, CustomTestStringConvertible {
        /// The words of its cause.
        var words: String
        /// The broker's certificate; nil for a broker without TLS.
        var broker: String? = "broker"
        /// More lines of the broker's configuration.
        var settings = ""
        var host = "localhost"
        var authority = "authority.pem"
        /// The names of the client's certificate and of its key.
        var client: (certificate: String, key: String)?
        var testDescription: String { words }
    }

    static let faults = [
        TLSFault(words: "not from an authority that is trusted here", authority: "other-authority.pem"),
        TLSFault(words: "trusted here; name the certificate of that authority", broker: "self-signed"),
        TLSFault(words: "certificate has expired", broker: "expired"),
        TLSFault(words: "certificate is not for this host; use a name", broker: "elsewhere"),
        TLSFault(words: "certificate is not for this host; use", host: "127.0.0.1"),
        TLSFault(words: "does not speak TLS", broker: nil),
        TLSFault(words: "the broker requires a client certificate", settings: "require_certificate true"),
        TLSFault(
            words: "does not accept the certificate of certificate-file", settings: "require_certificate true",
            client: ("foreign.pem", "foreign.key")),
        TLSFault(
            words: "accept the certificate of certificate-file", settings: "require_certificate true",
            client: ("old.pem", "old.key")),
        TLSFault(words: "ca-file has no certificate", authority: "names"),
        TLSFault(words: "certificate-file has no certificate", client: ("names", "client.key")),
        TLSFault(words: "key-file is not the key", client: ("client.pem", "broker.key")),
    ]

    @Test("The one cause of a failed TLS connection is named, with its remedy", arguments: faults)
    func tlsCause(fault: TLSFault) async throws {
        let certificates = try Certificates()
        try certificates.issueSelfSigned("self-signed")
        try certificates.issue("expired", days: -1)
        try certificates.issue("elsewhere", for: "elsewhere")
        try certificates.issue("foreign", by: "other-authority")
        try certificates.issue("old", days: -1)
        let secured = fault.broker.map { certificates.settings(of: $0) } ?? ""
        let broker = try await Broker(
            "allow_anonymous true\n\(secured)\n\(fault.settings)", in: certificates.folder)
        var options = MQTTSettings.test(port: broker.port, version: nil)
        options.host = fault.host
        options.tls = MQTTTLSSettings(
            authorityFile: certificates.path(fault.authority),
            certificateFile: fault.client.map { certificates.path($0.certificate) },
            keyFile: fault.client.map { certificates.path($0.key) })
        let error = try await MQTTClient.fault(options)
        // The alert about a client's certificate may be lost.
        let late = "closed the connection after the handshake"
        let words = fault.settings.isEmpty ? [fault.words] : [fault.words, late]
        #expect(error.code == .tlsFailed && words.contains { error.message.contains($0) }, "\(error)")
        #expect(error.possibleCauses.isEmpty && error.cause != nil && error.message.contains(";"), "\(error)")
    }

    @Test("A closed port and an unknown name have the system's cause", arguments: versions)
    func unreachable(version: MQTTVersion?) async throws {
        var options = MQTTSettings.test(port: try FreePort.find(), version: version)
        let closed = try await MQTTClient.fault(options)
        // libmosquitto 2.1 does not report the system's reason.
        let words = ["(Connection refused)", "(no connection was established)"]
        #expect(closed.code == .unreachable && words.contains { closed.description.contains($0) }, "\(closed)")
        options.host = "broker.invalid"
        let unknown = try await MQTTClient.fault(options)
        #expect(unknown.code == .hostUnknown && unknown.message == "Cannot resolve the broker's host broker.invalid.")
        #expect(unknown.possibleCauses.count == 2)
    }

    @Test("An older broker is a cause only if version 5 is required", arguments: [[0x20, 2, 0, 1], []] as [[UInt8]])
    func olderBroker(answer: [UInt8]) async throws {
        let broker = try await Broker()
        let older = try BrokerProxy(to: broker.port, answeringVersion5With: answer)
        let client = try MQTTClient(.test(port: older.port, version: nil))
        try await running(client.run) {
            try await client.publish(MQTTMessage(topic: "a", text: "b"))
            // Further connections keep the version.
            older.cut()
            try await eventually("it publishes again") {
                (try? await client.publish(MQTTMessage(topic: "a", text: "b"))) != nil
            }
        }
        let error = try await MQTTClient.fault(.test(port: older.port, version: .v5))
        // libmosquitto 2.1 treats the older broker's answer as incomplete.
        if error.possibleCauses.isEmpty {
            #expect(!answer.isEmpty && error.reason?.rawValue == 0x84, "\(error)")
        } else {
            #expect(error.possibleCauses.contains("the broker does not speak MQTT 5"), "\(error)")
        }
    }
}
