import TestSupport
import Testing

@Suite("beacond's console", .oneAtATime)
struct ConsoleTests {
    @Test("Its address is printed, or what turns it on")
    func open() async throws {
        let bench = try DaemonBench()
        let file = "sources: [auto]\nregions: [{ name: a, uuid: \(DaemonBench.uuid) }]\n"
        try bench.configure(file + "web: true")
        let there = try await bench.run("open", "--config", "beacond.yaml")
        #expect(there.status == 0 && there.output == "http://127.0.0.1:8099/\n")
        try bench.configure(file)
        let none = try await bench.run("open", "--config", "beacond.yaml")
        #expect(none.status == 2 && none.errors.contains("web: true"))
    }

    @Test("A token is another one each time, and its hash is accepted by the configuration")
    func token() async throws {
        let bench = try DaemonBench()
        let (first, second) = (try await bench.run("token"), try await bench.run("token"))
        #expect(first.status == 0 && first.lines.count == 2 && first.lines != second.lines)
        let hash = try #require(first.lines.last)
        #expect(hash.hasPrefix("token-hash: "))
        try bench.configure(
            "sources: [auto]\nregions: [{ name: a, uuid: \(DaemonBench.uuid) }]\nweb: { \(hash) }")
        #expect(try await bench.run("check", "beacond.yaml").output.isEmpty)
    }
}
