import BeaconDelivery
import BeaconEventStore
import BeaconModel
import Foundation
import GatewayTestSupport
import HTTPTypes
import Testing

@testable import BeaconConsole
@testable import BeaconGateway

/// The units of times in requests: each request recognizes seconds, milliseconds and microseconds since 1970.
@Suite("Times in requests")
struct TimeUnitTests {
    /// The time of the events.
    private static let time = 1_700_000_000.25
    private static let units = [1.0, 1e3, 1e6]
    /// Numbers that are no time.
    private static let nonsense = ["-1", "9e10", "1e18", "1e300"]

    private func bench() throws -> WebBench {
        try WebBench { configuration in
            configuration.intake.apps = [.init(name: "museum", apiKey: Secret("key"), secretKey: Secret("secret"))]
            configuration.intake.webhooks = [.init(name: "attic", signingSecret: Secret("whsec_c2VjcmV0"))]
        }
    }

    private func number(_ time: Double, _ unit: Double) -> String { String(format: "%.2f", time * unit) }

    private func post(_ bench: WebBench, _ id: String, timestamp: String) async throws -> Int {
        try await bench.ask(
            .post, "/v1/app-installs/one/events",
            headers: [.authorization: "Basic \(Data("key:secret".utf8).base64EncodedString())"],
            body: #"[{"type":"opened","uuid":"\#(id)","timestamp":\#(timestamp)}]"#
        ).status
    }

    private func hook(_ bench: WebBench, _ id: String, time: String) async throws -> WebBench.Answer {
        let body = """
            {"specversion":"1.0","id":"\(id)","source":"s","type":"beacon.app","data":{"id":"018bcfe5-6800-7000-8000-\
            00000000000\(id)","time":\(time),"kind":"application","name":"opened"}}
            """
        let now = Int64(Date().timeIntervalSince1970)
        let signature = try WebhookSignature([Secret("whsec_c2VjcmV0")]).value(
            id: id, timestamp: now, body: Data(body.utf8))
        return try await bench.ask(
            .post, "/v1/webhooks/attic",
            headers: [
                .contentType: "application/cloudevents+json", .webhookID: id, .webhookTimestamp: "\(now)",
                .webhookSignature: signature,
            ], body: body)
    }

    private func times(_ bench: WebBench) async throws -> [Double] {
        try await bench.history.all.map(\.notification.time.seconds)
    }

    @Test("Events of apps and of other instances get the same time in each unit")
    func events() async throws {
        let bench = try bench()
        for (id, unit) in Self.units.enumerated() {
            #expect(try await post(bench, "\(id)", timestamp: number(Self.time, unit)) == 204)
            #expect(try await hook(bench, "\(id)", time: number(Self.time, unit)).status == 204)
        }
        let found = try await times(bench)
        #expect(found.count == 2 * Self.units.count && found.allSatisfy { abs($0 - Self.time) < 0.001 })
        for time in Self.nonsense { #expect(try await hook(bench, "9", time: time).status == 422, "\(time)") }
    }

    @Test("An app whose clock starts in 1970 keeps its times, and an impossible time is the time of arrival")
    func clocks() async throws {
        let bench = try bench()
        let before = Date().timeIntervalSince1970 - 1
        #expect(try await post(bench, "1", timestamp: "86400000") == 204)
        #expect(try await times(bench) == [86_400])
        for (id, time) in (Self.nonsense + ["4102444800", "4102444800000"]).enumerated() {
            #expect(try await post(bench, "later \(id)", timestamp: time) == 204)
        }
        #expect(try await times(bench).count { $0 > before } == Self.nonsense.count + 2)
    }

    @Test("Filters and trials recognize each unit, and refuse anything else", arguments: units)
    func filters(unit: Double) async throws {
        let bench = try bench()
        try await bench.history.append([
            .shown(.enter, at: Timestamp(seconds: Self.time) ?? .zero, "hall was entered", region: "hall")
        ])
        let (before, after) = (number(Self.time - 1, unit), number(Self.time + 1, unit))
        func listed(_ query: String) async throws -> Int {
            (try await bench.ask(.get, "/v1/events?\(query)").json["events"] as? [Any])?.count ?? -1
        }
        #expect(try await listed("from=\(before)&to=\(after)") == 1)
        #expect(try await listed("from=\(after)") == 0)
        #expect(try await listed("to=\(before)") == 0)
        let table = try await bench.ask(.get, "/v1/events/export?from=\(after)").body
        #expect(table.split(separator: "\n").count == 1)
        let counts = try await bench.ask(.get, "/v1/events/counts?from=\(before)&to=\(after)&steps=2").json
        #expect(counts["counts"] as? [String: [Int]] == ["enter": [0, 1]])
        func tried(_ from: String, _ to: String) async throws -> WebBench.Answer {
            try await bench.ask(
                .post, "/v1/rules/try", headers: [.consoleRequest: "1"],
                body: #"{"rule":{"name":"a","events":["enter"],"message":"hello"},"from":\#(from),"to":\#(to)}"#)
        }
        #expect(try await tried(before, after).json["events"] as? Int == 1)
        #expect(try await tried(after, after).json["events"] as? Int == 0)
        for time in Self.nonsense {
            for path in ["events?from=", "events/export?to=", "events/counts?to=\(after)&from="] {
                let answer = try await bench.ask(.get, "/v1/\(path)\(time)")
                #expect(answer.status == 400 && answer.body.contains("seconds since 1970"), "\(path)\(time)")
            }
            let answer = try await tried(time, after)
            #expect(answer.status == 422 && answer.body.contains("seconds since 1970"), "\(time)")
        }
    }
}
