import Foundation
import Subprocess
import TestSupport
import Testing

@Suite("beacond's console", .fewAtATime)
struct ConsoleTests {
    @Test("Its address is printed, or how to turn it on")
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

    @Test("Readiness is a status, with a reason if no receiver hears")
    func ready() async throws {
        let bench = try DaemonBench()
        let port = try FreePort.find()
        let file = "sources: [simulation:museum]\nregions: [{ name: a, uuid: \(DaemonBench.uuid) }]\n"
        try bench.configure(file)
        let none = try await bench.run("ready", "--config", "beacond.yaml")
        #expect(none.status == 2 && none.errors.contains("web: true"))
        try bench.configure(file + "web: { listen: \"0.0.0.0:\(port)\", trusted-proxies: 192.0.2.1 }")
        let absent = try await bench.run("ready", "--config", "beacond.yaml")
        #expect(absent.status == 1 && absent.errors.contains("does not answer at http://127.0.0.1:\(port)/"))
        _ = try await bench.run(["--config", "beacond.yaml"]) { beacond in
            try await beacond.wait("it hears") {
                let asked = try await bench.run("ready", "--config", "beacond.yaml")
                #expect(asked.status == 0 || !asked.errors.isEmpty)
                return asked.status == 0
            }
            try beacond.send(.terminate)
        }
    }

    @Test("A backup is restored into the store of a configuration with keys of a later version")
    func restored() async throws {
        let bench = try DaemonBench()
        let port = try FreePort.find()
        let file = "sources: [simulation:museum]\nregions: [{ name: a, uuid: \(DaemonBench.uuid) }]\n"
        try bench.configure(file + "web: { listen: \"127.0.0.1:\(port)\" }")
        _ = try await bench.run(["--config", "beacond.yaml"]) { beacond in
            try await beacond.wait("it hears") {
                try await bench.run("ready", "--config", "beacond.yaml").status == 0
            }
            let program = "import sys, urllib.request; urllib.request.urlretrieve(sys.argv[1], 'beacond.backup')"
            let words = ["python3", "-c", program, "http://127.0.0.1:\(port)/v1/backup"]
            let download = try await bench.run("/usr/bin/env", words)
            #expect(download.status == 0, "\(download.errors)")
            try beacond.send(.terminate)
        }
        try bench.configure(file + "teleport: true")
        let outcome = try await bench.run("restore", "beacond.backup", "--config", "beacond.yaml")
        #expect(outcome.status == 0, "\(outcome.errors)")
        let store = bench.folder.appendingPathComponent("outbox.sqlite").path
        #expect(outcome.output.contains("The state is in \(store)."), "\(outcome.output)")
        #expect(bench.read("beacond.yaml.restored").contains("web: { listen"))
        #expect(bench.read("beacond.yaml").contains("teleport"))
    }

    @Test("The next attempt of a delivery is reported by the clock of the recording, like all times")
    func nextAttempt() async throws {
        struct Status: Decodable { var time: Double }
        struct Overview: Decodable {
            struct Destination: Decodable {
                var failingSince: Double?
                var nextAttempt: Double?
            }
            var destinations: [Destination]
        }
        let bench = try DaemonBench()
        let port = try FreePort.find()
        // The clock of the recording is years behind.
        try bench.configure(
            """
            sources: ["simulation:museum?loop"]
            regions: [{ name: a, uuid: \(DaemonBench.uuid) }]
            destinations: [{ name: c, type: webhook, url: "http://127.0.0.1:1/" }]
            web: { listen: "127.0.0.1:\(port)" }
            """)
        @Sendable func get(_ path: String) async throws -> Data {
            let program = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())"
            let words = ["python3", "-c", program, "http://127.0.0.1:\(port)/v1/\(path)"]
            return Data(try await bench.run("/usr/bin/env", words).output.utf8)
        }
        _ = try await bench.run(["--config", "beacond.yaml"]) { beacond in
            try await beacond.wait("a delivery fails") {
                let answer = try await get("outbox")
                guard let overview = try? JSONDecoder().decode(Overview.self, from: answer) else { return false }
                guard let destination = overview.destinations.first, let next = destination.nextAttempt else {
                    return false
                }
                let time = try JSONDecoder().decode(Status.self, from: try await get("status")).time
                #expect(abs(next - time) < 3600)
                #expect(abs(try #require(destination.failingSince) - time) < 3600)
                return true
            }
            try beacond.send(.terminate)
        }
    }

    @Test("Each token is different, and the configuration accepts its hash")
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
