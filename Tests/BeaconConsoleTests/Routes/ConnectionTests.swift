import BeaconConfiguration
import BeaconDelivery
import BeaconMonitoring
import BeaconSupport
import Foundation
import GatewayTestSupport
import HTTPTypes
import TestSupport
import Testing

@testable import BeaconConsole
@testable import BeaconGateway

@Suite("Sources and destinations of the console")
struct ConnectionTests {
    /// A console whose configuration is in a file.
    private struct House {
        let web: WebBench
        let path: String
        let environment: [String: String]

        init(_ rest: String = "sources: []", environment: [String: String] = [:]) throws {
            let bench = try GatewayBench()
            path = bench.folder.appendingPathComponent("beacond.yaml").path
            self.environment = environment
            let text = "web: true\noutbox: { path: \(bench.folder.path)/beacond.sqlite }\n\(rest)\n"
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            let checked = try GatewayConfiguration.check(file: path, environment: environment)
            try #require(checked.isUsable, "\(checked.diagnostics)")
            web = try WebBench(bench: bench) { $0 = checked.configuration }
        }

        var secrets: StoredSecrets {
            StoredSecrets(besideStore: web.bench.folder.appendingPathComponent("beacond.sqlite").path)
        }

        func send(_ method: HTTPRequest.Method, _ path: String, _ body: String? = nil) async throws -> WebBench.Answer {
            try await web.ask(method, "/v1/" + path, headers: [.consoleRequest: "1"], body: body)
        }

        /// The configuration after a restart.
        func later() async throws -> GatewayConfiguration {
            let file = try GatewayConfiguration.check(file: path, environment: environment).configuration
            return file.adding(try await web.state.items.all())
        }
    }

    private static func webhook(_ settings: DestinationSettings?) -> WebhookSettings? {
        guard case .webhook(let webhook)? = settings?.kind else { return nil }
        return webhook
    }

    @Test("A source and a destination are added, replaced and removed, and survive a restart")
    func life() async throws {
        let house = try House()
        let source = try await house.send(.post, "sources", #"{"name":"museum","from":"simulation:museum?loop"}"#)
        #expect(source.status == 201 && source.json["kind"] as? String == "simulation", "\(source.body)")
        let cloud = #"{"name":"cloud","type":"webhook","url":"https://example.com/a"}"#
        #expect(try await house.send(.post, "destinations", cloud).status == 201)
        #expect(try await house.send(.post, "destinations", cloud).status == 409)
        let other = cloud.replacing("/a", with: "/b").replacing("cloud", with: "shop")
        #expect(try await house.send(.put, "destinations/cloud", other).status == 200)
        let later = try await house.later()
        #expect(later.sources.map(\.name) == ["museum"])
        #expect(later.destinations.map(\.name) == ["shop"])
        #expect(Self.webhook(later.destinations.first)?.url.path == "/b")
        #expect(await house.web.gateway.configuration.destinations == later.destinations)
        #expect(try await house.send(.delete, "destinations/shop").status == 204)
        #expect(try await house.send(.delete, "sources/museum").status == 204)
        #expect(try await house.later().sources.isEmpty)
    }

    @Test("An entered password becomes a secret, which a later change keeps or replaces")
    func secrets() async throws {
        let house = try House()
        let body = #"{"name":"Our cloud","type":"webhook","url":"https://example.com","secret":"open sesame"}"#
        let added = try await house.send(.post, "destinations", body)
        #expect(added.status == 201, "\(added.body)")
        let name = "destination-our-cloud-secret"
        #expect(try house.secrets.value(of: name) == Secret("open sesame"))
        let list = try await house.send(.get, "destinations")
        #expect(list.body.contains(name) && !(added.body + list.body).contains("sesame"))
        #expect(try await !house.web.state.items.all().contains { "\($0.settings)".contains("sesame") })
        #expect(Self.webhook(try await house.later().destinations.first)?.signingSecrets == [Secret("open sesame")])
        let uses = try await house.send(.delete, "secrets/\(name)")
        #expect(uses.status == 409 && uses.body.contains("Our cloud"), "\(uses.body)")
        let kept = body.replacing(#""open sesame""#, with: #"{"secret":"\#(name)"}"#)
        #expect(try await house.send(.put, "destinations/Our%20cloud", kept).status == 200)
        #expect(house.secrets.all.map(\.name) == [name])
        let replaced = body.replacing("open sesame", with: "close sesame")
        #expect(try await house.send(.put, "destinations/Our%20cloud", replaced).status == 200)
        #expect(house.secrets.all.map(\.name) == [name])
        #expect(try house.secrets.value(of: name) == Secret("close sesame"))
        let configuration = await house.web.gateway.configuration
        #expect(Self.webhook(configuration.destinations.first)?.signingSecrets == [Secret("close sesame")])
    }

    @Test("An entered password goes with the last item that uses it, and a secret that was set by itself stays")
    func removedSecrets() async throws {
        let house = try House()
        let name = "destination-a-secret"
        let body = #"{"name":"a","type":"webhook","url":"https://example.com","secret":"open sesame"}"#
        #expect(try await house.send(.post, "destinations", body).status == 201)
        let other = #"{"name":"b","type":"webhook","url":"https://example.com/b","secret":{"secret":"\#(name)"}}"#
        #expect(try await house.send(.post, "destinations", other).status == 201)
        #expect(try await house.send(.put, "secrets/own", #"{"value":"other sesame"}"#).status == 200)
        let own = other.replacing(#""b""#, with: #""c""#).replacing("/b", with: "/c").replacing(name, with: "own")
        #expect(try await house.send(.post, "destinations", own).status == 201)
        #expect(try await house.send(.delete, "destinations/a").status == 204)
        #expect(house.secrets.all.map(\.name) == [name, "own"])
        #expect(try await house.send(.delete, "destinations/c").status == 204)
        #expect(try await house.send(.delete, "destinations/b").status == 204)
        #expect(house.secrets.all.map(\.name) == ["own"])
    }

    @Test("A refused change stores no secret, and names the key")
    func refused() async throws {
        let house = try House()
        for (body, key) in [
            (#"{"name":"a","type":"webhook","url":"nowhere","secret":"s"}"#, "url"),
            (#"{"name":"a","type":"mqt","secret":"s"}"#, "type"),
            (#"{"name":"a","type":"mqtt","host":"h","port":70000,"user":"u","password":"s"}"#, "port"),
        ] {
            let answer = try await house.web.ask(
                .post, "/v1/destinations", headers: [.consoleRequest: "1"],
                body: body.replacing(#""mqt""#, with: #""webhook","surplus":1,"url":"https://a.b""#))
            let keys = (answer.json["errors"] as? [[String: Any]])?.compactMap { $0["key"] as? String }
            #expect(answer.status == 422, "\(answer.body)")
            if key != "type" { #expect(keys?.contains(key) == true, "\(answer.body)") }
        }
        #expect(house.secrets.all.isEmpty)
        #expect(try await house.web.state.items.all().isEmpty)
    }

    @Test("The console cannot refer to variables, files and captures, since every user of it could read them")
    func references() async throws {
        let house = try House(environment: ["TOKEN": "t"])
        let body = #"{"name":"a","type":"webhook","url":"https://example.com","secret":{"env":"TOKEN"}}"#
        #expect(try await house.send(.post, "destinations", body).status == 422)
        let file = body.replacing(#""env":"TOKEN""#, with: #""file":"/etc/shadow""#)
        #expect(try await house.send(.post, "destinations", file).status == 422)
        #expect(try await house.send(.post, "destinations/try", file).status == 422)
        let capture = try await house.send(.post, "sources", #"{"name":"a","from":"/etc/passwd"}"#)
        #expect(capture.status == 422 && capture.body.contains(#""key":"from""#), "\(capture.body)")
    }

    @Test("A taken-over destination keeps its reference to a variable, also when it is changed")
    func takeOver() async throws {
        let house = try House(
            """
            sources:
              - name: museum
                from: simulation:museum?loop
            destinations:
              # Ours
              - name: cloud
                type: webhook
                url: https://example.com
                secret: { env: BEACON_TEST_TOKEN }
            """, environment: ["BEACON_TEST_TOKEN": "a token that is long enough"])
        for (kind, name) in [("destination", "cloud"), ("source", "museum")] {
            let answer = try await house.send(.post, "items/take-over", #"{"kind":"\#(kind)","name":"\#(name)"}"#)
            #expect(answer.status == 200, "\(answer.body)")
        }
        let text = try String(contentsOfFile: house.path, encoding: .utf8)
        #expect(text.contains("destinations: []") && text.contains("sources: []"), "\(text)")
        let later = try await house.later()
        #expect(later.sources.map(\.name) == ["museum"])
        #expect(Self.webhook(later.destinations.first)?.signingSecrets == [Secret("a token that is long enough")])
        #expect(later.items.allSatisfy { $0.fault == nil && $0.origin == .console })
        let body =
            #"{"name":"cloud","type":"webhook","url":"https://example.com/b","secret":{"env":"BEACON_TEST_TOKEN"}}"#
        let changed = try await house.send(.put, "destinations/cloud", body)
        #expect(changed.status == 200, "\(changed.body)")
    }

    @Test("A destination is not in use once its secret is missing, and the console says so")
    func missing() async throws {
        let house = try House()
        let body = #"{"name":"a","type":"webhook","url":"https://example.com","secret":"open sesame"}"#
        #expect(try await house.send(.post, "destinations", body).status == 201)
        try house.secrets.remove("destination-a-secret")
        let later = try await house.later()
        #expect(later.destinations.isEmpty)
        let fault = later.items.first { $0.kind == .destination }?.fault
        #expect(fault?.contains("destination-a-secret") == true)
    }

    @Test("Two destinations at one broker need different topics")
    func brokers() async throws {
        let house = try House()
        let body = #"{"name":"a","type":"mqtt","host":"broker","topic":"x/y"}"#
        #expect(try await house.send(.post, "destinations", body).status == 201)
        let second = try await house.send(.post, "destinations", body.replacing(#""a""#, with: #""b""#))
        #expect(second.status == 422 && second.body.contains("topic"), "\(second.body)")
        let third = body.replacing(#""a""#, with: #""b""#).replacing("x/y", with: "x/z")
        #expect(try await house.send(.post, "destinations", third).status == 201)
    }

    @Test("A trial says what works")
    func trials() async throws {
        let house = try House()
        let simulation = try await house.send(.post, "sources/try", #"{"name":"a","from":"simulation:museum"}"#)
        #expect(simulation.json["works"] as? Bool == true, "\(simulation.body)")
        let nowhere = try await house.send(
            .post, "destinations/try",
            #"{"name":"a","type":"webhook","url":"http://127.0.0.1:1/","secret":"open sesame"}"#)
        #expect(nowhere.json["works"] as? Bool == false, "\(nowhere.body)")
        let broker = try await house.send(
            .post, "sources/try", #"{"name":"a","mqtt":{"host":"127.0.0.1","port":1,"user":"u","password":"p"}}"#)
        #expect(broker.json["works"] as? Bool == false, "\(broker.body)")
        #expect(broker.body.contains("Nothing answers"), "\(broker.body)")
        #expect(house.secrets.all.isEmpty)
    }
}
