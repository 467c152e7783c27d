import Foundation
import Glibc
import Subprocess
import SystemPackage
import TestSupport
import Testing

@Suite("beacond and a broker", .fewAtATime)
struct BrokerTests {
    /// Returns a loopback port without a listener, below the ports that the kernel assigns to connections.
    private static func freePort() throws -> Int {
        for port in (12_000...19_999).shuffled() {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            address.sin_port = UInt16(port).bigEndian
            let isFree = withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            if isFree { return port }
        }
        throw Errno.addressInUse
    }

    @Test("Events, the state of regions and Home Assistant's devices arrive at Debian's broker")
    func broker() async throws {
        let bench = try DaemonBench()
        let port = try Self.freePort()
        try bench.configure(
            """
            sources: [{ name: shop, from: simulation:department-store, speed: 60 }]
            regions: [{ name: store, uuid: 02f07e83-abd6-4243-90a8-3617c9c74e70, major: 1, exit-timeout: 10s }]
            beacons:
              - { name: Perfume, uuid: 02f07e83-abd6-4243-90a8-3617c9c74e70, major: 1, minor: 1 }
            notify: { events: [enter, exit] }
            destinations:
              - { name: home, type: mqtt, host: 127.0.0.1, port: \(port), topic: test/gateway, home-assistant: true }
            """)
        let heard = bench.folder.appendingPathComponent("heard").path
        try bench.write("", to: "heard")
        try bench.write("", to: "broker-log")
        let log = FilePath(bench.folder.appendingPathComponent("broker-log").path)
        // Without a configuration, mosquitto listens only on loopback. It ends with the body.
        _ = try await Subprocess.run(
            .path("/usr/sbin/mosquitto"), arguments: ["-p", "\(port)"], input: .none,
            output: .fileDescriptor(try .open(log, .writeOnly, options: .append), closeAfterSpawningProcess: true),
            error: .fileDescriptor(try .open(log, .writeOnly, options: .append), closeAfterSpawningProcess: true)
        ) { broker in
            _ = try await Subprocess.run(
                .path("/bin/sh"),
                arguments: [
                    "-c",
                    "until mosquitto_pub -p \(port) -t ready -r -m now 2>/dev/null; do sleep 0.1; done; exec mosquitto_sub -p \(port) -t '#' -v",
                ], input: .none,
                output: .fileDescriptor(try .open(FilePath(heard), .writeOnly), closeAfterSpawningProcess: true),
                error: .discarded
            ) { subscriber in
                try await eventually("a client listens") { bench.read("heard").contains("ready now") }
                let outcome = try await bench.run("--config", "beacond.yaml", "--linger", "60s")
                #expect(outcome.status == 0, "\(outcome.errors)")
                #expect(outcome.errors.contains("home: 2 delivered, 0 waiting"), "\(outcome.errors)")
                try subscriber.send(signal: .terminate)
            }
            try broker.send(signal: .terminate)
        }
        let lines = bench.read("heard").split(separator: "\n").map(String.init)
        func index(_ text: String) -> Int? { lines.firstIndex { $0.contains(text) } }
        let enter = try #require(index("test/gateway/event/store/enter {"), "\(lines)")
        let exit = try #require(index("test/gateway/event/store/exit {"), "\(lines)")
        #expect(enter < exit)
        #expect(index("test/gateway/status online") != nil && index("test/gateway/status restarting") != nil)
        #expect(index("test/gateway/region/store/state inside") != nil)
        for device in [#""name":"Perfume""#, #""name":"store""#] {
            #expect(lines.contains { $0.hasPrefix("homeassistant/device/") && $0.contains(device) }, "\(lines)")
        }
    }
}
