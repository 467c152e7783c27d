import BeaconBroker
import BeaconMQTT
import BeaconModel
import BeaconSupport
import Foundation
import GatewayTestSupport
import HTTPTypes
import Testing

@testable import BeaconConsole
@testable import BeaconGateway

@Suite("The guided start")
struct GuidedStartTests {
    private func bench(_ folder: GatewayBench, listen: String = "127.0.0.1:8099") throws -> WebBench {
        var web = try #require(WebSettings(listening: listen))
        web.tokenHash = AccessToken.hash(of: RequestGuardTests.token)
        return try WebBench(web, bench: folder) { configuration in
            configuration = GuidedStart.configuration(
                writing: folder.folder.path + "/etc/beacond.yaml", web: web,
                token: AccessToken(RequestGuardTests.token), folder: folder.folder)
        }
    }

    private static let choice = """
        {"source":"simulation:museum?loop","webhook":"https://example.com/a?b=c#d",
         "regions":[{"name":"no: yes","uuid":"\(GatewayBench.uuid)","exit-timeout":"20s"}],
         "beacons":[{"name":"null","uuid":"\(GatewayBench.uuid)","major":1,"minor":1}],
         "rules":[{"name":"12","events":["near for 30s"],"regions":["no: yes"],"program":["/bin/echo","it's \\"here\\""]}]}
        """

    private func ask(_ bench: WebBench, _ path: String, _ body: String? = nil) async throws -> WebBench.Answer {
        try await bench.ask(
            body == nil ? .get : .post, path, headers: [.authorization: "Bearer \(RequestGuardTests.token)"], body: body
        )
    }

    @Test("The choices are written as an equivalent configuration, which is then read")
    func writing() async throws {
        let folder = try GatewayBench()
        let bench = try bench(folder)
        #expect(try await ask(bench, "/v1/status").json["setup"] as? Bool == true)
        let sources = try await ask(bench, "/v1/setup").json["sources"] as? [[String: Any]]
        #expect(sources?.first?["source"] as? String == "auto")
        let draft = try await ask(bench, "/v1/setup/draft", Self.choice)
        #expect((draft.json["faults"] as? [Any])?.isEmpty == true, "\(draft.body)")
        let written = try await ask(bench, "/v1/setup", Self.choice)
        #expect(written.status == 201 && written.json["token"] is NSNull)
        let file = folder.folder.path + "/etc/beacond.yaml"
        let checked = try GatewayConfiguration.check(file: file, environment: [:])
        #expect(checked.diagnostics.isEmpty)
        let configuration = checked.configuration
        #expect(configuration.regions.map(\.name) == ["no: yes"] && configuration.beacons.map(\.name) == ["null"])
        #expect(configuration.launch.rules.map(\.name) == ["12"])
        #expect(configuration.launch.rules.first?.target == .program(["/bin/echo", "it's \"here\""]))
        #expect(configuration.destinations.map(\.name) == ["webhook"])
        // A console for only this machine needs no token.
        #expect(configuration.web == WebSettings())
        #expect(bench.configurations.withLock { $0.map { $0 == nil } } == [true])
        // A second time is refused.
        #expect(try await ask(bench, "/v1/setup", Self.choice).status == 409)
    }

    @Test("Home Assistant's broker is written as a destination, and its password only to the secrets file")
    func broker() async throws {
        let folder = try GatewayBench()
        let bench = try bench(folder)
        let secret = #"pa ss"w$rd\'`#"#
        let choice: [String: Any] = [
            "source": "auto", "regions": [["name": "hall", "uuid": GatewayBench.uuid]],
            "broker": ["host": "homeassistant.local", "port": 1884, "user": "beacond", "password": secret],
        ]
        let body = String(decoding: try JSONSerialization.data(withJSONObject: choice), as: UTF8.self)
        let draft = try await ask(bench, "/v1/setup/draft", body)
        #expect((draft.json["faults"] as? [Any])?.isEmpty == true, "\(draft.body)")
        #expect(try await ask(bench, "/v1/setup", body).status == 201)
        let file = folder.folder.path + "/etc/beacond.yaml"
        #expect(try !String(contentsOfFile: file, encoding: .utf8).contains("w$rd"))
        let secrets = folder.folder.path + "/etc/beacond.env"
        let mode = try FileManager.default.attributesOfItem(atPath: secrets)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let checked = try GatewayConfiguration.check(file: file, environment: [:])
        #expect(checked.isUsable, "\(checked.diagnostics)")
        guard case .mqtt(let broker)? = checked.configuration.destinations.first?.kind else {
            return #expect(Bool(false), "there is no broker")
        }
        let connection = broker.connection
        #expect(connection.host == "homeassistant.local" && connection.port == 1884 && connection.user == "beacond")
        #expect(connection.password?.reveal() == secret && broker.homeAssistant.isEnabled)
    }

    @Test("Existing secrets stay, and a failed write changes nothing")
    func otherSecrets() async throws {
        let folder = try GatewayBench()
        let bench = try bench(folder)
        let etc = folder.folder.path + "/etc"
        try FileManager.default.createDirectory(atPath: etc, withIntermediateDirectories: true)
        let (file, secrets) = (etc + "/beacond.yaml", etc + "/beacond.env")
        let body = #"{"source":"auto","broker":{"host":"h","user":"u","password":"new"}}"#
        try "web: true\n".write(toFile: file, atomically: false, encoding: .utf8)
        try "MQTT_PASSWORD=old".write(toFile: secrets, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: secrets)
        #expect(try await ask(bench, "/v1/setup", body).status == 409)
        #expect(try String(contentsOfFile: secrets, encoding: .utf8) == "MQTT_PASSWORD=old")
        try FileManager.default.removeItem(atPath: file)
        #expect(try await ask(bench, "/v1/setup", body).status == 201)
        #expect(
            try String(contentsOfFile: secrets, encoding: .utf8) == "MQTT_PASSWORD=old\nMQTT_PASSWORD_2=\"new\"\n")
        #expect(try FileManager.default.attributesOfItem(atPath: secrets)[.posixPermissions] as? Int == 0o640)
        guard
            case .mqtt(let broker)? = try GatewayConfiguration.check(file: file, environment: [:]).configuration
                .destinations.first?.kind
        else { return #expect(Bool(false), "there is no broker") }
        #expect(broker.connection.password?.reveal() == "new")
        // The service reads the file as another user.
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o644)
    }

    @Test("A link to an empty configuration stays a link, and no other user can write the file")
    func link() async throws {
        let folder = try GatewayBench()
        let bench = try bench(folder)
        let etc = folder.folder.path + "/etc"
        try FileManager.default.createDirectory(atPath: etc, withIntermediateDirectories: true)
        try "regions:\n".write(toFile: etc + "/real.yaml", atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: etc + "/real.yaml")
        try FileManager.default.createSymbolicLink(
            atPath: etc + "/beacond.yaml", withDestinationPath: etc + "/real.yaml")
        #expect(try await ask(bench, "/v1/setup", Self.choice).status == 201)
        let attributes = try FileManager.default.attributesOfItem(atPath: etc + "/beacond.yaml")
        #expect(attributes[.type] as? FileAttributeType == .typeSymbolicLink)
        let mode = try FileManager.default.attributesOfItem(atPath: etc + "/real.yaml")[.posixPermissions]
        #expect(mode as? Int == 0o644)
        #expect(try String(contentsOfFile: etc + "/real.yaml.old", encoding: .utf8) == "regions:\n")
    }

    @Test(
        "A broker's faults have their keys",
        arguments: [
            (#""mqtt://a""#, "broker.host"), (#""""#, "broker.host"),
            (#""a","user":"u","password":"a\nBEACOND_LOG_LEVEL=debug""#, "broker.password"),
        ])
    func brokerFaults(host: String, key: String) async throws {
        let bench = try bench(GatewayBench())
        let body = #"{"source":"auto","broker":{"host":\#(host)}}"#
        let faults = try await ask(bench, "/v1/setup/draft", body).json["faults"] as? [[String: Any]] ?? []
        #expect(faults.compactMap { $0["key"] as? String } == [key])
    }

    @Test(
        "A broker is checked before it is written",
        arguments: [
            (#"{"host":"127.0.0.1","port":1}"#, "broker.host"), (#"{"host":"mqtt://a"}"#, "broker.host"),
            (#"{"host":"a","port":70000}"#, "broker.port"), (#"{"host":"127.0.0.1","password":"a"}"#, "broker.user"),
            (#"{"host":"a","user":"u","password":"a\nb"}"#, "broker.password"),
        ])
    func trial(broker: String, key: String) async throws {
        let bench = try bench(GatewayBench())
        let faults = try await ask(bench, "/v1/setup/broker", broker).json["faults"] as? [[String: Any]] ?? []
        #expect(faults.compactMap { $0["key"] as? String } == [key])
    }

    @Test("A broker is given as a host, including IPv6, or as an address")
    func names() throws {
        typealias Broker = GuidedStart.Choice.Broker
        for host in ["homeassistant.local", "192.168.1.2", "::1"] {
            let broker = try Broker(host)
            #expect(broker.host == host && broker.port == nil && broker.user == nil && broker.tls == nil)
        }
        let whole = try Broker("mqtts://jane@[::1]:8884")
        #expect(whole.host == "::1" && whole.port == 8884 && whole.user == "jane" && whole.tls == true)
        for text in ["", "http://a", "a:0", "mqtt://a/topic", "jane:secret@a", "mqtt://jane:secret@a"] {
            #expect(throws: Broker.InvalidBroker.self) { try Broker(text) }
        }
    }

    @Test("A file that configures nothing is replaced and kept as a copy, and any other file is not")
    func replacing() async throws {
        let folder = try GatewayBench()
        let bench = try bench(folder)
        let file = folder.folder.path + "/etc/beacond.yaml"
        try FileManager.default.createDirectory(
            atPath: folder.folder.path + "/etc", withIntermediateDirectories: true)
        for text in [
            "sources: [auto]\nregions: [{ name: a, uuid: \(GatewayBench.uuid) }]\n", "a: [", "web: true\n",
            "sources: [mqtt://a]\n", "- a\n", "outbox: { path: a }\n",
        ] {
            try text.write(toFile: file, atomically: false, encoding: .utf8)
            #expect(!GuidedStart.mayWrite(file))
            #expect(try await ask(bench, "/v1/setup", Self.choice).status == 409)
            #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
        }
        let idle = "# as it is installed\nsources: [auto]\nregions: []\n"
        try idle.write(toFile: file, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        #expect(GuidedStart.mayWrite(file))
        #expect(try await ask(bench, "/v1/setup", Self.choice).status == 201)
        #expect(try String(contentsOfFile: file + ".old", encoding: .utf8) == idle)
        #expect(try GatewayConfiguration.check(file: file, environment: [:]).configuration.regions.count == 1)
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o644)
    }

    @Test("A console for other machines keeps its address and its token")
    func listening() async throws {
        let folder = try GatewayBench()
        let bench = try bench(folder, listen: "0.0.0.0:9000")
        let answer = try await ask(bench, "/v1/setup", #"{"source":"simulation:museum"}"#)
        #expect(answer.status == 201)
        // The browser that wrote it is signed in with it.
        #expect(answer.json["token"] as? String == RequestGuardTests.token)
        let web = try GatewayConfiguration.check(
            file: folder.folder.path + "/etc/beacond.yaml", environment: [:]
        ).configuration.web
        #expect(web?.host == "0.0.0.0" && web?.port == 9000)
        #expect(web?.tokenHash == AccessToken.hash(of: RequestGuardTests.token))
    }

    @Test("A fault is reported before anything is written, and an invalid source is not used")
    func faults() async throws {
        let folder = try GatewayBench()
        let bench = try bench(folder)
        let body = #"{"source":"auto","regions":[{"name":"a","uuid":"x"}],"webhook":"nowhere"}"#
        func keys(_ body: String) async throws -> [String] {
            let faults = try await ask(bench, "/v1/setup/draft", body).json["faults"] as? [[String: Any]] ?? []
            return faults.compactMap { $0["key"] as? String }
        }
        #expect(try await keys(body) == ["regions.0.uuid"])
        #expect(try await keys(#"{"source":"auto","webhook":"nowhere"}"#) == ["webhook"])
        #expect(try await keys(#"{"source":"simulation:nowhere"}"#) == ["source"])
        #expect(try await ask(bench, "/v1/setup", body).status == 422)
        #expect(!FileManager.default.fileExists(atPath: folder.folder.path + "/etc"))
        func put(_ source: String) async throws -> Int {
            try await bench.ask(
                .put, "/v1/setup/source", headers: [.authorization: "Bearer \(RequestGuardTests.token)"],
                body: #"{"source":"\#(source)"}"#
            ).status
        }
        #expect(try await put("simulation:nowhere") == 422)
        #expect(try await put("simulation:museum?loop") == 202)
        #expect(
            bench.configurations.withLock { $0.map { $0?.sources.map(\.name) ?? [] } } == [["simulation:museum?loop"]])
    }

    @Test("With a configuration, the guided start is over")
    func over() async throws {
        let bench = try WebBench()
        #expect(try await bench.ask(.get, "/v1/setup").status == 409)
        let answer = try await bench.ask(
            .post, "/v1/setup", headers: [.consoleRequest: "1"], body: #"{"source":"auto"}"#)
        #expect(answer.status == 409)
    }
}
