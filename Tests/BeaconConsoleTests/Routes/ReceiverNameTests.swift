import BeaconEngine
import BeaconModel
import BeaconMonitoring
import Foundation
import GatewayTestSupport
import HTTPTypes
import TestSupport
import Testing

@testable import BeaconConsole
@testable import BeaconGateway

@Suite("The name of a receiver, changed in the console")
struct ReceiverNameTests {
    private static func json(_ text: String) throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    }

    private static func source(_ text: String) throws -> ConfigurationItem {
        try ItemChanges.item(.source, json(text))
    }

    @Test("A source in the network names a receiver by its key, and another one its only receiver")
    func settings() throws {
        let broker = SourceSettings(name: "b", specification: SourceSpecification("mqtt://h"))
        let settings = try Self.json(#"{"name":"b","from":"mqtt://h","receivers":{"x":"hall","y":"attic"}}"#)
        #expect(
            try broker.settings(settings, naming: "x", "front", isOnly: false)
                == Self.json(#"{"name":"b","from":"mqtt://h","receivers":{"x":"front","y":"attic"}}"#))
        let radio = SourceSettings(name: "hci0", specification: SourceSpecification("hci"))
        let own = try Self.json(#"{"name":"hci0","from":"hci"}"#)
        #expect(
            try radio.settings(own, naming: nil, "front", isOnly: true)
                == Self.json(#"{"name":"hci0","from":"hci","receiver":"front"}"#))
        #expect(radio.settings(own, naming: nil, "front", isOnly: false) == nil)
    }

    @Test("Its place, what was taught, the plan and its learned offset follow in one step")
    func following() async throws {
        let web = try WebBench()
        let base = await web.gateway.base
        func change(_ changes: [ItemChange]) async throws {
            _ = try await web.state.items.apply(.several(changes), to: base)
        }
        let walk = PlaceTeaching.Walk(time: 1, points: [["a": -10, "b": nil]])
        try await change([
            .add(Self.source(#"{"name":"s","from":"simulation:museum?loop","moves":["a"]}"#)),
            .add(ItemChanges.item(.place, Self.json(#"{"name":"Hall","receivers":["a","b"]}"#))),
            .add(PlaceTeaching(name: "Hall", walks: [walk]).item()),
        ])
        var plan = BuildingPlan()
        (plan.width, plan.height, plan.receivers) = (10, 10, ["a": [1, 2], "b": [3, 4]])
        try await web.state.set(.plan, to: JSONEncoder().encode(plan))
        try await web.state.set(.offsets, to: JSONEncoder().encode(OffsetLearner(moving: ["a"], receivers: ["a": 2.5])))
        let source = try Self.source(
            #"{"name":"s","from":"simulation:museum?loop","moves":["a"],"receiver":"front"}"#)
        try await change([.replace("s", by: source), .rename(ReceiverRename("a", to: "front"))])

        let after = base.adding(try await web.state.items.all())
        #expect(after.items.allSatisfy { $0.fault == nil })
        #expect(after.places?.places.first?.receivers == ["front", "b"])
        // In Home Assistant, the place stays the same device.
        #expect(after.places?.places.first?.id == "a")
        #expect(after.teachings.first?.points == [["front": -10, "b": nil]])
        #expect(after.sources.last?.moving == .named(["front"]))
        #expect(try await web.state.buildingPlan().receivers == ["front": [1, 2], "b": [3, 4]])
        #expect(try await web.state.learnedOffsets()?.receivers == ["front": 2.5])
    }

    @Test(
        "A receiver that the file names elsewhere keeps its name",
        arguments: ["places: [{ name: Hall, receivers: [a] }]", "suspicious: { receivers: { a: [0, 0] } }"])
    func ofFile(rest: String) throws {
        let base = GatewayConfiguration.check(
            "sources: []\n\(rest)", folder: URL(fileURLWithPath: "/"), environment: [:]
        ).configuration
        #expect(throws: ItemChange.Failure.self) { try ReceiverRename("a", to: "front").check(base) }
        try ReceiverRename("b", to: "front").check(base)
    }

    @Test("A name that is taken, a source of the file and an unknown receiver are refused")
    func refusals() async throws {
        let bench = try GatewayBench()
        let log = try bench.log("log", ["a", "b"].map { GatewayBench.line(1_000, receiver: $0) }.joined())
        let web = try WebBench(sources: [log], bench: bench)
        let running = Task { await web.gateway.run() }
        try await eventually { await web.gateway.receiverValues.count == 2 }
        for (name, new, status, words) in [
            ("a", "b", 409, "another receiver"), ("a", "front", 409, "take it over first"),
            ("c", "front", 404, "no receiver"),
            ("a", "", 422, "name"), ("a", "a", 200, "\"a\""),
        ] {
            let answer = try await web.ask(
                .put, "/v1/receivers/\(name)/name", headers: [.consoleRequest: "1"], body: #"{"name":"\#(new)"}"#)
            #expect(answer.status == status && answer.body.contains(words), "\(answer.body)")
        }
        await web.gateway.stop()
        await running.value
    }
}
