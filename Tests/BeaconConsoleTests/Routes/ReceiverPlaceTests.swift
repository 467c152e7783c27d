import Foundation
import GatewayTestSupport
import HTTPTypes
import TestSupport
import Testing

@testable import BeaconConsole
@testable import BeaconGateway

@Suite("The place of a receiver, changed in the console")
struct ReceiverPlaceTests {
    private static func bench(_ places: String = "") throws -> WebBench {
        let bench = try GatewayBench()
        let log = try bench.log(
            "log", ["a", "b"].map { GatewayBench.line(1_000, receiver: $0) }.joined())
        let checked = GatewayConfiguration.check(
            """
            sources: []
            web: true
            outbox: { path: \(bench.folder.path)/beacond.sqlite }
            \(places)
            """, folder: bench.folder, environment: [:])
        #expect(checked.isUsable, "\(checked.diagnostics)")
        return try WebBench(sources: [log], bench: bench) { configuration in
            let sources = configuration.sources
            configuration = checked.configuration
            configuration.sources = sources
        }
    }

    private static func move(_ web: WebBench, _ name: String, _ place: String) async throws -> WebBench.Answer {
        try await web.ask(
            .put, "/v1/receivers/\(name)/place", headers: [.consoleRequest: "1"], body: #"{"place":"\#(place)"}"#)
    }

    private static func places(_ web: WebBench) async throws -> [String: [String]] {
        let places = try await web.ask(.get, "/v1/places").json["places"] as? [[String: Any]] ?? []
        return places.reduce(into: [:]) { $0[$1["name"] as? String ?? ""] = $1["receivers"] as? [String] }
    }

    private static func with(_ web: WebBench, _ body: () async throws -> Void) async throws {
        let running = Task { await web.gateway.run() }
        try await eventually { await web.gateway.receiverValues.count == 2 }
        try await body()
        await web.gateway.stop()
        await running.value
    }

    @Test("It moves between places, which appear with their first receiver and go with their last")
    func moves() async throws {
        let web = try Self.bench()
        try await Self.with(web) {
            let first = try await Self.move(web, "a", "Hall")
            #expect(first.status == 200 && first.json["place"] as? String == "Hall", "\(first.body)")
            #expect(try await Self.move(web, "b", "Hall").status == 200)
            #expect(try await Self.places(web) == ["Hall": ["a", "b"]])
            #expect(try await Self.move(web, "b", "Kitchen").status == 200)
            #expect(try await Self.places(web) == ["Hall": ["a"], "Kitchen": ["b"]])
            #expect(try await Self.move(web, "a", "").json["place"] is NSNull)
            #expect(try await Self.places(web) == ["Kitchen": ["b"]])
            #expect(try await Self.move(web, "b", "Kitchen").status == 200)
            #expect(try await Self.move(web, "c", "Kitchen").status == 404)
            #expect(try await Self.move(web, "b", "runs").status == 422)
        }
    }

    @Test("A place of the file stays as it is, and the answer says what to do")
    func ofFile() async throws {
        let web = try Self.bench("places: [{ name: Hall, receivers: [a] }]")
        try await Self.with(web) {
            for (receiver, place) in [("a", "Kitchen"), ("b", "Hall"), ("a", "")] {
                let answer = try await Self.move(web, receiver, place)
                #expect(answer.status == 409 && answer.body.contains("take it over first"), "\(answer.body)")
            }
            #expect(try await Self.places(web) == ["Hall": ["a"]])
        }
    }
}
