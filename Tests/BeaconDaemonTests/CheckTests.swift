import TestSupport
import Testing

@Suite("beacond check", .fewAtATime)
struct CheckTests {
    @Test("A file without mistakes is status 0 and no word")
    func clean() async throws {
        let bench = try DaemonBench()
        try bench.configure("sources: [auto]\nregions: [{ name: a, uuid: \(DaemonBench.uuid) }]")
        let outcome = try await bench.run("check", "beacond.yaml")
        #expect(outcome.status == 0 && outcome.output.isEmpty && outcome.errors.isEmpty)
    }

    @Test("Mistakes are lines as compilers print them, and nothing starts with them")
    func mistakes() async throws {
        let bench = try DaemonBench()
        try bench.write("sources: [auto]\nregions:\n  - nmae: a\n    uuid: e2c5\n", to: "beacond.yaml")
        let lines = [
            #"beacond.yaml:3:5: error: in regions.1, "name" is missing: give the region a name, by which messages and other parts of the file call it"#,
            #"beacond.yaml:3:5: error: there is no key "nmae" here; was "name" meant?"#,
            #"beacond.yaml:4:11: error: "uuid" is "e2c5"; a UUID has 32 hexadecimal digits, as e2c56db5-dffb-48d2-b060-d0f5a71096e0"#,
        ]
        let check = try await bench.run("check", "beacond.yaml")
        #expect(check.status == 1)
        #expect(check.lines == lines)
        let run = try await bench.run("--config", "beacond.yaml")
        #expect(run.status == 1)
        #expect(run.errors == lines.joined(separator: "\n") + "\n")
    }

    @Test("A secret that is not here stops check and the daemon alike")
    func secrets() async throws {
        let bench = try DaemonBench()
        try bench.configure(
            """
            sources: [auto]
            regions: [{ name: a, uuid: \(DaemonBench.uuid) }]
            destinations: [{ name: c, type: webhook, url: 'https://example.com', secret: { env: NOT_HERE } }]
            """)
        let check = try await bench.run("check", "beacond.yaml")
        #expect(check.status == 1 && check.output.contains("error: \"secret\" is to come from NOT_HERE"))
        #expect(try await bench.run("--config", "beacond.yaml").status == 1)
        #expect(try await bench.run("check", "beacond.yaml", environment: ["NOT_HERE": "x"]).output.isEmpty)
    }

    @Test("A file that is not there is status 1, a mistake on the command line status 2, help status 0")
    func statuses() async throws {
        let bench = try DaemonBench()
        #expect(try await bench.run("check", "nowhere.yaml").status == 1)
        #expect(try await bench.run("check", "a", "b").status == 2)
        #expect(try await bench.run("--linger", "soon").status == 2)
        let help = try await bench.run("--help")
        #expect(help.status == 0 && help.output.contains("beacond check"))
        #expect(try await bench.run("help", "outbox", "drop").status == 0)
    }
}
