import Foundation
import Subprocess
import TestSupport
import Testing

@Suite("beacond run", .fewAtATime)
struct RunTests {
    private static let store = "02f07e83-abd6-4243-90a8-3617c9c74e70"

    @Test("Enters and exits are in the log, even without notifications, and a dry run prints only those")
    func eventsInLog() async throws {
        let bench = try DaemonBench()
        let text = """
            sources: [{ name: shop, from: simulation:department-store, speed: max }]
            regions: [{ name: store, uuid: \(Self.store), exit-timeout: 10s }]
            beacons: [{ name: Perfume counter, uuid: \(Self.store), major: 1, minor: 1 }]
            notify: { events: [proximity] }

            """
        try bench.configure(text)
        let run = try await bench.run("--config", "beacond.yaml")
        #expect(run.status == 0)
        let events = run.errors.split(separator: "\n").filter { $0.contains("store was ") }
        #expect(
            events.count { $0.contains(#/info: store was entered by (beacon [12]/[0-9]|Perfume counter), heard by /#) }
                == 2)
        #expect(events.count { $0.hasSuffix("info: store was left") } == 2, "\(run.errors)")
        #expect(run.errors.contains("info: shop has ended"))
        #expect(run.errors.contains("add ?loop to a simulation's name to repeat it"))
        try bench.configure(text + "destinations: [{ name: cloud, type: webhook, url: 'http://127.0.0.1:9' }]")
        let dry = try await bench.run("--config", "beacond.yaml", "--dry-run")
        #expect(!dry.errors.contains("store was "))
        // A notification includes the name of a named beacon.
        #expect(dry.lines.contains { $0.contains(#""name":"Perfume counter""#) }, "\(dry.output)")
    }

    @Test("The same fault of several devices is logged once for each address")
    func addresses() async throws {
        let bench = try DaemonBench()
        try bench.configure(
            """
            sources: [{ name: proxies, esphome: { hosts: ['127.0.0.2:9', '127.0.0.3:9'] } }]
            regions: [{ name: store, uuid: \(Self.store) }]
            """)
        _ = try await bench.run(["--config", "beacond.yaml"]) { daemon in
            try await daemon.wait("both are named") {
                daemon.errors.contains("127.0.0.2") && daemon.errors.contains("127.0.0.3")
            }
            try daemon.send(.terminate)
        }
    }

    @Test("A second beacond with the same configuration warns, and a stopped first one did not end by itself")
    func twice() async throws {
        let bench = try DaemonBench()
        try bench.configure(
            "sources: ['simulation:museum?loop']\nregions: [{ name: store, uuid: \(DaemonBench.uuid) }]")
        let log = try bench.write(DaemonBench.sighting(1), to: "log.ndjson")
        let warning = "another beacond uses beacond.yaml"
        let outcome = try await bench.run(["--config", "beacond.yaml"]) { daemon in
            try await daemon.wait("the first listens") { daemon.errors.contains("listening to") }
            let second = try await bench.run(
                "--config", "beacond.yaml",
                environment: ["BEACOND_SOURCES": log, "BEACOND_OUTBOX_PATH": "other.sqlite"])
            #expect(second.status == 0 && second.errors.contains("warning: \(warning)"), "\(second.errors)")
            try daemon.send(.terminate)
        }
        #expect(!outcome.errors.contains(warning) && !outcome.errors.contains("has ended"), "\(outcome.errors)")
        // A link is locked with its target.
        try FileManager.default.createSymbolicLink(
            atPath: bench.folder.path + "/link.yaml", withDestinationPath: bench.folder.path + "/beacond.yaml")
        for file in ["beacond.yaml", "link.yaml"] {
            let after = try await bench.run(["--config", file]) { daemon in
                try await daemon.wait("it listens") { daemon.errors.contains("listening to") }
                try daemon.send(.terminalClosed)
                try await daemon.wait("it has read its file again") { daemon.errors.contains("was read again") }
                try daemon.send(.terminate)
            }
            #expect(!after.errors.contains("another beacond"), "\(after.errors)")
        }
    }

    @Test("The guided start prints no address if another program uses its port")
    func takenPort() async throws {
        let bench = try DaemonBench()
        try await Receiver.serve { receiver in
            let port = try #require(URL(string: receiver.url)?.port)
            let outcome = try await bench.run("setup", "--config", "new.yaml", "--listen", "\(port)")
            #expect(outcome.status == 1 && outcome.output.isEmpty)
            #expect(outcome.errors.hasPrefix("Error: cannot listen on \(port): Address already in use."))
            let command = "beacond setup --config new.yaml --listen 127.0.0.1:\(port + 1)"
            #expect(outcome.errors.contains(command), "\(outcome.errors)")
        }
    }

    @Test("The guided start does not overwrite a configuration")
    func startedAlready() async throws {
        let bench = try DaemonBench()
        try bench.configure("sources: [auto]\nregions: [{ name: a, uuid: \(DaemonBench.uuid) }]")
        let outcome = try await bench.run("setup", "--config", "beacond.yaml")
        #expect(outcome.status == 2 && outcome.errors.contains("beacond.yaml exists. Edit it"))

        let words = ["setup", "--config", "beacond.yaml", "--source", "simulation:museum", "--beacon"]
        let amber = "Amber=\(DaemonBench.uuid)/1/1"
        let beacond = DaemonBench.product("beacond")
        let refused = try await bench.run(beacond, words + [amber])
        #expect(refused.status == 2 && refused.errors.contains("add --replace"), "\(refused.errors)")
        let aimless = try await bench.run("setup", "--config", "beacond.yaml", "--replace")
        #expect(aimless.status == 2 && aimless.errors.contains("--replace needs a choice"), "\(aimless.errors)")
        let replaced = try await bench.run(beacond, words + [amber, "--replace", "--listen", "127.0.0.1:0"])
        #expect(replaced.status == 0, "\(replaced.errors)")
        #expect(
            bench.read("beacond.yaml").contains("Amber") && bench.read("beacond.yaml.old").contains("sources: [auto]"))
    }
}
