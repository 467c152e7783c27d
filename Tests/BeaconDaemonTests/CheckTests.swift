import TestSupport
import Testing

@Suite("beacond check", .fewAtATime)
struct CheckTests {
    @Test("A valid file gives status 0, and a summary on standard error")
    func clean() async throws {
        let bench = try DaemonBench()
        try bench.configure("sources: [auto]\nregions: [{ name: a, uuid: \(DaemonBench.uuid) }]")
        let outcome = try await bench.run("check", "beacond.yaml")
        #expect(outcome.status == 0 && outcome.output.isEmpty)
        #expect(outcome.errors == "beacond.yaml can be used: 1 source, 1 region, no destination.\n")
    }

    @Test("A secret can come from the file beside the configuration; the environment goes first")
    func secretsBeside() async throws {
        let bench = try DaemonBench()
        try bench.configure(
            """
            sources: [auto]
            regions: [{ name: a, uuid: \(DaemonBench.uuid) }]
            destinations: [{ name: c, type: mqtt, host: localhost, user: u, password: { env: MQTT_PASSWORD } }]
            """)
        let none = try await bench.run("check", "beacond.yaml")
        #expect(none.status == 1)
        #expect(none.output.contains("add MQTT_PASSWORD=… to"), "\(none.output)")
        try bench.write("# a comment\nnonsense\nMQTT_PASSWORD='x y'\n", to: "beacond.env", mode: 0o600)
        let outcome = try await bench.run("check", "beacond.yaml")
        #expect(outcome.status == 0, "\(outcome.output)")
        #expect(
            outcome.output.hasSuffix(
                "beacond.env:2: warning: this line is not NAME=value without blanks around the name, and is ignored\n"
            ))
        #expect(outcome.errors.hasSuffix("1 destination, 1 warning.\n"))
        // A near miss is reported with its line.
        try bench.write("MQTT_PASWORD=x\n", to: "beacond.env", mode: 0o600)
        let misspelt = try await bench.run("check", "beacond.yaml")
        #expect(misspelt.output.contains("has MQTT_PASWORD in line 1"), "\(misspelt.output)")
        try bench.write("MQTT_PASSWORD=\n", to: "beacond.env", mode: 0o600)
        let empty = try await bench.run("check", "beacond.yaml")
        #expect(empty.output.contains("MQTT_PASSWORD in line 1 of "), "\(empty.output)")
    }

    @Test("Receivers with the same name are warnings, and the file can be used (P2)")
    func equalReceivers() async throws {
        let bench = try DaemonBench()
        try bench.configure(
            """
            sources:
              - { name: a, from: "hci:hci0", receiver: hall }
              - { name: b, from: "hci:hci1", receiver: hall }
              - { name: c, from: "hci:hci2" }
              - { name: d, from: "hci:hci3", receiver: c }
              - { name: e, mqtt: { host: localhost }, receivers: { x: attic, y: attic } }
            regions: [{ name: a, uuid: \(DaemonBench.uuid) }]
            """)
        let outcome = try await bench.run("check", "beacond.yaml")
        #expect(outcome.status == 0)
        let warnings = outcome.lines.filter { $0.contains("warning: ") && $0.contains("another receiver is named") }
        let positions = warnings.map { $0.split(separator: ":")[1] }
        #expect(positions == ["3", "5", "6"], "\(outcome.output)")
        #expect(warnings.first?.contains("\"hall\"") == true)
    }

    @Test("Faults are printed in the form of a compiler's, and prevent a start")
    func mistakes() async throws {
        let bench = try DaemonBench()
        try bench.write("sources: [auto]\nregions:\n  - nmae: a\n    uuid: e2c5\n", to: "beacond.yaml")
        let lines = [
            #"beacond.yaml:3:5: error: there is no key "nmae" here; was "name" meant?"#,
            #"beacond.yaml:4:11: error: "uuid" is "e2c5"; a UUID has 32 hexadecimal digits, as e2c56db5-dffb-48d2-b060-d0f5a71096e0"#,
        ]
        let check = try await bench.run("check", "beacond.yaml")
        #expect(check.status == 1)
        #expect(check.lines == lines && check.errors == "beacond.yaml cannot be used: 2 errors.\n")
        let run = try await bench.run("--config", "beacond.yaml")
        #expect(run.status == 1)
        #expect(run.errors == lines.joined(separator: "\n") + "\n")
    }

    @Test("A missing secret stops check and the daemon alike")
    func secrets() async throws {
        let bench = try DaemonBench()
        try bench.configure(
            """
            sources: [auto]
            regions: [{ name: a, uuid: \(DaemonBench.uuid) }]
            destinations: [{ name: c, type: webhook, url: 'https://example.com', secret: { env: NOT_HERE } }]
            """)
        let check = try await bench.run("check", "beacond.yaml")
        #expect(check.status == 1 && check.output.contains("error: \"secret\" needs NOT_HERE"))
        #expect(try await bench.run("--config", "beacond.yaml").status == 1)
        let present = try await bench.run("check", "beacond.yaml", environment: ["NOT_HERE": "not a short one"])
        #expect(present.output.isEmpty)
    }

    @Test("check and the daemon warn of files that other users can read or change, with the remedy")
    func exposed() async throws {
        let bench = try DaemonBench()
        let log = try bench.write(DaemonBench.sighting(1), to: "log.ndjson")
        try bench.configure("sources: [\(log)]\nregions: [{ name: a, uuid: \(DaemonBench.uuid) }]")
        let file = try bench.write(bench.read("beacond.yaml"), to: "beacond.yaml", mode: 0o666)
        let secrets = try bench.write("A=b\n", to: "beacond.env", mode: 0o666)
        let check = try await bench.run("check", "beacond.yaml")
        #expect(check.status == 0 && check.lines.count == 2 && check.errors.hasSuffix(", 2 warnings.\n"))
        // The group of this user may have other members.
        for (path, deed, modes) in [(file, "write", ["644"]), (secrets, "read and write", ["600", "640"])] {
            let line = check.lines.first { $0.contains("warning: other users can \(deed) \(path), which") } ?? ""
            #expect(modes.contains { line.hasSuffix("chmod \($0) \(path)") }, "\(check.output)")
        }
        #expect(try await bench.run("check", "--quiet", "beacond.yaml").output.isEmpty)
        let run = try await bench.run("--config", "beacond.yaml")
        #expect(run.status == 0 && check.lines.allSatisfy { run.errors.contains($0) }, "\(run.errors)")
    }

    @Test("A missing file is status 1, a mistake on the command line status 2, help status 0")
    func statuses() async throws {
        let bench = try DaemonBench()
        #expect(try await bench.run("check", "nowhere.yaml").status == 1)
        #expect(try await bench.run("check", "a", "b").status == 2)
        let linger = try await bench.run("--linger", "soon")
        #expect(linger.status == 2)
        #expect(linger.errors.split(separator: "soon", omittingEmptySubsequences: false).count == 2)
        #expect(linger.errors.contains("': write a span of time from 0s to 366d, such as 30s, 5m or 1h30m"))
        // A number alone is seconds, so only the configuration is missing.
        #expect(try await bench.run("--linger", "3", "--config", "nowhere.yaml").status == 1)
        let misspelt = try await bench.run("ouutbox", "list")
        #expect(misspelt.status == 2 && misspelt.errors.contains("There is no command ouutbox; was outbox meant?"))
        try bench.write("", to: "some.yaml")
        #expect(try await bench.run("some.yaml").errors.contains("pass a configuration with --config some.yaml"))
        let help = try await bench.run("--help")
        #expect(help.status == 0 && help.output.contains("beacond check"))
        #expect(try await bench.run("help", "outbox", "drop").status == 0)
    }
}
