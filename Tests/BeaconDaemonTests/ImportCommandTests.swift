import Foundation
import TestSupport
import Testing

@Suite("beacond import", .fewAtATime)
struct ImportCommandTests {
    private static let key = "ec0234a357c8ad05341010a60a397d9b"
    private static let topics = """
        espresense/rooms/hall/name Hall
        espresense/rooms/hall/known_irks \(key)
        espresense/rooms/hall/max_distance 16.00
        espresense/settings/iBeacon:\(DaemonBench.uuid)-1-7/config {"name":"Keys","rssi@1m":-57}

        """

    private func mode(_ bench: DaemonBench, _ name: String) throws -> Int? {
        let path = bench.folder.appendingPathComponent(name).path
        return try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("It writes files that pass the check, keys apart for their owner alone, and never a second time")
    func written() async throws {
        let bench = try DaemonBench()
        try bench.write(Self.topics, to: "topics")
        let outcome = try await bench.run("import", "topics", "--broker", "mqtt://u@127.0.0.1", "--output", "new.yaml")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains("1 beacon, 1 phone, 1 measured power"), "\(outcome.errors)")
        #expect(outcome.errors.contains("Not taken over: rooms.hall.max_distance"), "\(outcome.errors)")
        #expect(!bench.read("new.yaml").contains(Self.key))
        #expect(bench.read("new.env") == "PHONE_IRK=\"\(Self.key)\"\n")
        #expect(try mode(bench, "new.env") == 0o600)
        #expect(bench.read("new.calibration.json").contains("-57"))
        let check = try await bench.run("check", "new.yaml")
        #expect(check.status == 0, "\(check.output)")
        #expect(check.errors.contains("1 source, no region, 2 named beacons, 1 destination"), "\(check.errors)")
        let text = bench.read("new.yaml")
        let again = try await bench.run("import", "topics", "--output", "new.yaml")
        #expect(again.status == 2 && again.errors.contains("exists, and is not overwritten"), "\(again.errors)")
        #expect(bench.read("new.yaml") == text)
    }

    @Test("Without --output it prints the configuration, and says that it keeps secrets to itself")
    func printed() async throws {
        let bench = try DaemonBench()
        try bench.write(Self.topics, to: "topics")
        let outcome = try await bench.run("import", "topics")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("beacons:") && !outcome.output.contains(Self.key), "\(outcome.output)")
        #expect(outcome.errors.contains("The secrets PHONE_IRK are not printed"), "\(outcome.errors)")
        // The same from standard input, which here is empty.
        let empty = try await bench.run("import", "-")
        #expect(empty.status == 1 && empty.errors.contains("cannot recognize standard input"), "\(empty.errors)")
    }

    @Test(
        "Mistakes are reported",
        arguments: [
            (["nothing"], 1, "no such file"), (["here.txt"], 1, "Name its kind with --from"), ([], 2, "file"),
            (["here.txt", "--from", "openhab"], 2, "--from"),
            (["here.txt", "--broker", "http://a"], 2, "--broker is http://a"),
            (["empty"], 1, "has none of the files"),
        ])
    func mistakes(arguments: [String], status: Int, words: String) async throws {
        let bench = try DaemonBench()
        try bench.write("hello\n", to: "here.txt")
        try FileManager.default.createDirectory(
            at: bench.folder.appendingPathComponent("empty"), withIntermediateDirectories: false)
        let outcome = try await bench.run(DaemonBench.product("beacond"), ["import"] + arguments)
        #expect(outcome.status == status, "\(outcome.errors)")
        #expect(outcome.errors.contains(words), "\(outcome.errors)")
    }
}
