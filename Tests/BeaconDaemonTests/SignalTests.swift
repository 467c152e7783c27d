import Foundation
import Subprocess
import TestSupport
import Testing

@Suite("beacond and signals", .fewAtATime)
struct SignalTests {
    private static let store = "02f07e83-abd6-4243-90a8-3617c9c74e70"

    private static func configuration(_ url: String) -> String {
        """
        sources: [{ name: shop, from: simulation:department-store, speed: 20 }]
        regions: [{ name: store, uuid: \(store), exit-timeout: 10s }]
        notify: { heartbeat: 1s }
        destinations: [{ name: cloud, type: webhook, url: '\(url)' }]
        """
    }

    @Test("SIGHUP loads another configuration, and a faulty one is reported and ignored (D28)")
    func reload() async throws {
        let bench = try DaemonBench()
        try await Receiver.serve { first in
            try await Receiver.serve { second in
                try bench.configure(Self.configuration(first.url))
                let outcome = try await bench.run(["--config", "beacond.yaml"]) { daemon in
                    try await daemon.wait("the first receives") { !first.deliveries.isEmpty }
                    try bench.configure("regoins: []")
                    try daemon.send(.terminalClosed)
                    try await daemon.wait("the fault is reported") {
                        daemon.errors.contains("was \"regions\" meant?")
                            && daemon.errors.contains("the earlier one stays in use")
                    }
                    let before = first.deliveries.count
                    try await daemon.wait("the first still receives") { first.deliveries.count > before }
                    try bench.configure(Self.configuration(second.url))
                    try daemon.send(.terminalClosed)
                    try await daemon.wait("the second receives") { !second.deliveries.isEmpty }
                    try daemon.send(.terminate)
                }
                #expect(outcome.status == 0, "\(outcome.errors)")
                #expect(outcome.errors.contains("the configuration was read again; unchanged parts continue"))
            }
        }
    }

    @Test("A journal that is switched on needs a restart, and the log says so")
    func journal() async throws {
        let bench = try DaemonBench()
        let text = "sources: ['simulation:museum?loop']\nregions: [{ name: store, uuid: \(DaemonBench.uuid) }]\n"
        try bench.configure(text + "journal: false")
        let outcome = try await bench.run(["--config", "beacond.yaml"]) { daemon in
            try await daemon.wait("it listens") { daemon.errors.contains("listening to") }
            try bench.configure(text)
            try daemon.send(.terminalClosed)
            try await daemon.wait("it restarts") { daemon.errors.contains("restarts because journal changed") }
            try await daemon.wait("it listens again") { daemon.errors.split(separator: "listening to").count > 2 }
            try daemon.send(.terminate)
        }
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test("After a faulty reload and a look at the outbox, a kill loses nothing")
    func killAfterLook() async throws {
        let bench = try DaemonBench()
        try bench.configure(
            """
            sources: [{ name: air, from: "-" }]
            regions: [{ name: hall, uuid: \(DaemonBench.uuid) }]
            notify: { events: [enter] }
            destinations: [{ name: nobody, type: webhook, url: "http://127.0.0.1:9/" }]
            """)
        // The region is entered only after the look at the outbox.
        let script = """
            mkfifo air; exec 9<> air
            "$0" --config beacond.yaml < air 2> errors & daemon=$!
            until [ -e outbox.sqlite-wal ]; do sleep 0.05; done
            cp beacond.yaml good.yaml; echo 'regoins: []' >> beacond.yaml
            until grep -q 'the earlier one stays in use' errors; do kill -HUP $daemon; sleep 0.2; done
            cp good.yaml beacond.yaml
            "$0" outbox list --config beacond.yaml > first
            cat air.ndjson >&9
            until "$0" outbox list --config beacond.yaml | grep -q '1 waiting'; do sleep 0.05; done
            kill -9 $daemon; wait $daemon
            "$0" outbox list --config beacond.yaml
            """
        _ = try bench.write(
            (0..<20).map { DaemonBench.sighting(1000 + Double($0) / 2) }.joined(), to: "air.ndjson")
        let outcome = try await bench.run("/bin/sh", ["-c", script, DaemonBench.product("beacond")])
        #expect(outcome.output.contains("nobody: 1 waiting"), "\(outcome.output) \(bench.read("errors"))")
    }

    /// The options of unshare(1) that create a PID namespace with its own /proc, as in a container; nil if this user
    /// may not. The second options are for a changed root, which is not a mount whose propagation can be set.
    private static let space: [String]? = {
        let options = ["--pid", "--fork", "--mount-proc"]
        return [options, options + ["--propagation", "unchanged"]].first { options in
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
            process.arguments = options + ["/bin/true"]
            process.standardError = FileHandle.nullDevice
            guard (try? process.run()) != nil else { return false }
            process.waitUntilExit()
            return process.terminationStatus == 0
        }
    }()

    @Test(
        "As the first process of a container, it forwards status and signals, and leaves no zombies (D25)",
        .enabled(if: space != nil, "unshare --pid --mount-proc is not permitted"))
    func firstProcess() async throws {
        let (bench, space) = (try DaemonBench(), try #require(Self.space))
        let daemon = DaemonBench.product("beacond")
        let check = try await bench.run("/usr/bin/unshare", space + [daemon, "check", "nowhere.yaml"])
        #expect(check.status == 1 && check.errors.contains("there is no such file"))
        try bench.configure(
            """
            sources: [{ name: shop, from: simulation:department-store, speed: 20 }]
            regions: [{ name: store, uuid: \(Self.store) }]
            launch: { rules: [{ name: orphan, program: [sh, -c, '(sleep 0.1; touch orphan) & exit 0'] }] }
            """)
        let script = """
            unshare \(space.joined(separator: " ")) "$0" --config beacond.yaml 2> errors &
            until [ -e orphan ]; do sleep 0.05; done
            first=$(pgrep -P $!)
            # Only the program itself is left of the children.
            until [ "$(pgrep -c -P "$first")" = 1 ]; do sleep 0.05; done
            kill -TERM "$first"
            wait $!
            """
        let run = try await bench.run("/bin/bash", ["-c", script, daemon])
        #expect(run.status == 0, "\(run.errors) \(bench.read("errors"))")
    }
}
