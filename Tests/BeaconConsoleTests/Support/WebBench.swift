import BeaconDelivery
import BeaconEventStore
import BeaconModel
import BeaconMonitoring
import BeaconSupport
import Foundation
import GatewayTestSupport
import HTTPTypes
import Hummingbird
import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import BeaconConsole
@testable import BeaconGateway

/// A console in front of a gateway with a recording, for tests that read its answers.
struct WebBench {
    let bench: GatewayBench
    let gateway: Gateway
    let history: EventHistory
    let state: GatewayState
    let rules: RuleEngine
    /// The configurations that the console requested; nil for the file's.
    let configurations = Locked<[GatewayConfiguration?]>([])
    let broadcast: EventBroadcast
    let server: WebServer
    private let responder: RouterResponder<WebContext>

    /// An answer.
    struct Answer {
        var status: Int
        var headers: HTTPFields
        var body: String

        /// The body as JSON.
        var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]) ?? [:]
        }
    }

    init(
        _ settings: WebSettings = WebSettings(), sources: [SourceSettings] = [], places: PlacePlan? = nil,
        runners: [String: any GatewayRunner] = [:], bench: GatewayBench? = nil,
        journal: Journal? = nil, _ change: (inout GatewayConfiguration) -> Void = { _ in }
    ) throws {
        self.bench = try bench ?? GatewayBench()
        let store = try self.bench.store ?? GatewayBench.store(in: self.bench.folder, self.bench.lines)
        broadcast = EventBroadcast(store)
        history = try EventHistory(store)
        state = GatewayState(store)
        var configuration = self.bench.configuration(sources, places: places)
        configuration.web = settings
        change(&configuration)
        rules = RuleEngine(configuration.launch.rules, trail: state.trail, logger: self.bench.lines.logger)
        gateway = self.bench.gateway(
            sources, runners: runners, places: places, rules: rules, broadcast: broadcast, configuration: configuration,
            journal: journal)
        server = WebServer(
            settings: settings, gateway: gateway, rules: rules, delivery: nil, current: Locked(configuration),
            consumer: RuleConsumer(
                history: history, people: state.people, engine: rules, gateway: gateway, broadcast: broadcast,
                logger: self.bench.lines.logger),
            state: state, broadcast: broadcast, fleet: nil, logger: self.bench.lines.logger,
            sessions: WebSessions(tokenHash: settings.tokenHash, access: state.access),
            reload: { [configurations] configuration in configurations.withLock { $0.append(configuration) } })
        responder = server.router().buildResponder()
    }

    /// The answered requests: methods and paths, with "x" for each parameter.
    var requests: [(method: HTTPRequest.Method, path: String)] {
        server.router().routes.map {
            ($0.method, "/" + WebServer.key($0.path.description).replacing(#/\{[^}]*\}/#, with: "x"))
        }
    }

    /// The paths of all read-only requests.
    var readPaths: [String] { requests.filter { $0.method == .get }.map(\.path) }

    /// The described interface.
    static let described = Task { try await DescribedInterface(WebBench().send(.get, "/v1/openapi.json").body) }

    private struct Collector: ResponseBodyWriter {
        var bytes: ByteBuffer {
            get { box.bytes }
            nonmutating set { box.bytes = newValue }
        }
        final class Box { var bytes = ByteBuffer() }
        let box = Box()

        mutating func write(_ buffer: ByteBuffer) async throws { box.bytes.writeImmutableBuffer(buffer) }
        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }

    /// Sends a request from this machine, unless an address is given, and compares the answer with the description of
    /// the interface.
    ///
    /// - Parameters:
    ///   - address: the source address of the connection.
    ///   - local: the destination address of the connection.
    func ask(
        _ method: HTTPRequest.Method = .get, _ path: String, host: String = "127.0.0.1:8099",
        headers: HTTPFields = [:], body: String? = nil, from address: String? = nil,
        to local: String? = nil
    ) async throws -> Answer {
        let answer = try await send(method, path, host: host, headers: headers, body: body, from: address, to: local)
        let differences = try await Self.described.value.differences(
            of: answer, to: method, path, media: headers[.contentType] ?? "application/json", body: body)
        // An answer about refused events accepts a body that is not as described.
        #expect(differences.filter { answer.json["refused"] == nil || !$0.contains("takes a body") } == [])
        return answer
    }

    private func send(
        _ method: HTTPRequest.Method, _ path: String, host: String = "127.0.0.1:8099", headers: HTTPFields = [:],
        body: String? = nil, from address: String? = nil, to local: String? = nil
    ) async throws -> Answer {
        var headers = headers
        if body != nil, headers[.contentType] == nil { headers[.contentType] = "application/json" }
        let request = Request(
            head: HTTPRequest(method: method, scheme: "http", authority: host, path: path, headerFields: headers),
            body: RequestBody(buffer: ByteBuffer(string: body ?? "")))
        let channel = EmbeddedChannel()
        channel.remoteAddress = try address.map { try SocketAddress(ipAddress: $0, port: 50_000) }
        channel.localAddress = try local.map { try SocketAddress(ipAddress: $0, port: 8099) }
        let context = WebContext(
            source: ApplicationRequestContextSource(channel: channel, logger: bench.lines.logger))
        let response = try await responder.respond(to: request, context: context)
        let collector = Collector()
        let box = collector.box
        try await response.body.write(collector)
        return Answer(
            status: response.status.code, headers: response.headers, body: String(buffer: box.bytes))
    }
}
