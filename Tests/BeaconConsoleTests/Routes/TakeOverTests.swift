import BeaconDelivery
import BeaconModel
import Foundation
import GatewayTestSupport
import HTTPTypes
import TestSupport
import Testing

@testable import BeaconConsole
@testable import BeaconGateway

@Suite("Items of the file that the console takes over")
struct TakeOverTests {
    /// A console whose configuration is in a file.
    private struct House {
        let web: WebBench
        let path: String

        init(_ items: String, sources: String = " []") throws {
            let bench = try GatewayBench()
            let path = bench.folder.appendingPathComponent("beacond.yaml").path
            self.path = path
            let text = """
                sources:\(sources)
                web: { read-only: false }
                outbox: { path: \(bench.folder.path)/beacond.sqlite }
                \(items)

                """
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            let checked = try GatewayConfiguration.check(file: path, environment: [:])
            try #require(checked.isUsable, "\(checked.diagnostics)")
            web = try WebBench(bench: bench) { $0 = checked.configuration }
        }

        func text(_ ending: String = "") throws -> String {
            try String(contentsOfFile: path + ending, encoding: .utf8)
        }

        func take(_ kind: String, _ name: String?) async throws -> WebBench.Answer {
            let name = name.map { #","name":"\#($0)""# } ?? ""
            return try await send(.post, "/v1/items/take-over", #"{"kind":"\#(kind)"\#(name)}"#)
        }

        func send(_ method: HTTPRequest.Method, _ path: String, _ body: String? = nil) async throws -> WebBench.Answer {
            try await web.ask(method, path, headers: [.consoleRequest: "1"], body: body)
        }

        /// The names and origins of a list's items that are in use.
        func list(_ path: String, _ key: String) async throws -> [String] {
            let items = try await web.ask(.get, path).json[key] as? [[String: Any]] ?? []
            return items.map { "\($0["name"] ?? "") \($0["origin"] ?? "")" }
        }
    }

    private static let uuid = GatewayBench.uuid
    private static let beacons = """
        beacons:
          # Ann's
          - { name: keys, uuid: \(uuid), major: 1, minor: 1 }
          # The cat's
          - { name: cat, uuid: \(uuid), major: 1, minor: 2 }
        """

    @Test("It leaves the file, can be changed in the console, and survives a restart")
    func beacon() async throws {
        let house = try House(Self.beacons)
        let before = try house.text()
        let answer = try await house.take("beacon", "cat")
        #expect(answer.status == 200, "\(answer.body)")
        #expect(answer.json["copy"] as? String == house.path + ".old")
        #expect(try house.text(".old") == before)
        #expect(
            try house.text()
                == before.replacing(
                    "  # The cat's\n  - { name: cat, uuid: \(Self.uuid), major: 1, minor: 2 }\n", with: ""))
        #expect(try await house.list("/v1/registered-beacons", "beacons") == ["keys file", "cat console"])
        let renamed = try await house.send(
            .put, "/v1/registered-beacons/cat", #"{"name":"Tom","uuid":"\#(Self.uuid)","major":1,"minor":2}"#)
        #expect(renamed.status == 200, "\(renamed.body)")
        // Another process, later.
        let later = try GatewayConfiguration.check(file: house.path, environment: [:])
        let whole = later.configuration.adding(try await house.web.state.items.all())
        #expect(whole.beacons.map(\.name) == ["keys", "Tom"])
        #expect(whole.items.allSatisfy { $0.fault == nil })
    }

    @Test("All items of a kind are taken over at once, with one copy")
    func all() async throws {
        let house = try House(Self.beacons)
        let answer = try await house.take("beacon", nil)
        #expect(answer.json["names"] as? [String] == ["keys", "cat"])
        #expect(try house.text().contains("beacons: []\n"))
        #expect(try await house.list("/v1/registered-beacons", "beacons") == ["keys console", "cat console"])
        #expect(try await house.take("beacon", nil).status == 404)
    }

    @Test("A region continues with its state")
    func region() async throws {
        let house = try House("regions:\n  - { name: hall, uuid: \(Self.uuid), exit-timeout: 1m }")
        let gateway = house.web.gateway
        await gateway.begin(with: Presence())
        let before = try #require(await gateway.conditions[.region("hall")]?.id)
        #expect(try await house.take("region", "hall").status == 200)
        #expect(await gateway.conditions[.region("hall")]?.id == before)
        #expect(await gateway.base.regions.isEmpty)
        // A change that follows starts from the new file.
        #expect(try await house.send(.delete, "/v1/regions/hall").status == 204)
        #expect(await gateway.conditions[.region("hall")] == nil)
    }

    @Test("Places and rules are taken over")
    func others() async throws {
        let house = try House(
            """
            places:
              - name: 7
                receivers: [a]
            launch:
              rules:
                - name: greet
                  events: [enter]
                  message: hello
            """)
        #expect(try await house.take("place", "7").status == 200)
        #expect(try await house.list("/v1/places", "places") == ["7 console"])
        #expect(try await house.take("rule", "greet").status == 200)
        #expect(try await house.list("/v1/rules", "rules") == ["greet console"])
        #expect(try GatewayConfiguration.check(file: house.path, environment: [:]).isUsable)
    }

    @Test(
        "A source that the file writes as one word is taken over, and the others stay",
        arguments: [
            (" [simulation:museum, simulation:still] # two", " [simulation:still] # two"),
            ("\n- simulation:museum\n- simulation:still", "\n- simulation:still"),
            (" simulation:museum", " []"), (" [simulation:museum]", " []"),
        ])
    func words(before: String, after: String) async throws {
        let house = try House("", sources: before)
        #expect(try await house.list("/v1/sources", "configured").first == "simulation:museum file")
        let answer = try await house.take("source", "simulation:museum")
        #expect(answer.status == 200, "\(answer.body)")
        let text = try house.text()
        #expect(text.hasPrefix("sources:\(after)\n"), "\(text)")
        #expect(try await house.list("/v1/sources", "configured").last == "simulation:museum console")
        let later = try GatewayConfiguration.check(file: house.path, environment: [:]).configuration
        let stored = try await house.web.state.items.all()
        #expect(later.adding(stored).sources.contains { $0.name == "simulation:museum" })
    }

    @Test("A radio that is one word keeps the name of its receiver")
    func radio() throws {
        let house = try House("", sources: " [air]")
        let base = try GatewayConfiguration.check(file: house.path, environment: [:]).configuration
        func taken(_ receivers: [String]) throws -> SourceSettings? {
            let move = try TakeOver(.source, "air", in: base, receivers: ["air": receivers])
            return move.rest(of: base).adding(move.items).sources.first
        }
        #expect(try taken(["hci0"])?.receiver == "hci0")
        #expect(throws: ItemChange.Failure.self) { try taken(["hci0", "hci1"]) }
    }

    @Test("What the file still refers to stays, and the answer says why")
    func referred() async throws {
        let house = try House(
            """
            regions:
              - { name: hall, uuid: \(Self.uuid) }
            launch:
              rules: [{ name: greet, regions: [hall], events: [enter], message: hello }]
            """)
        let before = try house.text()
        let answer = try await house.take("region", "hall")
        #expect(answer.status == 409)
        #expect((answer.json["detail"] as? String)?.contains("\"hall\"") == true, "\(answer.body)")
        #expect(try house.text() == before)
        #expect(try await house.list("/v1/regions", "regions") == ["hall file"])
        // The list is in one line.
        #expect(try await house.take("rule", "greet").status == 409)
        #expect(try await house.take("rule", "other").status == 404)
        #expect(try await house.take("room", "hall").status == 422)
    }

    @Test("A file that has changed, or that cannot be written, leaves everything as it is")
    func failures() async throws {
        let house = try House(Self.beacons)
        let before = try house.text()
        try Data(before.replacing("minor: 2", with: "minor: 3").utf8).write(to: URL(fileURLWithPath: house.path))
        let changed = try await house.take("beacon", "cat")
        #expect(changed.status == 409 && changed.body.contains("has changed"), "\(changed.body)")
        #expect(try await house.take("beacon", "keys").status == 200)
        for number in 1...99 { try Data().write(to: URL(fileURLWithPath: house.path + ".old\(number)")) }
        try Data(before.utf8).write(to: URL(fileURLWithPath: house.path))
        let full = try await house.take("beacon", "cat")
        #expect(full.status == 409 && full.body.contains("100 old copies"), "\(full.body)")
        #expect(try house.text() == before)
        #expect(try await house.web.state.items.all().map(\.name) == ["keys"])
        #expect(try await house.list("/v1/registered-beacons", "beacons") == ["cat file", "keys console"])
    }
}
