import BeaconSupport
import Foundation
import GatewayTestSupport
import TestSupport
import Testing

@testable import BeaconFleet
@testable import BeaconGateway
@testable import BeaconModel
@testable import BeaconMonitoring

/// The configuration of a fleet never becomes less by chance.
@Suite("Fleets: the shared configuration")
struct FleetConfigurationTests {
    private static let regions = ["hall", "shop"].enumerated().map { index, name in
        GatewayBench.region(name, minor: UInt16(index + 1))
    }

    private static func bench() -> FleetBench {
        FleetBench(
            regions: regions, receivers: ["w"], begin: Timestamp(nanoseconds: 1_700_000_000 * FleetBench.second))
    }

    private static func add(_ name: String, _ minor: UInt16, at node: String, in bench: FleetBench) async throws {
        let item = FleetBench.item(GatewayBench.region(name, minor: minor))
        let editor = try #require(bench.machine(node))
        _ = try await editor.member.change(.add(item))
    }

    private static func names(_ bench: FleetBench) async -> [[String]] {
        var names: [[String]] = []
        for machine in bench.machines { names.append(await machine.member.items.map(\.name)) }
        return names
    }

    private static let orders = [
        ["a", "b", "c"], ["a", "c", "b"], ["b", "a", "c"], ["b", "c", "a"], ["c", "a", "b"], ["c", "b", "a"],
    ]

    @Test("In any order of the first start, all machines follow the only file with regions", arguments: orders)
    func first(order: [String]) async throws {
        let bench = Self.bench()
        for node in order {
            try await bench.start(node, hasItems: node == "a")
            await bench.pass(4)
        }
        await bench.pass(4)
        #expect(await Self.names(bench) == Array(repeating: ["hall", "shop"], count: 3))
    }

    @Test(
        "After a loss, the newest configuration that any machine knows counts, whichever machine comes first",
        arguments: orders, [0, 1, 2])
    func newest(order: [String], copy: Int) async throws {
        let bench = Self.bench()
        for node in ["a", "b", "c"] { try await bench.start(node, hasItems: node == "a") }
        await bench.pass(6)
        var copies = [LocalExchange.Hub.State(), bench.hub.copy]
        try await Self.add("first", 3, at: "b", in: bench)
        await bench.pass(6)
        copies.append(bench.hub.copy)
        // One machine misses the last change.
        bench.kill("a")
        try await Self.add("second", 4, at: "c", in: bench)
        await bench.pass(6)
        for node in ["b", "c"] { bench.kill(node) }
        await bench.pass(20)
        bench.hub.replace(.all, by: copies[copy])
        for node in order {
            try await bench.start(node, hasItems: node == "a")
            await bench.pass(4)
            // A machine with a new disk knows nothing.
            if node == order[0] { try await bench.start("new \(copy)", hasItems: false) }
        }
        await bench.pass(8)
        #expect(await Self.names(bench) == Array(repeating: ["hall", "shop", "first", "second"], count: 4))
        // Machines that run keep it, too, and so does a change by a console at the same time.
        bench.hub.replace(.all, by: copies[copy])
        try await Self.add("third", 5, at: order[1], in: bench)
        await bench.pass(8)
        #expect(await Self.names(bench) == Array(repeating: ["hall", "shop", "first", "second", "third"], count: 4))
    }

    @Test("A console can remove all regions, and neither a file, nor a restart, nor a loss brings them back")
    func empty() async throws {
        let bench = Self.bench()
        for node in ["a", "b"] { try await bench.start(node) }
        await bench.pass(6)
        for name in ["hall", "shop"] {
            let editor = try #require(bench.machine("b"))
            _ = try await editor.member.change(.remove(.region, name))
        }
        await bench.pass(6)
        bench.hub.replace(.all)
        await bench.pass(8)
        bench.kill("b")
        try await bench.start("b")
        await bench.pass(20)
        #expect(await Self.names(bench) == [[], []])
    }

    @Test("Publishing a file after a loss counts more than the configuration before the loss")
    func published() async throws {
        let bench = Self.bench()
        for node in ["a", "b"] { try await bench.start(node) }
        await bench.pass(6)
        try await Self.add("first", 3, at: "a", in: bench)
        await bench.pass(6)
        for node in ["a", "b"] { bench.kill(node) }
        await bench.pass(20)
        bench.hub.replace(.all)
        // The command runs on a machine that knows nothing.
        try await bench.start("c")
        let editor = try #require(bench.machine("c"))
        try await editor.member.publishOwn()
        bench.kill("c")
        for node in ["b", "a"] { try await bench.start(node) }
        await bench.pass(8)
        #expect(await Self.names(bench) == Array(repeating: ["hall", "shop"], count: 2))
    }

    @Test("A larger file of another machine replaces nothing, and is reported")
    func larger() async throws {
        let bench = Self.bench()
        try await bench.start("a", hasItems: false)
        await bench.pass(4)
        try await Self.add("first", 3, at: "a", in: bench)
        try await bench.start("b")
        await bench.pass(8)
        #expect(await Self.names(bench) == [["first"], ["first"]])
        #expect(bench.lines.all.contains { $0.contains("differs from the fleet's configuration in region hall") })
    }
}
