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

@Suite("Teaching in the console")
struct TeachingTests {
    private static let request =
        #"{"place":"bath","beacon":{"uuid":"\#(GatewayBench.uuid)","major":1,"minor":1}}"#

    /// A house with one radio, the hall's, that hears a beacon each second.
    private final class House: Sendable {
        let web: WebBench
        let runner: ScriptedRunner
        let running: Task<Void, Never>

        init(bench: GatewayBench? = nil) throws {
            let runner = ScriptedRunner()
            self.runner = runner
            let web = try WebBench(
                sources: [GatewayBench.radio("a", isNamed: true)],
                places: PlacePlan([.init(name: "hall", receivers: ["a"])]), runners: ["a": runner], bench: bench)
            self.web = web
            running = Task { await web.gateway.run() }
        }

        func hear(_ seconds: ClosedRange<Int>) async {
            await ScriptedRadios.onThread { [runner] in
                runner.channel.send(.state(.poweredOn))
                for second in seconds {
                    var batch = ScriptedRadios.batch(hearing: [Double(second) - 0.5], until: Double(second))
                    batch.receiverNames = ["a"]
                    runner.channel.send(.heard(batch))
                }
            }
            try? await eventually { await self.web.gateway.newestTime.seconds >= Double(seconds.upperBound) }
        }

        func ask(_ method: HTTPRequest.Method, _ path: String, _ body: String? = nil) async throws -> WebBench.Answer {
            try await web.ask(method, path, headers: [.consoleRequest: "1"], body: body)
        }

        func end() async {
            runner.channel.finish()
            await running.value
        }

        /// The names of the taught places with their points.
        func taught() async throws -> [String: Int] {
            let places = try await ask(.get, "/v1/taught").json["places"] as? [[String: Any]] ?? []
            return Dictionary(
                uniqueKeysWithValues: places.compactMap { place in
                    (place["name"] as? String).flatMap { name in (place["fromConsole"] as? Int).map { (name, $0) } }
                })
        }
    }

    @Test("Points that are kept count at once, survive a restart, and can be undone")
    func keeping() async throws {
        let bench = try GatewayBench()
        let house = try House(bench: bench)
        try await eventually { house.runner.mode.withLock { $0 } != nil }
        #expect(try await house.ask(.post, "/v1/teaching", Self.request).status == 201)
        #expect(house.runner.mode.withLock { $0 } == .ranging)
        let nothing = try await house.ask(.post, "/v1/teaching/keep")
        #expect(nothing.status == 409, "\(nothing.body)")
        await house.hear(1_000...1_025)
        #expect(await house.web.gateway.configuration.places?.taught == nil)
        let kept = try await house.ask(.post, "/v1/teaching/keep")
        #expect(kept.status == 200, "\(kept.body)")
        let points = await house.web.gateway.configuration.places?.taught?.places.first?.points ?? []
        #expect(points.count == 3)
        #expect(await house.web.gateway.configuration.places?.taught?.places.map(\.name) == ["bath"])
        let names = try await house.ask(.get, "/v1/places").json["places"] as? [[String: Any]] ?? []
        #expect(names.map { $0["name"] as? String } == ["hall", "bath"])
        #expect(names.map { $0["origin"] as? String } == ["file", "console"])
        // The teaching has ended, and a restart reads what was kept.
        #expect(try await house.ask(.delete, "/v1/teaching").status == 404)
        let stored = try await house.web.state.items.all()
        #expect(stored.map(\.kind) == [.taught])
        #expect(await house.web.gateway.base.adding(stored).places?.taught?.places.first?.points == points)
        // The next one of the same place can be undone alone.
        #expect(try await house.ask(.post, "/v1/teaching", Self.request).status == 201)
        await house.hear(1_030...1_040)
        #expect(try await house.ask(.post, "/v1/teaching/keep").status == 200)
        #expect(try await house.taught() == ["bath": 4])
        #expect(try await house.ask(.post, "/v1/taught/undo").status == 200)
        #expect(try await house.taught() == ["bath": 3])
        #expect(try await house.ask(.post, "/v1/taught/undo").status == 200)
        #expect(try await house.taught() == [:])
        #expect(try await house.ask(.post, "/v1/taught/undo").status == 404)
        await house.end()
    }

    @Test("Two requests that keep a teaching at once store one walk, and a place that was only taught can be changed")
    func twice() async throws {
        let house = try House()
        try await eventually { house.runner.mode.withLock { $0 } != nil }
        #expect(try await house.ask(.post, "/v1/teaching", Self.request).status == 201)
        await house.hear(1_000...1_025)
        async let first = house.ask(.post, "/v1/teaching/keep").status
        async let second = house.ask(.post, "/v1/teaching/keep").status
        #expect(try await [first, second].sorted() == [200, 404])
        #expect(try await house.taught() == ["bath": 3])
        // It gets a receiver, and a name.
        let changed = try await house.ask(.put, "/v1/places/bath", #"{"name":"tub","receivers":["b"]}"#)
        #expect(changed.status == 200 && changed.json["origin"] as? String == "console", "\(changed.body)")
        #expect(try await house.taught() == ["tub": 3])
        #expect(try await house.ask(.delete, "/v1/places/tub").status == 204)
        #expect(try await house.ask(.post, "/v1/teaching", Self.request).status == 201)
        await house.hear(1_030...1_045)
        #expect(try await house.ask(.post, "/v1/teaching/keep").status == 200)
        #expect(try await house.ask(.delete, "/v1/places/bath").status == 204)
        #expect(try await house.taught() == [:])
        await house.end()
    }

    @Test("Teaching follows the name of its place, and leaves with it")
    func renaming() async throws {
        let house = try House()
        try await eventually { house.runner.mode.withLock { $0 } != nil }
        #expect(try await house.ask(.post, "/v1/places", #"{"name":"bath","receivers":["b"]}"#).status == 201)
        #expect(try await house.ask(.post, "/v1/teaching", Self.request).status == 201)
        await house.hear(1_000...1_015)
        #expect(try await house.ask(.post, "/v1/teaching/keep").status == 200)
        let renamed = try await house.ask(.put, "/v1/places/bath", #"{"name":"tub","receivers":["b"]}"#)
        #expect(renamed.status == 200, "\(renamed.body)")
        #expect(try await house.taught().keys.sorted() == ["tub"])
        #expect(try await house.ask(.delete, "/v1/places/tub").status == 204)
        #expect(try await house.taught() == [:])
        await house.end()
    }

    @Test("One place is taught at a time, and nothing is kept of a teaching that nobody watches")
    func abandoned() async throws {
        let house = try House()
        try await eventually { house.runner.mode.withLock { $0 } != nil }
        #expect(try await house.ask(.post, "/v1/teaching", Self.request).status == 201)
        let second = try await house.ask(.post, "/v1/teaching", Self.request)
        #expect(second.status == 409 && second.body.contains("bath is being taught already"))
        await house.hear(1_000...1_015)
        let stream = try #require(await house.web.gateway.watchTeaching())
        for _ in 0..<10 { await house.web.gateway.sendHeartbeats() }
        #expect(await house.web.gateway.teaching != nil)
        // The watcher goes.
        let watcher = Task { for await _ in stream {} }
        watcher.cancel()
        try await eventually {
            await house.web.gateway.sendHeartbeats()
            return await house.web.gateway.teaching == nil
        }
        #expect(try await house.taught() == [:])
        #expect(try await house.ask(.post, "/v1/teaching", Self.request).status == 201)
        await house.end()
    }

    @Test("The stream shows the points with their levels, hints and what they would change")
    func watching() async throws {
        let house = try House()
        try await eventually { house.runner.mode.withLock { $0 } != nil }
        #expect(try await house.ask(.post, "/v1/teaching", Self.request).status == 201)
        await house.hear(1_000...1_021)
        let stream = try #require(await house.web.gateway.watchTeaching())
        var iterator = stream.makeAsyncIterator()
        let value = try #require(await iterator.next() ?? nil)
        #expect(value.points.count == 2 && value.levels.keys.sorted() == ["a"])
        #expect(value.points.allSatisfy { $0["a"]?.dBm == value.levels["a"] })
        #expect(value.hints == ["Only one receiver hears it here: this room cannot be told from its neighbors."])
        #expect(value.change?.places.map(\.name) == ["bath"])
        #expect(try await house.ask(.delete, "/v1/teaching").status == 204)
        await house.end()
    }

    @Test(
        "A place needs a name that Home Assistant has no other meaning for, and a beacon a valid identity",
        arguments: [
            #"{"place":"","beacon":{"uuid":"\#(GatewayBench.uuid)","major":1,"minor":1}}"#,
            #"{"place":"unknown","beacon":{"uuid":"\#(GatewayBench.uuid)","major":1,"minor":1}}"#,
            #"{"place":"bath","beacon":{"uuid":"x","major":1,"minor":1}}"#,
            #"{"place":"bath","beacon":{"uuid":"\#(GatewayBench.uuid)","major":1,"minor":70000}}"#,
        ])
    func invalid(body: String) async throws {
        let web = try WebBench()
        let answer = try await web.ask(.post, "/v1/teaching", headers: [.consoleRequest: "1"], body: body)
        #expect(answer.status == 422, "\(answer.body)")
    }
}
