import BeaconDelivery
import BeaconEngine
import BeaconEventStore
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import Foundation
import GatewayTestSupport
import HTTPTypes
import TestSupport
import Testing

@testable import BeaconConsole
@testable import BeaconGateway

@Suite("Items of the console")
struct ItemTests {
    private static let other = "11111111-2222-3333-4444-555555555555"

    private func bench(
        on disk: TestDisk? = nil, _ change: (inout GatewayConfiguration) -> Void = { _ in }
    ) throws -> WebBench {
        try WebBench(bench: try GatewayBench(disk: disk)) { configuration in
            configuration =
                GatewayConfiguration.check(
                    """
                    sources: [{ name: air, from: "-" }]
                    regions: [{ name: hall, uuid: \(GatewayBench.uuid), exit-timeout: 1m }]
                    beacons: [{ name: key, uuid: \(GatewayBench.uuid), major: 1, minor: 1 }]
                    web: { read-only: false }
                    outbox: { path: \(configuration.outbox.path) }
                    """, folder: URL(fileURLWithPath: "/"), environment: [:]
                ).configuration
            change(&configuration)
        }
    }

    private func send(
        _ bench: WebBench, _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil
    ) async throws -> WebBench.Answer {
        try await bench.ask(method, path, headers: [.consoleRequest: "1"], body: body)
    }

    private func names(_ bench: WebBench, _ path: String, _ key: String) async throws -> [String] {
        let list = try await bench.ask(.get, path).json[key] as? [[String: Any]] ?? []
        return list.map { "\($0["name"] ?? "") \($0["origin"] ?? "")" }
    }

    @Test("A change in the console and a reload of the file keep each other's regions", arguments: [true, false])
    func reload(isChangeFirst: Bool) async throws {
        let disk = TestDisk()
        let bench = try bench(on: disk)
        let (gateway, items) = (bench.gateway, bench.state.items)
        var file = await gateway.base
        (file.sources, file.regions) = ([], [GatewayBench.region("attic")])
        let reload: @Sendable (_ during: () async throws -> Void) async throws -> Void = { [file] during in
            try await items.turn.run {
                let whole = file.adding(try await items.all())
                try await during()
                await gateway.reload(GatewayReload(base: file, configuration: whole, destinations: []))
            }
        }
        let change = { @Sendable in
            try await self.send(bench, .post, "/v1/regions", #"{"name":"door","uuid":"\#(Self.other)"}"#)
        }
        if isChangeFirst {
            disk.hang()
            let made = Task { try await change() }
            try await eventually("the change is at the disk") { disk.isWaiting }
            let reloaded = Task { try await reload {} }
            for _ in 0..<1_000 { await Task.yield() }
            disk.release()
            #expect(try await made.value.status == 201)
            try await reloaded.value
        } else {
            let made = Locked<Task<WebBench.Answer, any Error>?>(nil)
            try await reload {
                made.withLock { $0 = Task { try await change() } }
                for _ in 0..<1_000 { await Task.yield() }
            }
            #expect(try await made.withLock { $0 }?.value.status == 201)
        }
        #expect(await gateway.configuration.regions.map(\.name) == ["attic", "door"])
    }

    @Test("Regions are added, changed and removed while beacond runs, and survive a restart")
    func regions() async throws {
        let bench = try bench()
        #expect(try await names(bench, "/v1/regions", "regions") == ["hall file"])
        let made = try await send(
            bench, .post, "/v1/regions",
            #"{"name":"Front door","uuid":"\#(Self.other)","major":7,"exit-timeout":"10s"}"#)
        #expect(made.status == 201)
        #expect((made.json["settings"] as? [String: Any])?["exit-timeout"] as? String == "10s")
        #expect(try await names(bench, "/v1/regions", "regions") == ["hall file", "Front door console"])
        #expect(await bench.gateway.conditions[.region("Front door")] != nil)
        let again = try await send(bench, .post, "/v1/regions", #"{"name":"hall","uuid":"\#(Self.other)"}"#)
        #expect(again.status == 409)
        let renamed = try await send(
            bench, .put, "/v1/regions/Front%20door", #"{"name":"back/door","uuid":"\#(Self.other)"}"#)
        #expect(renamed.status == 200)
        #expect(await bench.gateway.conditions[.region("Front door")] == nil)
        // Another process, later.
        let later = bench.server.current.withLock { $0 }.adding(try await bench.state.items.all())
        #expect(later.regions.map(\.name) == ["hall", "back/door"])
        #expect(try await send(bench, .delete, "/v1/regions/back%2Fdoor").status == 204)
        #expect(try await send(bench, .delete, "/v1/regions/back%2Fdoor").status == 404)
        #expect(try await names(bench, "/v1/regions", "regions") == ["hall file"])
    }

    @Test("A change writes only the changed rows, and keeps the order")
    func changedRows() async throws {
        let bench = try bench()
        func numbers() async throws -> [String: Int] {
            struct Item: Decodable {
                var name: String
                var order: Int
            }
            let rows = try await bench.state.store.state("item")
            let items = try rows.map { try JSONDecoder().decode(Item.self, from: $0.value) }
            return Dictionary(uniqueKeysWithValues: items.map { ($0.name, $0.order) })
        }
        func put(_ name: String, _ method: HTTPRequest.Method = .post, _ path: String = "", as new: String? = nil)
            async throws
        {
            let answer = try await send(
                bench, method, "/v1/regions\(path)", #"{"name":"\#(new ?? name)","uuid":"\#(Self.other)","major":7}"#)
            #expect(answer.status < 300, "\(answer.body)")
        }
        for name in ["a", "b", "c", "d"] { try await put(name) }
        let before = try await numbers()
        try await put("b", .put, "/b", as: "B")
        #expect(try await send(bench, .delete, "/v1/regions/c").status < 300)
        try await put("e")
        let after = try await numbers()
        #expect(after["a"] == before["a"] && after["B"] == before["b"] && after["d"] == before["d"])
        #expect(after.keys.sorted() == ["B", "a", "d", "e"])
        #expect(
            try await names(bench, "/v1/regions", "regions")
                == ["hall file", "a console", "B console", "d console", "e console"])
    }

    @Test("Items of the file cannot be changed in the console, and override items with the same name")
    func file() async throws {
        let bench = try bench()
        for (method, body) in [(HTTPRequest.Method.put, #"{"name":"hall","uuid":"\#(Self.other)"}"#), (.delete, nil)] {
            let answer = try await send(bench, method, "/v1/regions/hall", body)
            #expect(answer.status == 409)
            #expect((answer.json["detail"] as? String)?.contains("is in the file") == true)
        }
        let item = ConfigurationItem(
            kind: .region, name: "hall",
            settings: .object(["name": .string("hall"), "uuid": .string(Self.other)]), origin: .console)
        let merged = bench.server.current.withLock { $0 }.adding([item])
        #expect(merged.regions.map(\.region.constraint) == [GatewayBench.constraint])
        #expect(merged.items.last?.fault?.contains("the file has a region of this name") == true)
    }

    @Test(
        "A fault is reported with its key, and nothing changes",
        arguments: [
            ("regions", #"{"name":"a"}"#, "uuid"), ("regions", #"{"name":"a","uuid":"x"}"#, "uuid"),
            ("regions", #"{"name":"a","uuid":"\#(other)","minor":1}"#, "minor"),
            ("regions", #"{"name":"a","uuid":"\#(other)","exit-timeout":"soon"}"#, "exit-timeout"),
            ("regions", #"{"name":"","uuid":"\#(other)"}"#, "name"), ("regions", #"{"name":".."}"#, "name"),
            ("regions", #"{"name":"a","uuid":"\#(other)","majr":1}"#, "majr"),
            ("places", #"{"name":"a"}"#, "receivers"),
            ("places", #"{"name":"away","receivers":["a"]}"#, "name"),
            ("places", #"{"name":"None","receivers":["a"]}"#, "name"),
            ("registered-beacons", #"{"name":"a","uuid":"\#(other)"}"#, "major"),
            ("rules", #"{"name":"a"}"#, "program"),
            ("rules", #"{"name":"a","events":["soon"],"message":"x"}"#, "events"),
        ])
    func faults(path: String, body: String, key: String) async throws {
        let bench = try bench()
        let answer = try await send(bench, .post, "/v1/\(path)", body)
        #expect(answer.status == 422)
        let keys = (answer.json["errors"] as? [[String: Any]])?.compactMap { $0["key"] as? String } ?? []
        #expect(keys.contains(key), "\(answer.body)")
        #expect(try await bench.state.items.all().isEmpty)
    }

    @Test("Items that a rule of the console refers to cannot be removed")
    func references() async throws {
        let bench = try bench()
        _ = try await send(bench, .post, "/v1/regions", #"{"name":"attic","uuid":"\#(Self.other)"}"#)
        let rule = #"{"name":"r","regions":["attic"],"events":["near"],"message":"hi"}"#
        #expect(try await send(bench, .post, "/v1/rules", rule).status == 201)
        let refused = try await send(bench, .delete, "/v1/regions/attic")
        #expect(refused.status == 409)
        #expect((refused.json["detail"] as? String)?.contains("the rule \"r\" could no longer be used") == true)
        #expect(try await send(bench, .delete, "/v1/rules/r").status == 204)
        #expect(try await send(bench, .delete, "/v1/regions/attic").status == 204)
    }

    @Test("Rules of the console start programs only if the file allows it")
    func programs() async throws {
        let rule = #"{"name":"r","events":["enter"],"program":["/bin/true","secret"]}"#
        let bench = try bench()
        #expect(try await send(bench, .post, "/v1/rules", rule).status == 422)
        let allowing = try self.bench { $0.web?.allowsPrograms = true }
        #expect(try await send(allowing, .post, "/v1/rules", rule).status == 201)
        #expect(try await names(allowing, "/v1/rules", "rules") == ["r console"])
        #expect(await allowing.rules.active.map(\.rule.name) == ["r"])
    }

    @Test("A rule that is off stays off when renamed, and a new rule is on")
    func switches() async throws {
        let bench = try bench()
        let rule = #"{"name":"r","events":["near"],"message":"hi"}"#
        func isOn(_ name: String) async throws -> Bool? {
            let rules = try await bench.ask(.get, "/v1/rules").json["rules"] as? [[String: Any]] ?? []
            return rules.first { $0["name"] as? String == name }?["enabled"] as? Bool
        }
        #expect(try await send(bench, .post, "/v1/rules", rule).status == 201)
        #expect(try await send(bench, .put, "/v1/rules/r/enabled", #"{"enabled":false}"#).status == 200)
        #expect(try await isOn("r") == false)
        let renamed = rule.replacingOccurrences(of: #""r""#, with: #""s""#)
        #expect(try await send(bench, .put, "/v1/rules/r", renamed).status == 200)
        #expect(try await isOn("s") == false)
        #expect(try await send(bench, .delete, "/v1/rules/s").status == 204)
        #expect(try await send(bench, .post, "/v1/rules", renamed).status == 201)
        #expect(try await isOn("s") == true)
        #expect(try await bench.state.trail.switches().isEmpty)
    }

    @Test("A region stays inside with other settings, without an enter or exit")
    func otherRules() async throws {
        let bench = try WebBench { $0.regions = [] }
        let region = #"{"name":"attic","uuid":"\#(GatewayBench.uuid)"}"#
        #expect(try await send(bench, .post, "/v1/regions", region).status == 201)
        let log = (0..<5).map { GatewayBench.line(1_000 + Double($0)) }.joined()
        let file = bench.bench.folder.appendingPathComponent("log").path
        try log.write(toFile: file, atomically: true, encoding: .utf8)
        // The same gateway, with a recording in which a beacon arrives.
        let live = bench.bench.gateway(
            [SourceSettings(name: "log", specification: .file(path: file))],
            broadcast: bench.broadcast,
            configuration: {
                var configuration = bench.bench.configuration(
                    [SourceSettings(name: "log", specification: .file(path: file))])
                configuration.web = WebSettings()
                return configuration
            }())
        await live.run()
        #expect(await live.state(of: "hall") == .inside)
        let words = bench.bench.words.count
        var changed = await live.configuration
        changed.regions[0].region.exitTimeout = .seconds(99)
        await live.apply(changed)
        #expect(await live.state(of: "hall") == .inside)
        #expect(bench.bench.words.count == words)
        #expect(await live.regionValues.first?.since == 1_000)
    }

    @Test("A read-only console changes nothing")
    func readOnly() async throws {
        var settings = WebSettings()
        settings.isReadOnly = true
        let bench = try WebBench(settings)
        for (method, path) in [
            (HTTPRequest.Method.post, "/v1/regions"), (.put, "/v1/plan"), (.delete, "/v1/installs/i"),
            (.put, "/v1/advertising"), (.post, "/v1/apps"), (.post, "/v1/outbox/drop"),
        ] {
            #expect(try await send(bench, method, path, "{}").status == 403, "\(path)")
        }
        #expect(try await bench.ask(.get, "/v1/status").json["readOnly"] as? Bool == true)
    }

    @Test("A new region starts as unknown, others keep their state, and each state is stored separately")
    func states() async throws {
        let runner = ScriptedRunner()
        let bench = try WebBench(
            sources: [GatewayBench.radio("a", isNamed: true)], runners: ["a": runner]
        ) { configuration in configuration.regions = [GatewayBench.region("hall")] }
        let run = Task { await bench.gateway.run() }
        try await eventually { await !bench.gateway.sourceValues.isEmpty }
        #expect(
            try await send(bench, .post, "/v1/regions", #"{"name":"attic","uuid":"\#(Self.other)"}"#).status == 201)
        #expect(await bench.gateway.state(of: "attic") == .unknown)
        #expect(try await send(bench, .delete, "/v1/regions/attic").status == 204)
        #expect(await bench.gateway.regionValues.map(\.name) == ["hall"])
        runner.channel.finish()
        await run.value
    }

    // MARK: - The table of beacons

    private static let table = #"""
        name,uuid,major,minor,place,floor\#r
        organ,\#(other),1,2,"hall, left",2\#r
        "the ""loom""",\#(other),1,3,,\#r

        """#

    private func post(_ bench: WebBench, _ table: String, _ query: String = "") async throws -> WebBench.Answer {
        try await bench.ask(
            .post, "/v1/registered-beacons/import\(query)",
            headers: [.consoleRequest: "1", .contentType: "text/csv"], body: table)
    }

    @Test("A table of beacons is imported and exported unchanged, also in other locales' spreadsheet formats")
    func tables() async throws {
        let bench = try bench()
        let counts = try await post(bench, Self.table)
        #expect(
            counts.json as NSDictionary == ["added": 2, "changed": 0, "removed": 0, "unchanged": 0] as NSDictionary)
        let exported = try await bench.ask(.get, "/v1/registered-beacons/export").body
        #expect(
            exported.hasSuffix(
                "organ,\(Self.other),1,2,\"hall, left\",2\r\n\"the \"\"loom\"\"\",\(Self.other),1,3,,\r\n"))
        #expect(try await post(bench, exported).json["unchanged"] as? Int == 3)
        let semicolons = "\u{FEFF}Name;UUID;Major;minor;PLACE\norgan;\(Self.other);1;2;attic\n"
        let changed = try await post(bench, semicolons, "?replace=true").json
        #expect(changed["changed"] as? Int == 1 && changed["removed"] as? Int == 1)
        #expect(
            try await names(bench, "/v1/registered-beacons", "beacons") == ["key file", "organ console"])
    }

    @Test(
        "A fault in a table is reported with its line, and nothing changes",
        arguments: [
            ("a,b\n", "line 1"), ("name,uuid,major,minor\nx,\(other),1\n", "line 2"),
            ("name,uuid,major,minor\nx,\(other),1,2\ny,\(other),1,70000\n", "line 3"),
            ("name,uuid,major,minor\nx,\(other),1,2\nx,\(other),1,3\n", "line 3"),
            ("name,uuid,major,minor\n\"x,\(other),1,2\n", "line 2"),
            ("name,uuid,major,minor\nkey,\(other),1,2\n", "line 2"),
        ])
    func tableFaults(table: String, line: String) async throws {
        let bench = try bench()
        let answer = try await post(bench, table)
        #expect(answer.status == 422)
        #expect((answer.json["errors"] as? [[String: Any]])?.first?["key"] as? String == line, "\(answer.body)")
        #expect(try await bench.state.items.all().isEmpty)
    }

    @Test("A table marks trackers in the way that spreadsheets write it")
    func trackers() async throws {
        let bench = try bench()
        let table = "name,uuid,major,minor,tracker\norgan,\(Self.other),1,2,TRUE\nloom,\(Self.other),1,3,\n"
        #expect(try await post(bench, table).json["added"] as? Int == 2)
        let exported = try await bench.ask(.get, "/v1/registered-beacons/export").body
        #expect(exported.hasPrefix("name,uuid,major,minor,place,tracker"))
        #expect(exported.contains("organ,\(Self.other),1,2,,true"))
        #expect(try await post(bench, exported).json["unchanged"] as? Int == 3)
        let wrong = try await post(bench, "name,uuid,major,minor,tracker\nclock,\(Self.other),1,4,perhaps\n")
        #expect(wrong.status == 422)
    }

    @Test("A cell that a spreadsheet would calculate is exported as text, and imported unchanged")
    func formulas() {
        #expect(BeaconTable.field("=1+1") == "'=1+1")
        #expect(BeaconTable.field("-5") == "'-5")
        #expect(BeaconTable.field("a\"b") == "\"a\"\"b\"")
    }
}
