import BeaconDelivery
import BeaconEventStore
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import CoreMetrics
import Foundation
import GatewayTestSupport
import HTTPTypes
import TestSupport
import Testing

@testable import BeaconConsole
@testable import BeaconGateway

@Suite("The interface: requests")
struct WebServerTests {
    /// Returns a recording with a beacon at two receivers, which is nearer to the first one at first.
    private static func log(_ bench: GatewayBench) throws -> SourceSettings {
        let text = (0..<120).map { half in
            let time = 1000 + Double(half) / 2
            return GatewayBench.line(time, receiver: "a", rssi: half < 60 ? -60 : -85)
                + GatewayBench.line(time + 0.1, receiver: "b", rssi: half < 60 ? -85 : -60)
        }.joined()
        return try bench.log("log", text)
    }

    private static let plan = PlacePlan([
        PlacePlan.Place(name: "hall", receivers: ["a"]), PlacePlan.Place(name: "kitchen", receivers: ["b"]),
    ])

    private static func played(_ places: PlacePlan? = nil) async throws -> WebBench {
        let bench = try GatewayBench()
        let web = try WebBench(sources: [try log(bench)], places: places, bench: bench)
        await web.gateway.run()
        return web
    }

    @Test("Receivers, regions with times and receivers, and numbered events are listed")
    func sensing() async throws {
        let web = try await Self.played()
        let receivers = try #require(try await web.ask(.get, "/v1/receivers").json["receivers"] as? [[String: Any]])
        #expect(receivers.compactMap { $0["name"] as? String } == ["a", "b"])
        let regions = try #require(try await web.ask(.get, "/v1/regions").json["regions"] as? [[String: Any]])
        #expect(regions.first?["state"] as? String == "inside")
        #expect(regions.first?["since"] as? Double == 1000)
        #expect(regions.first?["receiver"] as? String == "a")
        #expect(regions.first?["major"] is NSNull)
        let answer = try await web.ask(.get, "/v1/events").json
        let events = try #require(answer["events"] as? [[String: Any]])
        #expect(events.first?["summary"] as? String == "hall was entered")
        #expect(events.first?["id"] as? Int == 1)
        #expect((events.first?["detail"] as? [String: Any])?["kind"] as? String == "enter")
        #expect(answer["next"] is NSNull)
        #expect(try await web.ask(.get, "/v1/sources").json["sources"] is [[String: Any]])
    }

    @Test("A request has no effect on radios, and a ranging stream ranges while it is open")
    func looking() async throws {
        let bench = try GatewayBench()
        let runner = ScriptedRunner()
        let web = try WebBench(
            sources: [GatewayBench.radio("a", isNamed: true)], runners: ["a": runner], bench: bench)
        let run = Task { await web.gateway.run() }
        func mode() -> ScanMode? { runner.mode.withLock { $0 } }
        try await eventually { mode() != nil }
        let before = runner.modes.withLock { $0 }
        #expect(!before.contains(.ranging))
        for path in web.readPaths {
            #expect(try await web.ask(.head, path).status < 600)
            // These two last until their client disconnects, and the other two range.
            let isOther = ["/v1/events/stream", "/v1/sightings", "/v1/ranging/stream", "/v1/beacons/heard"]
                .contains(path)
            if !isOther { #expect(try await web.ask(.get, path).status < 600) }
        }
        let endless = ["/v1/events/stream", "/v1/sightings"].map { path in Task { try await web.ask(.get, path) } }
        try await eventually { web.broadcast.count != 0 }
        try await eventually { await !web.gateway.clients.recordings.isEmpty }
        web.broadcast.finish()
        await web.gateway.endListeners()
        for one in endless { #expect(try await one.value.status == 200) }
        #expect(runner.modes.withLock { $0 } == before)
        for path in ["/v1/ranging/stream?scope=regions", "/v1/ranging/stream"] {
            let stream = Task { try await web.ask(.get, path) }
            try await eventually { mode() == .ranging }
            await web.gateway.sendHeartbeats()
            #expect(mode() == .ranging)
            await web.gateway.endListeners()
            #expect(try await stream.value.status == 200)
            try await eventually { mode() != .ranging }
        }
        for query in ["scope=all", "scope=regions&region=\(GatewayBench.uuid)"] {
            #expect(try await web.ask(.get, "/v1/ranging/stream?\(query)").status == 400)
        }
        runner.channel.finish()
        await run.value
    }

    @Test("The list of beacons has the beacons that a stream of the regions ranges, even after a change")
    func rangedRegions() async throws {
        let runner = ScriptedRunner()
        let web = try WebBench(sources: [GatewayBench.radio("a", isNamed: true)], runners: ["a": runner])
        let run = Task { await web.gateway.run() }
        try await eventually { runner.mode.withLock({ $0 }) != nil }
        let stream = Task { try await web.ask(.get, "/v1/ranging/stream?scope=regions") }
        try await eventually { runner.mode.withLock({ $0 }) == .ranging }
        var configuration = await web.gateway.configuration
        configuration.regions = configuration.regions.map {
            var region = $0
            region.name = "renamed"
            return region
        }
        await web.gateway.use(configuration)
        #expect(runner.mode.withLock { $0 } == .ranging)
        await ScriptedRadios.onThread {
            runner.channel.send(.state(.poweredOn))
            for second in [1_000.0, 1_001, 1_002] {
                var batch = ScriptedRadios.batch(hearing: [second], until: second)
                batch.receiverNames = ["a"]
                runner.channel.send(.heard(batch))
            }
        }
        try await eventually {
            let beacons = try await web.ask(.get, "/v1/beacons").json["beacons"] as? [[String: Any]]
            return beacons?.first?["regions"] as? [String] == ["renamed"]
        }
        await web.gateway.endListeners()
        #expect(try await stream.value.body.contains("event: ranging\n"))
        runner.channel.finish()
        await run.value
    }

    @Test("Places list current, previous and second strongest places, and why has the margin")
    func places() async throws {
        let web = try await Self.played(Self.plan)
        let places = try await web.ask(.get, "/v1/places").json
        let beacons = try #require(places["beacons"] as? [[String: Any]])
        #expect(beacons.first?["place"] as? String == "kitchen")
        #expect(beacons.first?["runnerUp"] as? String == "hall")
        let why = try await web.ask(.get, "/v1/why?beacon=\(GatewayBench.uuid)/1/1")
        #expect(why.status == 200)
        #expect(why.json["title"] as? String == "1/1 is in kitchen")
        #expect(why.body.contains("hall, behind by"))
        let summaries = try #require(
            try await web.ask(.get, "/v1/events?kind=place").json["events"] as? [[String: Any]])
        #expect(summaries.compactMap { $0["summary"] as? String } == ["1/1 is in kitchen", "1/1 is in hall"])
    }

    @Test("Why explains a region's state with its settings and what would change it")
    func why() async throws {
        let web = try await Self.played()
        let why = try await web.ask(.get, "/v1/why?region=hall")
        #expect(why.json["title"] as? String == "hall: inside")
        let facts = try #require(why.json["facts"] as? [[String: String]])
        #expect(facts.contains { $0["label"] == "Left after" && $0["value"] == "30s unheard" })
        #expect(facts.contains { $0["label"] == "What would change it" })
        #expect(try await web.ask(.get, "/v1/why?region=attic").status == 404)
        #expect(try await web.ask(.get, "/v1/why").status == 400)
        #expect(try await web.ask(.get, "/v1/why?beacon=x").status == 400)
        #expect(try await web.ask(.get, "/v1/why?beacon=\(GatewayBench.stranger)/1/1").status == 404)
    }

    @Test(
        "An invalid request is answered with a remedy",
        arguments: [
            ("/v1/events?limit=0", 400), ("/v1/events?limit=1001", 400), ("/v1/events?limit=many", 400),
            ("/v1/events?before=x", 400), ("/v1/events?kind=enter,leave", 400), ("/v1/events?from=yesterday", 400),
            ("/v1/events?from=1e300", 400), ("/v1/events?from=nan", 400), ("/v1/events/export?format=xls", 400),
            ("/v1/ranging/stream?region=here", 400), ("/v1/outbox/entries?destination=none", 404), ("/v1/nothing", 404),
            ("/v1/outbox/entries", 400), ("/v1/events?before=0", 400), ("/v1/why?region=front+hall", 404),
            ("/v1/events?kind=enter&region=%00%ff", 200), ("/v1/events?limit=5&limit=6", 200),
        ])
    func mistakes(_ path: String, _ status: Int) async throws {
        let answer = try await WebBench().ask(.get, path)
        #expect(answer.status == status, "\(answer.body)")
        guard status != 200 else { return }
        #expect(answer.headers[.contentType] == "application/problem+json")
        #expect(answer.json["status"] as? Int == status)
        #expect((answer.json["detail"] as? String)?.isEmpty == false)
    }

    @Test("Pages of the history have no gaps")
    func paging() async throws {
        let web = try WebBench()
        for number in 0..<25 {
            try await web.history.append([.shown(.receiver, receiver: "r\(number)")])
        }
        var seen: [String] = []
        var path = "/v1/events?limit=10"
        while true {
            let page = try await web.ask(.get, path).json
            seen += try #require(page["events"] as? [[String: Any]]).compactMap { $0["receiver"] as? String }
            guard let next = page["next"] as? Int else { break }
            path = "/v1/events?limit=10&before=\(next)"
        }
        #expect(seen == (0..<25).reversed().map { "r\($0)" })
    }

    @Test("A listener gets missed events, then new ones, each once and in order")
    func stream() async throws {
        let web = try WebBench()
        func append(_ number: Int) async throws {
            try await web.history.append([.shown(.receiver, receiver: "r\(number)")])
        }
        for number in 1...3 { try await append(number) }
        let lastEventID = try #require(HTTPField.Name("Last-Event-ID"))
        let listening = Task { try await web.ask(.get, "/v1/events/stream", headers: [lastEventID: "1"]) }
        try await eventually { web.broadcast.count != 0 }
        try await append(4)
        web.broadcast.send(.heartbeat)
        web.broadcast.send(.changed([.regions, .places]))
        try await append(5)
        web.broadcast.finish()
        let answer = try await listening.value
        #expect(answer.headers[.contentType] == "text/event-stream")
        let numbers = answer.body.split(separator: "\n").filter { $0.hasPrefix("id: ") }
        #expect(numbers == ["id: 2", "id: 3", "id: 4", "id: 5"])
        #expect(answer.body.contains("event: state\ndata: {\"places\":true,\"regions\":true}\n\n"))
        #expect(answer.body.contains("\n:\n\n"))
    }

    @Test("A number from a deleted history hides no events from a listener")
    func deletedHistory() async throws {
        let web = try WebBench()
        let lastEventID = try #require(HTTPField.Name("Last-Event-ID"))
        let listening = Task { try await web.ask(.get, "/v1/events/stream", headers: [lastEventID: "999999"]) }
        try await eventually { web.broadcast.count != 0 }
        try await web.history.append([.shown(.receiver, receiver: "r")])
        web.broadcast.finish()
        #expect(try await listening.value.body.contains("id: 1\n"))
    }

    @Test("A listener that missed more than a page gets all events in order")
    func longAbsence() async throws {
        let web = try WebBench()
        try await web.history.append(
            (1...2_500).map { .shown(.receiver, receiver: "r\($0)") })
        try await eventually { try await web.history.store.newest() >= 2_500 }
        let lastEventID = try #require(HTTPField.Name("Last-Event-ID"))
        let listening = Task { try await web.ask(.get, "/v1/events/stream", headers: [lastEventID: "100"]) }
        try await eventually { web.broadcast.count != 0 }
        web.broadcast.finish()
        let numbers = try await listening.value.body.split(separator: "\n").filter { $0.hasPrefix("id: ") }
        #expect(numbers == (101...2_500).map { "id: \($0)" })
    }

    @Test("A wrong method is answered with the supported ones, however the path is written")
    func methods() async throws {
        let web = try WebBench()
        for path in ["/v1/receivers", "//v1//receivers/", "/metrics", "/v1/rules/runs"] {
            let answer = try await web.ask(.post, path, headers: [.consoleRequest: "1"], body: "{}")
            #expect(answer.status == 405)
            #expect(answer.headers[.allow] == "GET, HEAD")
        }
        #expect(
            try await web.ask(.delete, "/v1/advertising", headers: [.consoleRequest: "1"]).headers[.allow]
                == "GET, HEAD, PUT")
        #expect(try await web.ask(.head, "/v1/regions").status == 200)
    }

    @Test("A name with a space is found with a plus sign and with %20")
    func spaces() async throws {
        let web = try WebBench()
        try await web.history.append([.shown(.enter, "front hall was entered", region: "front hall")])
        for region in ["front+hall", "front%20hall"] {
            let events = try await web.ask(.get, "/v1/events?region=\(region)").json["events"] as? [[String: Any]]
            #expect(events?.count == 1)
        }
    }

    @Test("An export has every event, and no cell that a spreadsheet would calculate")
    func export() async throws {
        let web = try WebBench()
        for number in 0..<2_500 {
            try await web.history.append([
                .shown(.receiver, receiver: number == 7 ? "=cmd|' /C calc'!A0, \"x\"" : "r\(number)")
            ])
        }
        try await eventually { try await web.history.store.newest() >= 2_500 }
        let table = try await web.ask(.get, "/v1/events/export").body.split(separator: "\n")
        #expect(table.count == 2_501)
        let cell = "\"'=cmd|' /C calc'!A0, \"\"x\"\"\""
        #expect(table.contains { $0.contains(cell) })
        #expect(!table.contains { $0.contains(",=cmd") })
        #expect(try await web.ask(.get, "/v1/events/export?format=log").body.split(separator: "\n").count == 2_500)
    }

    @Test("This machine becomes a beacon, reports its state, and is one again after a restart")
    func advertising() async throws {
        let bench = try GatewayBench()
        let runner = ScriptedRunner()
        func open() throws -> WebBench {
            try WebBench(sources: [GatewayBench.radio("a", isNamed: true)], runners: ["a": runner], bench: bench)
        }
        let web = try open()
        let run = Task { await web.gateway.run() }
        try await eventually { await !web.gateway.sourceValues.isEmpty }
        func put(_ major: Int, enabled: Bool = true) async throws -> WebBench.Answer {
            let advert =
                #"{"uuid":"\#(GatewayBench.uuid)","major":\#(major),"minor":2,"measuredPower":-59,"enabled":\#(enabled)}"#
            return try await web.ask(.put, "/v1/advertising", headers: [.consoleRequest: "1"], body: advert)
        }
        let refused = try await put(70_000)
        #expect(refused.status == 422)
        #expect((refused.json["errors"] as? [[String: String]])?.first?["key"] == "major")
        #expect(try await put(7).status == 200)
        let frame = try #require(runner.advertised.withLock { $0 }.first)
        #expect(frame.frame?.identity.major == 7)
        func state() async throws -> String? {
            (try await web.ask(.get, "/v1/advertising").json["beacon"] as? [String: Any])?["state"] as? String
        }
        #expect(try await state() == "starting")
        await ScriptedRadios.onThread { runner.channel.send(.advertising(frame, .success(()))) }
        try await eventually { try await state() == "on" }
        // Another process on the same machine, later.
        let later = try open()
        let laterRun = Task { await later.gateway.run() }
        try await eventually { await !later.gateway.sourceValues.isEmpty }
        runner.advertised.withLock { $0 = [] }
        let (stored, storedFrame) = try #require(await AdvertisingRoutes.stored(in: later.state))
        await later.gateway.advertise(stored, storedFrame)
        #expect(runner.advertised.withLock { $0 } == [frame])
        #expect(try await put(7, enabled: false).status == 200)
        #expect(runner.advertised.withLock { $0 } == [])
        runner.channel.finish()
        await run.value
        await laterRun.value
    }

    @Test("The metrics have each receiver, region and source, with escaped labels")
    func metrics() async throws {
        let web = try await Self.played()
        let text = try await web.ask(.get, "/metrics").body
        #expect(text.contains("beacon_region_inside{region=\"hall\"} 1\n"))
        #expect(text.contains("beacon_source_beacons_total{source=\"log\"} 240\n"))
        #expect(text.contains("# TYPE beacon_source_beacons_total counter\n"))
        let metrics = PrometheusMetrics()
        metrics.makeCounter(label: "a b", dimensions: [("x", "\"\\\n")]).increment(by: 2)
        #expect(metrics.text() == "# TYPE a_b counter\na_b{x=\"\\\"\\\\\\n\"} 2\n")
    }

    @Test("The page and its files are served, and revalidated")
    func files() async throws {
        let web = try WebBench()
        for file in ConsoleFiles.all {
            let path = file.name == "index.html" ? "/" : "/\(file.name)"
            let answer = try await web.ask(.get, path)
            #expect(answer.status == 200 && !answer.body.isEmpty)
            let tag = try #require(answer.headers[.eTag])
            #expect(try await web.ask(.get, path, headers: [.ifNoneMatch: tag]).status == 304)
        }
        // Only relative addresses, since the console may run below a path.
        let page = try await web.ask(.get, "/").body.replacingOccurrences(of: "http://www.w3.org/2000/svg", with: "")
        #expect(!page.contains("=\"/") && !page.contains("http://") && !page.contains("https://"))
        // Each file that a file refers to exists.
        let names = Set(ConsoleFiles.all.map(\.name))
        for file in ConsoleFiles.all {
            let text = String(decoding: file.content, as: UTF8.self)
            for match in text.matches(of: #/(?:from|import) "\./([^"]+)"/#) { #expect(names.contains(String(match.1))) }
        }
    }
}
