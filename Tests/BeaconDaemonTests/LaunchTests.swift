import BeaconApplications
import Foundation
import Subprocess
import TestSupport
import Testing

@Suite("beacond launches", .fewAtATime)
struct LaunchTests {
    @Test("A rule's program gets the event as JSON on its standard input, without a shell, and its output is logged")
    func rule() async throws {
        let bench = try DaemonBench()
        let log = try bench.write(DaemonBench.sighting(1000) + DaemonBench.sighting(1040, minor: 2), to: "log.ndjson")
        let script = try bench.write("#!/bin/sh\necho \"$1 $(cat)\" >> told\necho done\n", to: "script")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
        try bench.configure(
            """
            sources: [\(log)]
            regions: [{ name: hall, uuid: \(DaemonBench.uuid) }, { name: other, uuid: \(DaemonBench.uuid), minor: 2, major: 1 }]
            launch:
              rules:
                - { name: lights, regions: hall, events: [enter, exit], program: [\(script), "$HOME a"], interval: 0s, folder: . }
                - { name: missing, program: /nowhere/at.all, regions: other }
            """)
        let outcome = try await bench.run("--config", "beacond.yaml")
        #expect(outcome.status == 0, "\(outcome.errors)")
        let beacon = #""beacon":{"major":1,"minor":1,"uuid":"\#(DaemonBench.uuid)"},"#
        let region = #""region":{"major":null,"minor":null,"name":"hall","uuid":"\#(DaemonBench.uuid)"}"#
        let second = beacon.replacing(#""minor":1"#, with: #""minor":2"#)
        #expect(
            bench.read("told").split(separator: "\n").map { $0.replacing(/"id":"[^"]*",/, with: "") } == [
                #"$HOME a {\#(beacon)"event":"enter","kind":"enter","receiver":"hci0",\#(region),"state":"inside","time":1000}"#,
                #"$HOME a {"event":"exit","kind":"exit","receiver":"hci0",\#(region),"state":"outside","time":1030}"#,
                #"$HOME a {\#(second)"event":"enter","kind":"enter","receiver":"hci0",\#(region),"state":"inside","time":1040}"#,
            ], "\(outcome.errors)")
        #expect(outcome.errors.contains("rule lights: done"))
        #expect(outcome.errors.contains("rule missing: cannot start /nowhere/at.all"))
        #expect(outcome.errors.contains("4 launches"))
    }

    /// The state of the app, which its executable's path identifies.
    private static let folder: String = {
        let executable = URL(fileURLWithPath: DaemonBench.product("LaunchedApp")).resolvingSymlinksInPath().path
        return "state/swift-beacon/applications/\(ApplicationIdentity(executable).name)/"
    }()

    /// Returns the lines that the app's delegate printed, without the library's own log.
    private static func reported(_ outcome: DaemonBench.Outcome) -> [String] {
        outcome.errors.matches(of: /LaunchedApp: (.*)/).map { String($0.1) }
            .filter { !$0.contains(" swift-beacon.") }
    }

    /// Plays a beacon that is on for a while, with a registered app that has this state of its region.
    private func launch(stored state: String?, settings: String = "true") async throws -> (
        DaemonBench, DaemonBench.Outcome
    ) {
        let bench = try DaemonBench()
        // The app's own source has no beacon, so its events come from the daemon.
        let silence = try bench.write(
            DaemonBench.sighting(1, uuid: "00000000-0000-0000-0000-000000000001"), to: "silence.ndjson")
        let first = try await bench.run(
            DaemonBench.product("LaunchedApp"), ["an argument"], environment: ["BEACON_SOURCE": silence])
        #expect(first.output.contains("launched with an argument") && first.output.contains("ends"), "\(first)")
        if let state {
            let file = Self.folder + "regions.json"
            try bench.write(
                bench.read(file).replacing(/"state" : "\w+"/, with: "\"state\" : \"\(state)\""), to: file)
        }
        try bench.write(
            """
            {
              "duration": 60, "uuid": "\(DaemonBench.uuid)",
              "environment": { "shadowing": 0, "channelFading": 0, "drift": 0, "ricianK": null, "loss": 0 },
              "receivers": [{ "name": "hci0", "position": [0, 0] }],
              "beacons": [{ "major": 1, "minor": 1, "position": [1, 0], "on": [[10, 15]] }]
            }
            """, to: "scenario.json")
        try bench.configure(
            """
            sources: [{ name: air, from: 'simulation:\(bench.folder.path)/scenario.json', speed: 5 }]
            launch: { applications: \(settings) }
            """)
        return (bench, try await bench.run("--config", "beacond.yaml"))
    }

    @Test("An app that is not running is started for its region, and its delegate gets the event")
    func application() async throws {
        let (bench, outcome) = try await launch(stored: "outside", settings: "{ interval: 1s }")
        #expect(outcome.status == 0, "\(outcome.errors)")
        var reported = Self.reported(outcome)
        let launch = "launched with an argument"
        // An app that ends at once may not have recorded its event, and gets it again.
        if reported.count > 8, reported[5...6] == ["state 1 hall", "enter hall"] { reported.removeSubrange(5...6) }
        #expect(
            reported == [launch, "state 1 hall", "enter hall", "ends", launch, "state 2 hall", "exit hall", "ends"],
            "\(outcome.errors)")
        #expect(outcome.errors.contains("2 launches"))
        #expect(bench.read(Self.folder + "waiting.json").isEmpty)
        #expect(bench.read(Self.folder + "regions.json").contains("\"state\" : \"outside\""))
    }

    @Test("A rule's program runs once for a beacon that comes near, stays and is gone, and for no other beacon")
    func proximityRule() async throws {
        let bench = try DaemonBench()
        var log = ""
        for tenth in 0..<600 {
            let time = 1000 + Double(tenth) / 10
            if tenth < 300 {
                log += DaemonBench.sighting(time, minor: 1, rssi: tenth < 100 ? -85 : -62)
                log += DaemonBench.sighting(time, minor: 2)
            }
            log += DaemonBench.sighting(time, uuid: "00000000-0000-0000-0000-000000000001")
        }
        let path = try bench.write(log, to: "log.ndjson")
        try bench.configure(
            """
            sources: ["\(path)"]
            regions: [{ name: hall, uuid: \(DaemonBench.uuid) }]
            beacons: [{ name: amber, uuid: \(DaemonBench.uuid), major: 1, minor: 1 }]
            launch:
              rules:
                - { name: amber, beacons: [amber], events: [near, near for 10s, gone], program: cat, interval: 0s }
            """)
        let outcome = try await bench.run("--config", "beacond.yaml")
        let reported = outcome.errors.split(separator: "\n").filter { $0.contains("rule amber: {") }
        #expect(
            reported.compactMap { $0.firstMatch(of: /"event":"(\w+)"/)?.1 } == ["proximity", "stays", "gone"],
            "\(outcome.errors)")
        #expect(reported.allSatisfy { $0.contains(#""minor":1,"proximity""#) })
    }

    @Test("An app whose region had an unknown state gets only the state")
    func stateAlone() async throws {
        let (_, outcome) = try await launch(stored: nil)
        let reported = Self.reported(outcome)
        #expect(reported.prefix(3) == ["launched with an argument", "state 1 hall", "ends"], "\(outcome.errors)")
    }

    @Test("An app whose registration other users could have written is not started, and the log explains why")
    func distrust() async throws {
        let bench = try DaemonBench()
        let folder = "state/swift-beacon/applications/evil"
        try FileManager.default.createDirectory(
            at: bench.folder.appendingPathComponent(folder), withIntermediateDirectories: true)
        try bench.write(
            #"{"executable":"/bin/touch","arguments":["started"],"folder":"/","environment":{}}"#,
            to: folder + "/launch.json")
        try bench.write(#"{"status":"always"}"#, to: folder + "/authorization.json")
        try bench.write(
            #"{"regions":[{"identifier":"a","constraint":{"uuid":"\#(DaemonBench.uuid)"},"notifiesOnEntry":true,"#
                + #""notifiesOnExit":true,"notifiesEntryStateOnDisplay":false,"state":"outside"}]}"#,
            to: folder + "/regions.json")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o666], ofItemAtPath: bench.folder.appendingPathComponent(folder + "/launch.json").path)
        let log = try bench.write(DaemonBench.sighting(1000), to: "log.ndjson")
        try bench.configure("sources: [{ name: log, from: \(log), speed: 1 }]\nlaunch: { applications: true }")
        let outcome = try await bench.run("--config", "beacond.yaml")
        #expect(
            outcome.errors.contains("evil: ") && outcome.errors.contains("is writable by other users"),
            "\(outcome.errors)")
        #expect(outcome.errors.contains("0 notifications"))
        #expect(!outcome.errors.contains("launch,"))
    }

    @Test("A rule's program and its children end at the time limit, even if beacond was killed before")
    func killedDaemon() async throws {
        let bench = try DaemonBench()
        let log = try bench.write(DaemonBench.sighting(1000), to: "log.ndjson")
        try bench.configure(
            """
            sources: [\(log), "simulation:museum?loop"]
            regions: [{ name: hall, uuid: \(DaemonBench.uuid) }]
            launch:
              rules:
                - name: long
                  program: [sh, -c, 'setsid sleep 1000 & touch begun; wait']
                  folder: .
                  time-limit: 2s
            """)
        let outcome = try await bench.run(["--config", "beacond.yaml"]) { daemon in
            try await daemon.wait("the program runs") {
                FileManager.default.fileExists(atPath: bench.folder.path + "/begun")
            }
            try daemon.send(.kill)
        }
        #expect(outcome.status == -9)
        let folder = bench.folder.resolvingSymlinksInPath().path
        try await eventually("nothing runs in its folder") {
            try FileManager.default.contentsOfDirectory(atPath: "/proc").allSatisfy { name in
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(name)/cwd")) != folder
            }
        }
    }
}
