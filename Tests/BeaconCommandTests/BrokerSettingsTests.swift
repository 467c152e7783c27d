import Foundation
import TestSupport
import Testing

/// Every command that connects to a broker, with every setting of a connection.
@Suite("The settings of a broker on the command line", .fewAtATime)
struct BrokerSettingsTests {
    private static let uuid = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"

    /// A command, with the address of its broker and a file that it may write.
    struct Command: Sendable, CustomTestStringConvertible {
        var words: @Sendable (_ address: String, _ file: String) throws -> [String]
        var testDescription: String { (try? words("ADDRESS", "FILE").first) ?? "" }
    }

    static let commands: [Command] = [
        Command { address, _ in ["scan", "--source", address] },
        Command { address, _ in ["range", "--source", address] },
        Command { address, _ in ["monitor", "--region", uuid, "--source", address] },
        Command { address, file in ["record", file, "--source", address] },
        Command { address, _ in ["calibrate", "--source", address] },
        Command { address, file in ["teach", "kitchen", "--seconds", "3600", "--file", file, "--source", address] },
        Command { address, _ in ["places", "--place", "hall=a", "--source", address] },
        Command { address, _ in ["proxy", "--no-announce", "--port", "\(try FreePort.find())", "--source", address] },
        Command { address, _ in ["relay", address, "--source", "simulation:museum?loop"] },
    ]

    @Test(
        "The broker gets the certificate, the version, the client id, the user and the keep-alive", arguments: commands)
    func settings(command: Command) async throws {
        let certificates = try Certificates()
        let passwords = certificates.path("passwords")
        try ChildProcess.run("mosquitto_passwd", "-b", "-c", passwords, "ann", "open sesame")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: passwords)
        let broker = try await Broker(
            certificates.settings(of: "broker") + "\nrequire_certificate true\nallow_anonymous false\n"
                + "password_file \(passwords)", in: certificates.folder)
        let files = [("ca-file", "authority.pem"), ("certificate-file", "client.pem"), ("key-file", "client.key")]
        let address =
            "mqtts://ann@localhost:\(broker.port)?version=3.1.1&client-id=hall%26co&keep-alive=17s"
            + files.map { "&\($0.0)=\(certificates.path($0.1))" }.joined()
        let run = try ProgramRun(
            command.words(address, certificates.path("output")), environment: ["BEACON_BROKER_PASSWORD": "open sesame"])
        // The log of mosquitto names the version 3.1.1 "p2".
        let log = certificates.folder.url.appendingPathComponent("log")
        try await eventually {
            let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
            return text.contains("as hall&co (p2, c1, k17, u'ann')") || !run.process.isRunning
        }
        #expect(run.process.isRunning, "\(run.errors)")
    }

    @Test("A setting that is not valid ends the command at once, with its remedy", arguments: commands)
    func mistakes(command: Command) async throws {
        let folder = try TemporaryFolder()
        for (query, words) in [
            ("mqtts://h?cafile=/a", "a setting after the ? is unknown; the settings are version, client-id"),
            ("mqtts://h?ca-file", "has no value"), ("mqtts://h?version=5&version=5", "occurs twice"),
            ("mqtts://h?version=4", "version is not valid; write 3.1.1 or 5"),
            ("mqtts://h?keep-alive=1s", "write 5 to 65535 seconds"),
            ("mqtts://h?client-id=", "clientID is empty"), ("mqtts://h?keep-alive=soon", "keep-alive is not valid"),
            ("mqtts://h?client-id=a@b", "@ as %40"),
            ("mqtts://h?client-id=%zz", "write % as %25"),
            ("mqtts://h?ca-file=/no/ca", "ca-file cannot be read here; write the path of a file"),
            ("mqtts://h?certificate-file=/etc/passwd", "give both files or none"),
            ("mqtt://h?ca-file=/etc/passwd", "ca-file is for a connection with TLS; write mqtts://"),
        ] {
            let outcome = try await BeaconProgram.run(command.words(query, folder.url.path + "/output"))
            #expect([1, 2].contains(outcome.status) && outcome.errors.contains(words), "\(outcome.errors)")
        }
    }

    @Test("A command names the one cause for which TLS fails")
    func cause() async throws {
        let certificates = try Certificates()
        let broker = try await Broker(certificates.brokerSettings, in: certificates.folder)
        let run = try ProgramRun(["scan", "--source", "mqtts://localhost:\(broker.port)"])
        try await eventually { run.errors.contains("Trying again") }
        #expect(run.errors.contains("is not from an authority that is trusted here; name"), "\(run.errors)")
        #expect(!run.errors.contains("Possible causes"), "\(run.errors)")
    }

    @Test("The help lists all settings of a connection")
    func help() async throws {
        let outcome = try await BeaconProgram.run("--help")
        for key in ["ca-file", "certificate-file", "key-file", "version", "client-id", "keep-alive"] {
            #expect(outcome.output.contains("\(key)="), "\(key)")
        }
    }
}
