import BeaconBroker
import BeaconConfiguration
import BeaconModel
import BeaconMonitoring
import BeaconReceivers
import BeaconSupport
import Foundation
import GatewayTestSupport
import HTTPTypes
import TestSupport
import Testing

@testable import BeaconConsole
@testable import BeaconGateway

@Suite("The guided start: receivers")
struct ReceiverSearchTests {
    private static let secret = "pa ss"
    private static let key = Data(repeating: 7, count: 32).base64EncodedString()
    private static let beacon = """
        {"id":"C0:00:00:00:00:01","rssi":-61,"uuid":"\(GatewayBench.uuid)","major":1,"minor":2,"mfid":"4c00",\
        "manufacturerdata":"4c000215\(GatewayBench.uuid.filter { $0 != "-" })00010002c5"}
        """

    private static func bench(_ folder: GatewayBench) throws -> WebBench {
        var web = WebSettings()
        web.tokenHash = AccessToken.hash(of: RequestGuardTests.token)
        return try WebBench(web, bench: folder) { [web] configuration in
            configuration = GuidedStart.configuration(
                writing: folder.folder.path + "/etc/beacond.yaml", web: web,
                token: AccessToken(RequestGuardTests.token), folder: folder.folder)
        }
    }

    private static func ask(
        _ bench: WebBench, _ method: HTTPRequest.Method, _ path: String, _ body: String
    ) async throws -> WebBench.Answer {
        try await bench.ask(
            method, path, headers: [.authorization: "Bearer \(RequestGuardTests.token)"], body: body)
    }

    private static let start = Timestamp(nanoseconds: 1_000_000_000_000)

    private static func search() throws -> BrokerSearch {
        BrokerSearch(try #require(BrokerSource("mqtt://me:\(secret.replacing(" ", with: "x"))@broker:1884")), at: start)
    }

    private static func after(_ seconds: Int64) -> Timestamp {
        start.advanced(by: seconds * Timestamp.nanosecondsPerSecond)
    }

    private static func message(_ topic: String, _ text: String) -> BrokerSearch.Input {
        .event(.message(MQTTMessage(topic: topic, text: text)))
    }

    @Test("Receivers are listed with their kind, topic, adverts a minute and beacons")
    func receivers() throws {
        var search = try Self.search()
        search.receive(.event(.connected), at: Self.start)
        for second in 0..<20 {
            search.receive(
                Self.message(
                    "home/OMG_hall/BTtoMQTT/C00000000001", Self.beacon.replacing("-61", with: "-\(50 + second)")),
                at: Self.after(Int64(second)))
        }
        search.receive(
            Self.message(
                "espresense/devices/iBeacon:\(GatewayBench.uuid)-1-3/livingroom",
                #"{"id":"iBeacon:\#(GatewayBench.uuid)-1-3","rssi":-70,"distance":2.0}"#),
            at: Self.after(20))
        let found = search.found(at: Self.after(20))
        #expect(found.state == .listening && found.faults.isEmpty)
        #expect(found.receivers.map(\.name) == ["OMG_hall", "livingroom"])
        #expect(found.receivers.map(\.kind) == ["OpenMQTTGateway", "ESPresense"])
        #expect(found.receivers.first?.topic == "home/OMG_hall" && found.receivers.first?.advertsPerMinute == 60)
        #expect(found.receivers.first?.beacons.map(\.minor) == [2])
        #expect(found.hints.map(\.kind) == [.smoothed])
    }

    @Test("A refused connection ends the search with a fault that names the field, and never the password")
    func refusal() throws {
        for (code, key, words) in [
            (MQTTError.Code.unreachable, "broker.host", "Nothing answers at broker:1884. Is the broker started?"),
            (.badCredentials, "broker.password", "The broker refuses the user or the password."),
        ] {
            var search = try Self.search()
            search.receive(.event(.disconnected(MQTTError(code, "It failed."))), at: Self.after(1))
            let found = search.found(at: Self.after(1))
            #expect(found.state == .failed && search.isOver)
            #expect(found.faults.map(\.key) == [key] && found.faults.first?.detail.hasPrefix(words) == true)
        }
        var silent = try Self.search()
        #expect(silent.found(at: Self.after(11)).state == .connecting)
        #expect(silent.found(at: Self.after(13)).faults.map(\.key) == ["broker.host"])
    }

    @Test("After 30 s of silence the hints name the topics, and the right to read only if no test message came back")
    func silence() throws {
        for returns in [true, false] {
            var search = try Self.search()
            search.receive(.event(.connected), at: Self.start)
            if returns { search.receive(Self.message(search.probe, "test"), at: Self.after(1)) }
            #expect(search.found(at: Self.after(29)).hints.isEmpty)
            let hints = search.found(at: Self.after(30)).hints
            #expect(hints.map(\.kind) == (returns ? [.silent] : [.unreadable, .silent]))
            #expect(hints.allSatisfy { $0.detail.contains("espresense/devices/+/+") })
        }
        var refused = try Self.search()
        refused.receive(.event(.connected), at: Self.start)
        for filter in refused.filters { refused.receive(.refused(filter), at: Self.after(1)) }
        #expect(refused.found(at: Self.after(2)).hints.map(\.kind) == [.refused])
    }

    @Test("The receivers at a real broker are found by the route, and nothing contains the password")
    func route() async throws {
        let broker = try await Broker("allow_anonymous true")
        let client = try MQTTClient(MQTTSettings(host: "127.0.0.1", port: broker.port, announcesAvailability: false))
        let run = Task { await client.run() }
        let sending = Task {
            while !Task.isCancelled {
                try? await client.publish(MQTTMessage(topic: "home/OMG_hall/BTtoMQTT/C00000000001", text: Self.beacon))
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
        let bench = try Self.bench(GatewayBench())
        let answer = try await Self.ask(
            bench, .post, "/v1/setup/listen?seconds=4",
            #"{"broker":{"host":"127.0.0.1","port":\#(broker.port),"user":"me","password":"\#(Self.secret)"}}"#)
        sending.cancel()
        run.cancel()
        #expect(answer.status == 200 && answer.headers[.contentType] == "text/event-stream")
        #expect(answer.body.contains(#""name":"OMG_hall""#) && answer.body.contains(#""minor":2"#), "\(answer.body)")
        #expect(!answer.body.contains(Self.secret) && !bench.bench.lines.all.contains { $0.contains(Self.secret) })
        let refused = try await Self.ask(
            bench, .post, "/v1/setup/listen", #"{"broker":{"host":"a","password":"\#(Self.secret)"}}"#)
        #expect(refused.status == 422 && !refused.body.contains(Self.secret))
        let other = try await Self.ask(bench, .post, "/v1/setup/listen", #""auto""#)
        #expect(other.status == 422 || other.status == 400)
    }

    @Test("Several sources and rooms are written, with their secrets only in the file of secrets, and can be used")
    func writing() async throws {
        let folder = try GatewayBench()
        let bench = try Self.bench(folder)
        let broker = #"{"host":"homeassistant.local","user":"beacond","password":"\#(Self.secret)"}"#
        let choice = """
            {"source":[{"broker":\(broker),"receivers":{"home/OMG_1":"hall"}},
              {"esphome":{"hosts":["kitchen.local"],"key":"\(Self.key)","take":true}},
              {"esphome":{"hosts":["attic.local"]}},"auto"],
             "places":[{"name":"Hall","receivers":["hall"]},{"name":"Kitchen","receivers":["kitchen"]}],
             "broker":\(broker),"proxy":true}
            """
        let sources = try await Self.ask(
            bench, .put, "/v1/setup/source", #"{"source":[{"broker":\#(broker)},"auto"]}"#)
        #expect(sources.status == 202 && sources.json["source"] as? String == "receivers, auto", "\(sources.body)")
        let running = bench.configurations.withLock { $0.last ?? nil }
        #expect((running?.sources.first?.specification.network as? BrokerSource)?.options.user == "beacond")
        let draft = try await Self.ask(bench, .post, "/v1/setup/draft", choice)
        #expect((draft.json["faults"] as? [Any])?.isEmpty == true, "\(draft.body)")
        let written = try await Self.ask(bench, .post, "/v1/setup", choice)
        #expect(written.status == 201)
        for answer in [sources, draft, written] {
            #expect(!answer.body.contains(Self.secret) && !answer.body.contains(Self.key))
        }
        #expect(!bench.bench.lines.all.contains { $0.contains(Self.secret) || $0.contains(Self.key) })
        let file = folder.folder.path + "/etc/beacond.yaml"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(!text.contains(Self.secret) && !text.contains(Self.key))
        let checked = try GatewayConfiguration.check(file: file, environment: [:])
        #expect(checked.isUsable && !checked.diagnostics.contains { $0.severity == .error }, "\(checked.diagnostics)")
        let configuration = checked.configuration
        #expect(configuration.sources.map(\.name) == ["receivers", "proxies", "proxies 2", "auto"])
        let source = configuration.sources.first?.specification.network as? BrokerSource
        #expect(source?.options.password == Secret(Self.secret) && source?.network.names == ["home/OMG_1": "hall"])
        let proxies = configuration.sources[1].specification.network as? ESPHomeSource
        #expect(proxies?.key == Secret(Self.key) && proxies?.mayTake == true)
        #expect(configuration.places?.placeNames == ["Hall", "Kitchen"])
        // Both connections use one variable.
        #expect(text.components(separatedBy: "env: MQTT_PASSWORD").count == 3 && !text.contains("MQTT_PASSWORD_2"))
    }

    @Test(
        "A fault of a source has the key of its field",
        arguments: [
            (#"{"broker":{"host":""}}"#, "source.broker.host"),
            (#"[{"broker":{"host":"a","port":70000}}]"#, "source.0.broker.port"),
            (#"{"broker":{"host":"a","password":"b"}}"#, "source.broker.user"),
            (#"{"broker":{"host":"a","user":"u","password":"a\nb"}}"#, "source.broker.password"),
            (#"{"esphome":{"hosts":["a"],"key":"short"}}"#, "source.esphome.key"),
            (#"["auto","capture.pcap"]"#, "source.1"), ("[]", "source"),
        ])
    func faults(source: String, key: String) async throws {
        let bench = try Self.bench(GatewayBench())
        let draft = try await Self.ask(bench, .post, "/v1/setup/draft", #"{"source":\#(source)}"#)
        let faults = draft.json["faults"] as? [[String: Any]] ?? []
        #expect(faults.compactMap { $0["key"] as? String } == [key], "\(draft.body)")
        #expect(try await Self.ask(bench, .put, "/v1/setup/source", #"{"source":\#(source)}"#).status == 422)
    }
}
