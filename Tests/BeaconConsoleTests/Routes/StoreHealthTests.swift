import BeaconDelivery
import BeaconEventStore
import BeaconModel
import BeaconSupport
import Foundation
import GatewayTestSupport
import HTTPTypes
import TestSupport
import Testing

@testable import BeaconConsole
@testable import BeaconGateway

@Suite("The interface: event store")
struct StoreHealthTests {
    private static var event: BeaconNotification { .shown(.receiver, receiver: "r") }

    /// Returns the health status, and its findings of a severity.
    private func health(_ web: WebBench, _ severity: String) async throws -> (status: String?, [[String: Any]]) {
        let answer = try await web.ask(.get, "/v1/health").json
        let findings = answer["findings"] as? [[String: Any]] ?? []
        return (answer["status"] as? String, findings.filter { $0["severity"] as? String == severity })
    }

    @Test(
        "A disk failure is a finding at once, with its remedy, and disappears within a second after its end",
        arguments: [
            (EventStoreError.Code.full, "room"), (.locked, "program"), (.damaged, "disk"), (.cannotWrite, "disk"),
        ])
    func failing(_ code: EventStoreError.Code, _ remedy: String) async throws {
        let disk = TestDisk()
        let web = try WebBench(bench: GatewayBench(disk: disk))
        let store = web.history.store
        let running = Task { await store.run() }
        try await web.history.append([Self.event])
        #expect(try await health(web, "error").status == "good")
        disk.fail(EventStoreError(code, "no sector is left"))
        await #expect(throws: EventStoreError.self) { try await web.history.append([Self.event]) }
        let (status, errors) = try await health(web, "error")
        #expect(status == "failing" && errors.count == 1)
        #expect((errors.first?["what"] as? String)?.contains("no sector is left") == true)
        #expect((errors.first?["remedy"] as? String)?.contains(remedy) == true)
        disk.fail(nil)
        // No caller writes. The store retries by itself.
        try await eventually("the failure ends") {
            disk.advance(by: .milliseconds(500))
            return try await health(web, "error").1.isEmpty
        }
        // A replaced file is a warning while the damaged file exists.
        let (after, warnings) = try await health(web, "warning")
        #expect(after == (code == .damaged ? "warning" : "good") && warnings.count == (code == .damaged ? 1 : 0))
        if code == .damaged {
            let old = try #require(store.recovery?.movedTo)
            #expect((warnings.first?["remedy"] as? String)?.contains(old.path) == true)
            try FileManager.default.removeItem(at: old)
            #expect(try await health(web, "warning").status == "good")
        }
        running.cancel()
        await running.value
    }

    @Test("A rule whose program cannot run or failed is a finding, and is shown with the rule, until it works")
    func rulePrograms() async throws {
        let bench = try GatewayBench()
        let web = try WebBench(bench: bench) { configuration in
            for (name, words) in [
                ("missing", ["/nowhere/notify.sh"]), ("failing", ["/bin/sh", "-c", "test -e now"]),
                ("good", ["/bin/true"]),
            ] {
                var rule = Rule(name: name, target: .program(words), interval: .zero)
                rule.folder = bench.folder.path
                configuration.launch.rules.append(rule)
            }
            var off = Rule(name: "off", target: .program(["/nowhere/notify.sh"]))
            off.isEnabled = false
            configuration.launch.rules.append(off)
        }
        func findings(_ severity: String) async throws -> [String] {
            try await health(web, severity).1.compactMap { $0["what"] as? String }
        }
        func faults() async throws -> [String?] {
            let rules = try await web.ask(.get, "/v1/rules").json["rules"] as? [[String: Any]] ?? []
            return rules.map { $0["fault"] as? String }
        }
        let errors = try await findings("error")
        #expect(
            errors.count == 1 && errors[0].contains("the rule missing fails: there is no program /nowhere/notify.sh"))
        #expect(try await findings("warning").isEmpty)
        #expect(try await faults().map { $0 != nil } == [true, false, false, true])
        let runner = try #require(await web.rules.active.first { $0.rule.name == "failing" }?.runner)
        runner.enqueue([])
        try await eventually("it fails") {
            try await findings("warning").contains { $0.contains("ended with status 1") }
        }
        #expect(try await faults().map { $0 != nil } == [true, true, false, true])
        #expect(FileManager.default.createFile(atPath: bench.folder.path + "/now", contents: nil))
        // Until then the rule waits longer after each failure.
        runner.enqueue([])
        try await eventually("it works again") { try await findings("warning").isEmpty }
        await web.rules.stop()
    }

    @Test("A write that takes a second is a finding until it ends, and delays no answer")
    func slow() async throws {
        let disk = TestDisk()
        let web = try WebBench(bench: GatewayBench(disk: disk))
        disk.hang()
        defer { disk.release() }
        let writing = Task { try await web.history.append([Self.event]) }
        // The write began by this clock, which is stopped until then.
        try await eventually("the write takes a second") {
            disk.advance(by: .milliseconds(500))
            return web.history.store.health.isSlow
        }
        let (status, warnings) = try await health(web, "warning")
        #expect(status == "warning" && warnings.count == 1)
        #expect((warnings.first?["what"] as? String)?.contains("slow") == true)
        for path in ["/v1/status", "/metrics"] { #expect(try await web.ask(.get, path).status == 200) }
        disk.release()
        try await writing.value
        #expect(try await health(web, "warning").status == "good")
    }

    @Test("Rules that cannot read events are a finding with the cause")
    func rules() async throws {
        let disk = TestDisk()
        let web = try WebBench(bench: GatewayBench(disk: disk))
        let consumer = web.server.consumer
        var event = Self.event
        event.sender = "museum"
        try await web.history.receive([event])
        func run(until holds: () async throws -> Bool) async throws {
            let running = Task { await consumer.run() }
            try await eventually("the finding of rules", holds)
            running.cancel()
            await running.value
        }
        func finding() async throws -> [String: Any]? {
            try await health(web, "error").1.first { ($0["what"] as? String)?.hasPrefix("rules cannot") == true }
        }
        disk.fail(EventStoreError(.full, "no sector is left"))
        try await run { try await finding() != nil }
        #expect((try await finding()?["what"] as? String)?.contains("no sector is left") == true)
        #expect(try await finding()?["remedy"] is String)
        disk.fail(nil)
        try await run { try await finding() == nil }
    }

    @Test("The store's contents and limits are in the status and the metrics")
    func usage() async throws {
        let disk = TestDisk()
        let web = try WebBench(bench: GatewayBench(disk: disk))
        let store = web.history.store
        try await web.history.append([Self.event, Self.event])
        try await web.history.receive([Self.event])
        var step = Step()
        step.set(GatewayState.Namespace.region, "k", to: Data([1]))
        try await store.append(step)
        disk.fail(EventStoreError(.full, "no sector is left"))
        store.enqueue(Step([try Self.event.event(for: [])]))
        try await eventually { store.health.failure != nil }
        let status = try #require(try await web.ask(.get, "/v1/status").json["store"] as? [String: Any])
        func part(_ path: String...) -> [String: Any] {
            path.reduce(status) { $0[$1] as? [String: Any] ?? [:] }
        }
        #expect(part("events")["rows"] as? Int == 3 && part("events")["maximumRows"] as? Int == 100_000)
        #expect(part("events")["age"] as? Int == 90 * 86_400 && part("events")["bytes"] as? Int ?? 0 > 0)
        #expect(part("memory")["rows"] as? Int == 1 && part("memory")["maximumRows"] as? Int == 10_000)
        #expect(part("memory")["age"] is NSNull)
        #expect(part("consumers", Event.rules)["rows"] as? Int == 1)
        let state = part("state", GatewayState.Namespace.region)
        #expect(state["rows"] as? Int == 1 && state["bytes"] as? Int == 1 && state["maximumRows"] as? Int == 200_000)
        #expect(status["fileBytes"] as? Int ?? 0 > 4_096 && status["maximumFileBytes"] is NSNull)
        let lines = try await web.ask(.get, "/metrics").body.split(separator: "\n")
        for line in [
            #"beacon_event_store_rows{part="events",name=""} 3"#,
            #"beacon_event_store_limit_rows{part="events",name=""} 100000"#,
            #"beacon_event_store_limit_seconds{part="events",name=""} 7776000"#,
            #"beacon_event_store_rows{part="memory",name=""} 1"#,
            #"beacon_event_store_rows{part="consumer",name=".rules"} 1"#,
            #"beacon_event_store_bytes{part="state",name="\#(GatewayState.Namespace.region)"} 1"#,
            #"beacon_event_store_limit_bytes{part="state",name="\#(GatewayState.Namespace.region)"} 67108864"#,
            "# TYPE beacon_event_store_file_bytes gauge",
        ] { #expect(lines.contains { $0 == line }, "\(line)") }
    }
}
