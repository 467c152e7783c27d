import BeaconDelivery
import BeaconEventStore
import BeaconModel
import BeaconMonitoring
import BeaconSupport
import Foundation
import GatewayTestSupport
import HTTPTypes
import TestSupport
import Testing

@testable import BeaconConsole
@testable import BeaconGateway

@Suite("The console: trials, plan, counts and recordings")
struct ConsoleToolTests {
    private static func event(
        _ kind: BeaconNotification.Kind, _ seconds: Int64, _ proximity: Proximity? = nil
    ) -> BeaconNotification {
        .shown(
            kind, at: Timestamp(nanoseconds: seconds * Timestamp.nanosecondsPerSecond), "\(seconds)", receiver: "hci0",
            region: "hall", beacon: BeaconIdentity(uuid: GatewayBench.constraint.uuid, major: 1, minor: 1),
            proximity: proximity)
    }

    private func send(
        _ web: WebBench, _ method: HTTPRequest.Method, _ path: String, _ body: String, type: String = "application/json"
    ) async throws -> WebBench.Answer {
        try await web.ask(method, path, headers: [.consoleRequest: "1", .contentType: type], body: body)
    }

    @Test("A trial lists the past events for which a rule would have run, and starts nothing")
    func trial() async throws {
        let web = try WebBench()
        try await web.history.append([
            Self.event(.enter, 10), Self.event(.exit, 20), Self.event(.enter, 30), Self.event(.enter, 4_000),
            Self.event(.proximity, 5_000, .near),
            Self.event(.proximity, 5_040, .far),
        ])
        func tried(_ rule: String, _ more: String = "") async throws -> [String] {
            let answer = try await send(web, .post, "/v1/rules/try", #"{"rule":\#(rule)\#(more)}"#)
            #expect(answer.status == 200, "\(answer.body)")
            func list(_ key: String) -> [String] {
                (answer.json[key] as? [[String: Any]] ?? []).map { "\(key) \(Int($0["time"] as? Double ?? -1))" }
            }
            return list("runs") + list("withheld")
        }
        let program = #""program":["/bin/false"]"#
        #expect(
            try await tried(#"{"name":"a","events":["enter"],"at-most":"1h",\#(program)}"#)
                == ["runs 4000", "runs 10", "withheld 30"])
        #expect(
            try await tried(#"{"name":"a","events":["enter"],\#(program)}"#, #","from":15,"to":1000"#) == ["runs 30"])
        // The history has all local changes of proximity, so the next change shows how long a beacon stayed.
        #expect(try await tried(#"{"name":"a","events":["near for 30s"],\#(program)}"#) == ["runs 5030"])
        #expect(try await tried(#"{"name":"a","events":["near for 50s"],\#(program)}"#) == [])
        #expect(try await web.state.trail.runs(of: nil, before: nil, limit: 9).runs.isEmpty)
        let fault = try await send(web, .post, "/v1/rules/try", #"{"rule":{"name":"a","events":["soon"],\#(program)}}"#)
        #expect(fault.status == 422)
    }

    @Test("A trial names the events for which the history is incomplete")
    func unknown() async throws {
        let bench = try GatewayBench()
        let web = try WebBench(sources: [try bench.log("hall", "")], bench: bench)
        func unknown(_ rule: String, of web: WebBench) async throws -> [String] {
            let answer = try await send(web, .post, "/v1/rules/try", #"{"rule":{"name":"a",\#(rule)}}"#)
            #expect(answer.status == 200, "\(answer.body)")
            return (answer.json["unknown"] as? [[String: Any]] ?? []).map {
                let isLacking = ($0["reason"] as? String)?.contains("lacks gone") == true
                return "\($0["event"] as? String ?? "") \(isLacking)"
            }
        }
        let events = #""events":["enter","near for 30s","gone"]"#
        #expect(
            try await unknown(#"\#(events),"program":["/bin/true"]"#, of: web) == ["gone true", "near for 30s false"])
        // The history has all events of apps, and all events of a backend without receivers.
        #expect(try await unknown(#"\#(events),"message":"hi""#, of: web) == [])
        #expect(try await unknown(#"\#(events),"who":{"users":["mia"]},"program":["/bin/true"]"#, of: web) == [])
        #expect(try await unknown(#"\#(events),"program":["/bin/true"]"#, of: WebBench()) == [])
    }

    @Test("A plan and its picture are stored, and anything else is refused")
    func plan() async throws {
        let web = try WebBench()
        #expect(try await web.ask(.get, "/v1/plan").json["width"] as? Double == 0)
        let plan = #"{"width":12.5,"height":8,"receivers":{"hci0":[1,2]},"beacons":{}}"#
        #expect(try await send(web, .put, "/v1/plan", plan).status == 200)
        for wrong in [
            #"{"width":-1,"height":8,"receivers":{},"beacons":{}}"#,
            #"{"width":1,"height":8,"receivers":{"a":[1]},"beacons":{}}"#,
            #"{"width":1,"height":1e300,"receivers":{},"beacons":{}}"#,
        ] {
            #expect(try await send(web, .put, "/v1/plan", wrong).status == 422)
        }
        #expect(try await web.ask(.get, "/v1/plan/image").status == 404)
        #expect(try await send(web, .put, "/v1/plan/image", "<p>", type: "text/html").status == 415)
        let drawing = "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
        let kept = try await send(web, .put, "/v1/plan/image", drawing, type: "image/svg+xml")
        let path = try #require(kept.json["image"] as? String)
        let image = try await web.ask(.get, "/\(path)")
        #expect(image.body == drawing && image.headers[.contentType] == "image/svg+xml")
        // Opened on its own, the picture must not run anything.
        #expect(image.headers[.contentSecurityPolicy]?.contains("sandbox") == true)
        // A program that cannot name the type sends bytes.
        for (bytes, type) in [
            ("<?xml version='1.0'?><svg/>", "image/svg+xml"), ("RIFF\u{1}\u{1}\u{1}\u{1}WEBPVP8", "image/webp"),
            ("GIF89a", nil),
        ] {
            let kept = try await send(web, .put, "/v1/plan/image", bytes, type: "application/octet-stream")
            #expect(kept.status == (type == nil ? 415 : 200))
            if let type { #expect(try await web.ask(.get, "/v1/plan/image").headers[.contentType] == type) }
        }
        #expect(try await web.ask(.get, "/v1/plan").json["height"] as? Double == 8)
        #expect(try await web.ask(.delete, "/v1/plan/image", headers: [.consoleRequest: "1"]).status == 200)
        #expect(try await web.ask(.get, "/v1/plan").json["image"] is NSNull)
    }

    @Test("The rooms of a plan are stored, and what they will hear is predicted; a mistake is told in words")
    func forecast() async throws {
        let places = PlacePlan([.init(name: "hall", receivers: ["a"]), .init(name: "kitchen", receivers: ["b"])])
        let web = try WebBench(places: places)
        func plan(_ door: String, _ receiver: String = "[6,2]") -> String {
            #"{"width":12,"height":4,"receivers":{"a":[1,2,1.5],"b":\#(receiver)},"beacons":{},"rooms":["#
                + #"{"name":"hall","polygon":[[0,0],[4,0],[4,4],[0,4]]},{"name":"kitchen","polygon":[[4,0],[8,0],[8,4],[4,4]]},"#
                + #"{"name":"bath","polygon":[[8,0],[12,0],[12,4],[8,4]]}],"doors":[[4,2],\#(door)]}"#
        }
        #expect(try await send(web, .put, "/v1/plan", plan("[8,2]")).status == 200)
        let stored = try await web.ask(.get, "/v1/plan").json
        #expect((stored["rooms"] as? [Any])?.count == 3)
        #expect((stored["receivers"] as? [String: [Double]])?["a"] == [1, 2, 1.5])
        let told = try await send(web, .post, "/v1/plan/forecast", #"{"receiver":[10,2]}"#).json
        let forecast = try #require(told["forecast"] as? [String: Any])
        #expect(forecast["rooms"] as? [String] == ["hall", "kitchen", "bath"])
        #expect(forecast["uncovered"] as? [String] == ["bath"])
        #expect(told["tried"] as? String == "bath")
        #expect((told["change"] as? [String: Any])?["isDifferent"] as? Bool == true)
        // A receiver belongs to its place, even if it hangs elsewhere.
        let elsewhere = try await send(web, .post, "/v1/plan/forecast", #"{"plan":\#(plan("[8,2]", "[10,2]"))}"#).json
        #expect(((elsewhere["forecast"] as? [String: Any])?["uncovered"] as? [String])?.contains("bath") == true)
        for (body, words) in [
            (#"{"plan":\#(plan("[6,2]"))}"#, "Door 2 is farther"),
            (#"{"plan":\#(plan("[4,1]"))}"#, "The room \"bath\" has no way in"),
            (#"{"receiver":[40,40]}"#, "The receiver \"one more\" is in no room"),
            (#"{"receiver":[40]}"#, "is a position"),
        ] {
            let refused = try await send(web, .post, "/v1/plan/forecast", body)
            #expect(refused.status == 422)
            #expect((refused.json["detail"] as? String)?.contains(words) == true, "\(refused.body)")
        }
        // A plan of an earlier version has no rooms.
        let former = #"{"width":12,"height":4,"receivers":{},"beacons":{}}"#
        #expect(try await send(web, .put, "/v1/plan", former).json["doors"] as? [Double] == [])
    }

    @Test("Each event is counted in its step by kind")
    func counts() async throws {
        let web = try WebBench()
        try await web.history.append([
            Self.event(.enter, 0), Self.event(.enter, 9), Self.event(.exit, 10), Self.event(.enter, 40),
            Self.event(.enter, 41),
        ])
        let counts = try await web.ask(.get, "/v1/events/counts?from=0&to=40&steps=4").json["counts"] as? NSDictionary
        #expect(counts == ["enter": [2, 0, 0, 1], "exit": [0, 1, 0, 0]] as NSDictionary)
        #expect(try await web.ask(.get, "/v1/events/counts?from=5&to=5").status == 400)
        #expect(try await web.ask(.get, "/v1/events/counts").status == 400)
    }

    @Test("A recording is a sighting log like the command line's")
    func recording() async throws {
        let runner = ScriptedRunner()
        let web = try WebBench(sources: [GatewayBench.radio("a", isNamed: true)], runners: ["a": runner])
        let run = Task { await web.gateway.run() }
        try await eventually { await !web.gateway.sourceValues.isEmpty }
        let answer = Task { try await web.ask(.get, "/v1/sightings?seconds=3600") }
        try await eventually { await !web.gateway.clients.recordings.isEmpty }
        await ScriptedRadios.onThread {
            var batch = ScriptedRadios.batch(hearing: [1_000], until: 1_000)
            batch.receiverNames = ["a"]
            runner.channel.send(.heard(batch))
        }
        // Silence is an empty line and not an advert.
        await web.gateway.sendHeartbeats()
        runner.channel.finish()
        await run.value
        await web.gateway.endListeners()
        let lines = try await answer.value.body.split(separator: "\n")
        #expect(lines.count == 1 && lines[0].contains(#""receiver":"a""#) && lines[0].contains(#""major":1"#))
        try await eventually { await web.gateway.clients.recordings.isEmpty }
        #expect(try await web.ask(.get, "/v1/sightings?seconds=0").status == 400)
    }
}
