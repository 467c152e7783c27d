import Foundation
import Subprocess
import SystemPackage
import TestSupport
import Testing

@Suite("beacond, a broker and SIGHUP", .fewAtATime)
struct BrokerReloadTests {
    /// The configuration. Each step changes a part of it.
    private struct Settings {
        var region = "hall"
        var timeout = 600
        var beacons = ["Ann's keys": 1]
        var topic = "test/gateway"
        var web: UInt16?
        var extra = ""
        var log = "info"

        func text(port: UInt16) -> String {
            """
            sources: [{ name: museum, from: "simulation:museum?loop", speed: 2 }]
            regions: [{ name: \(region), uuid: \(DaemonBench.uuid), exit-timeout: \(timeout)s }]
            beacons: [\(beacons.sorted { $0.key < $1.key }.map {
                "{ name: \"\($0.key)\", uuid: \(DaemonBench.uuid), major: 1, minor: \($0.value) }"
            }.joined(separator: ", "))]
            notify: { events: [enter, exit] }
            destinations:
              - { name: home, type: mqtt, host: 127.0.0.1, port: \(port), topic: \(topic), home-assistant: true }
            \(extra)
            \(web.map { "web: { listen: \"127.0.0.1:\($0)\" }" } ?? "web: false")
            log: { level: \(log) }
            """
        }
    }

    @Test("A broker's connection survives unrelated reloads, and a renamed region gets its state first")
    func reloads() async throws {
        let bench = try DaemonBench()
        let broker = try await Broker()
        defer { broker.stop() }
        try bench.configure(Settings().text(port: broker.port))
        let heard = try bench.write("", to: "heard")
        _ = try await Subprocess.run(
            .path("/bin/sh"),
            arguments: [
                "-c",
                "exec mosquitto_sub -h 127.0.0.1 -p \(broker.port) -t 'test/#' -t 'homeassistant/#' -t marker -q 1 -v",
            ], input: .none,
            output: .fileDescriptor(try .open(FilePath(heard), .writeOnly), closeAfterSpawningProcess: true),
            error: .discarded
        ) { subscriber in
            try await eventually("the subscriber listens") {
                try broker.publish("marker", "ready")
                return bench.read("heard").contains("marker ready")
            }
            @Sendable func lines() -> [String] { bench.read("heard").split(separator: "\n").map(String.init) }
            let outcome = try await bench.run(["--config", "beacond.yaml"]) { daemon in
                var settings = Settings()
                func has(_ text: String) -> Bool { bench.read("heard").contains(text) }
                var reloads = 0
                /// Makes the daemon read other settings, and returns the number of lines before.
                func reload(_ settings: Settings) async throws -> Int {
                    let before = lines().count
                    reloads += 1
                    try bench.configure(settings.text(port: broker.port))
                    try daemon.send(.terminalClosed)
                    try await daemon.wait("reload \(reloads)") {
                        daemon.errors.split(separator: "unchanged parts continue").count > reloads
                    }
                    return before
                }
                try await daemon.wait("the region is entered") {
                    has("test/gateway/region/hall/state inside") && has("test/gateway/status online")
                }
                _ = try await reload(settings)
                settings.timeout = 700
                _ = try await reload(settings)
                settings.beacons["Bag"] = 77
                _ = try await reload(settings)
                try await daemon.wait("the beacon is announced") { has(#""name":"Bag""#) }
                settings.web = try FreePort.find()
                _ = try await reload(settings)
                try await daemon.wait("the console answers") { FreePort.isListening(settings.web ?? 0) }
                settings.log = "debug"
                settings.extra = "  - { name: cloud, type: webhook, url: \"http://127.0.0.1:1/\" }"
                _ = try await reload(settings)
                settings.extra = ""
                settings.web = nil
                _ = try await reload(settings)
                settings.region = "store"
                let before = try await reload(settings)
                try await daemon.wait("the old region is deleted") {
                    lines().dropFirst(before).contains { $0 == "test/gateway/region/hall/state (null)" }
                }
                let messages = lines().dropFirst(before)
                let state = try #require(
                    messages.firstIndex(of: "test/gateway/region/store/state inside"), "\(messages)")
                let device = try #require(
                    messages.firstIndex { $0.hasPrefix("homeassistant/") && $0.contains("region/store/state") },
                    "\(messages)")
                #expect(state < device)
                // Until now there was one connection, which starts as restarting, and the beacon did not move.
                #expect(lines().count { $0 == "test/gateway/status online" } == 1)
                #expect(lines().count { $0 == "test/gateway/status restarting" } == 1)
                #expect(lines().count { $0.contains("/enter {") } == 1, "\(lines())")
                // Another topic needs another connection, which ends the first.
                settings.topic = "test/other"
                _ = try await reload(settings)
                try await daemon.wait("the other begins") {
                    has("test/other/status online") && has("test/other/region/store/state inside")
                }
                let all = lines()
                let end = try #require(all.lastIndex(of: "test/gateway/status restarting"))
                #expect(end < all.firstIndex(of: "test/other/status online") ?? 0)
                try daemon.send(.terminate)
            }
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(!lines().contains { $0.contains("/store/enter {") || $0.contains("/exit {") })
            try subscriber.send(signal: .terminate)
        }
    }
}
