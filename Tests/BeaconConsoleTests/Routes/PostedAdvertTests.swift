import BeaconGateway
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconReceivers
import BeaconSupport
import Foundation
import GatewayTestSupport
import HTTPTypes
import TestSupport
import Testing

@Suite("Gateways that post adverts")
struct PostedAdvertTests {
    private static let token = "0123456789abcdef"
    private static let path = "/v1/sources/gates/adverts"

    private static func line(_ gateway: String = "E1F5E6BAC2CF") -> String {
        let uuid = GatewayBench.uuid.filter { $0 != "-" }
        return "$GPRP,0C61CFC14542,\(gateway),-61,0201061AFF4C000215\(uuid)00010002C5"
    }

    private static func source() -> PostedSource {
        var source = PostedSource(name: "gates")
        source.token = Secret(token)
        source.network.names = ["E1F5E6BAC2CF": "hall"]
        return source
    }

    private static func bench(_ source: PostedSource, settings: WebSettings = WebSettings()) throws -> WebBench {
        try WebBench(settings, sources: [SourceSettings(name: "gates", specification: .network(source))])
    }

    private static func bearer(_ token: String = token) -> HTTPFields { [.authorization: "Bearer \(token)"] }

    @Test("A posted beacon enters its region, with the gateway's name as receiver")
    func enter() async throws {
        let source = Self.source()
        let bench = try Self.bench(source)
        let running = Task { await bench.gateway.run() }
        try await eventually { source.queue.add(Array("$HBRP,ACCB".utf8)) }
        let answer = try await bench.ask(.post, Self.path, headers: Self.bearer(), body: Self.line())
        #expect(answer.status == 200)
        try await eventually { !bench.bench.notified.isEmpty }
        #expect(bench.bench.notified.first?.hasPrefix("enter hall ") == true)
        #expect(bench.bench.notified.first?.hasSuffix(" hall") == true, "\(bench.bench.notified)")
        await bench.gateway.stop()
        await running.value
    }

    @Test("Made-up gateways do not keep out named ones, and are reported as a warning")
    func crowd() async throws {
        let source = Self.source()
        let bench = try Self.bench(source)
        let running = Task { await bench.gateway.run() }
        try await eventually { source.queue.add(Array("$HBRP,INVENTED".utf8)) }
        for number in 0..<300 {
            let answer = try await bench.ask(
                .post, Self.path, headers: Self.bearer(), body: "$HBRP,INVENTED\(number),INVENTED\(number)")
            #expect(answer.status == 200)
        }
        _ = try await bench.ask(.post, Self.path, headers: Self.bearer(), body: Self.line())
        try await eventually { !bench.bench.notified.isEmpty }
        #expect(bench.bench.notified.first?.hasSuffix(" hall") == true, "\(bench.bench.notified)")
        try await eventually {
            let health = try await bench.ask(.get, "/v1/health")
            return health.body.contains("warning") && health.body.contains("more than 200 receivers")
        }
        await bench.gateway.stop()
        await running.value
    }

    @Test(
        "A gateway can send its token in a header, as a password, or in the address", arguments: [true, false])
    func tokens(isGuarded: Bool) async throws {
        let source = Self.source()
        var settings = WebSettings()
        if isGuarded { settings.tokenHash = AccessToken.hash(of: "the console's") }
        let bench = try Self.bench(source, settings: settings)
        let running = Task { await bench.gateway.run() }
        try await eventually { source.queue.add(Array(Self.line().utf8)) }
        func basic(_ text: String) -> HTTPFields { [.authorization: "Basic \(Data(text.utf8).base64EncodedString())"] }
        for (path, headers, status) in [
            (Self.path, Self.bearer(), 200), (Self.path, basic("any:\(Self.token)"), 200),
            (Self.path + "?token=\(Self.token)", [:], 200),
            (Self.path, [:], 401), (Self.path, Self.bearer("other"), 401), (Self.path, Self.bearer(""), 401),
            (Self.path, basic(":"), 401), (Self.path + "?token=", [:], 401),
            ("/v1/sources/other/adverts", Self.bearer(), 404),
        ] as [(String, HTTPFields, Int)] {
            let answer = try await bench.ask(.post, path, headers: headers, body: Self.line())
            #expect(answer.status == status, "\(path) \(headers)")
        }
        // The console's token does not work for gateways, and theirs works for nothing else.
        if isGuarded {
            #expect(try await bench.ask(.get, "/v1/status", headers: Self.bearer()).status == 401)
            let console = try await bench.ask(
                .post, Self.path, headers: Self.bearer("the console's"), body: Self.line())
            #expect(console.status == 401)
        }
        let empty = try await bench.ask(.post, Self.path, headers: Self.bearer(), body: "")
        #expect(empty.status == 400)
        await bench.gateway.stop()
        await running.value
    }

    @Test("Without a reader, gateways must send again later, and nothing piles up")
    func full() async throws {
        let source = Self.source()
        let bench = try Self.bench(source)
        let answer = try await bench.ask(.post, Self.path, headers: Self.bearer(), body: Self.line())
        #expect(answer.status == 503 && answer.headers[.retryAfter] == "1")
        // A source that was opened but is not read.
        let specification = SourceSpecification.network(source)
        let open = try SourceReader(specification)
        var count = 0
        while source.queue.add([UInt8](repeating: 0x20, count: 1 << 10)), count < 10_000 { count += 1 }
        #expect(count == 4096)
        #expect(open.receiverNames.isEmpty)
    }

    @Test("Posting gateways without a console are reported", arguments: ["", "web: false\n", "web: true\n"])
    func console(web: String) {
        let lines = ConfigurationBench.lines(
            """
            \(web)regions: [{ name: hall, uuid: \(ConfigurationBench.uuid) }]
            sources: [{ name: gates, http: { token: { env: TOKEN } } }]
            """, ["TOKEN": Self.token])
        #expect(lines.contains { $0.contains("gateways that post need the console") } == (web != "web: true\n"))
    }

    @Test("A mapping reads JSON of other gateways")
    func mapping() async throws {
        let checked = ConfigurationBench.check(
            """
            web: true
            regions: [{ name: hall, uuid: \(ConfigurationBench.uuid) }]
            sources:
              - name: gates
                http: { token: { env: TOKEN } }
                mapping: { receiver: gw.id, each: list, address: mac, rssi: level, data: raw }
            """, ["TOKEN": Self.token])
        #expect(checked.diagnostics.isEmpty)
        let source = try #require(checked.configuration.sources.first?.specification.network as? PostedSource)
        let bench = try Self.bench(source)
        let running = Task { await bench.gateway.run() }
        let advert = Self.line().split(separator: ",").last.map(String.init) ?? ""
        let post = #"{"gw":{"id":"door"},"list":[{"mac":"c00000000001","level":-60,"raw":"\#(advert)"}]}"#
        try await eventually { source.queue.add(Array(post.utf8)) }
        try await eventually { !bench.bench.notified.isEmpty }
        #expect(bench.bench.notified.first?.hasSuffix(" door") == true, "\(bench.bench.notified)")
        await bench.gateway.stop()
        await running.value
    }

    @Test("The file names receivers, and needs a token")
    func file() throws {
        let checked = ConfigurationBench.check(
            """
            web: true
            regions: [{ name: hall, uuid: \(ConfigurationBench.uuid) }]
            sources:
              - name: gates
                http: { token: { env: TOKEN } }
                receivers: { "E1F5E6BAC2CF": hall }
                empty-after: 1m
            """, ["TOKEN": Self.token])
        #expect(checked.diagnostics.isEmpty)
        let source = try #require(checked.configuration.sources.first?.specification.network as? PostedSource)
        #expect(source.name == "gates" && source.token == Secret(Self.token) && source.mistakes().isEmpty)
        #expect(source.network.names == ["E1F5E6BAC2CF": "hall"] && source.network.emptyAfter == 60_000_000_000)
        #expect(source == (checked.configuration.sources.first?.specification.network as? PostedSource))
        var short = source
        short.token = Secret("short")
        #expect(short.mistakes().first?.contains("openssl rand -hex 16") == true)
    }

    @Test("Each source has its own posts, even after a configuration is read again")
    func queues() throws {
        let text = """
            sources:
              - { name: gates, http: { token: { env: TOKEN } } }
              - { name: doors, http: { token: { env: TOKEN } } }
            web: true
            """
        let sources = (0..<2).flatMap { _ in
            GatewayConfiguration.check(
                text, folder: URL(fileURLWithPath: "/"), environment: ["TOKEN": "a token of many characters"]
            ).configuration.sources.compactMap { $0.specification.network as? PostedSource }
        }
        #expect(sources.map(\.name) == ["gates", "doors", "gates", "doors"])
        #expect(Set(sources.map { ObjectIdentifier($0.queue) }).count == 4)
    }
}
