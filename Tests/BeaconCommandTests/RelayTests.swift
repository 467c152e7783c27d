import Foundation
import Glibc
import TestSupport
import Testing

@Suite("beacon relay, with Debian's broker", .fewAtATime)
struct RelayTests {
    private static let uuid = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"

    /// The messages that a client of the broker receives, in a file.
    private final class Listener {
        private let folder: TemporaryFolder
        private let process: ChildProcess

        init(_ broker: Broker, _ topic: String) async throws {
            folder = try TemporaryFolder()
            process = try ChildProcess(
                "mosquitto_sub",
                ["-h", "127.0.0.1", "-p", "\(broker.port)", "-t", topic, "-t", "ready", "-v", "-q", "1"],
                output: folder.url.path + "/output")
            // A subscription takes some time.
            try await eventually {
                try broker.publish("ready", "now")
                return self.output.contains("ready now")
            }
        }

        var output: String {
            (try? String(contentsOfFile: folder.url.path + "/output", encoding: .utf8)) ?? ""
        }
    }

    @Test("Other machines receive a relay's adverts by its name, and its end is reported")
    func scan() async throws {
        let broker = try await Broker()
        let address = "mqtt://127.0.0.1:\(broker.port)"
        let status = try await Listener(broker, "beacon-relay/+/status")
        let reader = try ProgramRun(["scan", "--json", "--source", address])
        try await eventually { reader.errors.contains("connected and listening to receivers") }
        let relay = try ProgramRun([
            "relay", address, "--name", "hall 1", "--source", "simulation:museum?loop", "--only", "\(Self.uuid)/2",
        ])
        try await eventually { reader.output.contains(#""receiver":"hall 1/hci0""#) }
        #expect(!reader.output.contains(#""major":1,"#) && reader.output.contains(#""major":2,"#))
        #expect(relay.errors.contains("Connected to 127.0.0.1:\(broker.port), relaying as hall 1."))
        #expect(status.output.contains("beacon-relay/hall%201/status online"))
        relay.process.signal(SIGINT)
        #expect(relay.process.wait() == 130)
        #expect(relay.errors.contains("0 dropped; 0 transitions, 0 waiting"))
        try await eventually { status.output.contains("beacon-relay/hall%201/status offline") }
    }

    @Test("A relay with keys sends phones as tags, which machines with the same keys and without any receive")
    func phones() async throws {
        let folder = try TemporaryFolder()
        let (key, tags, air) = (
            "ec0234a357c8ad05341010a60a397d9b", folder.url.path + "/tags", folder.url.path + "/air.json"
        )
        try "Ann's phone: \(key)\n".write(toFile: tags, atomically: true, encoding: .utf8)
        // Another phone, without a key, stays in the room.
        try """
        {"duration": 600, "receivers": [{"position": [0, 0]}], "environment": {"loss": 0},
         "devices": [{"irk": "\(key)", "rotation": 1, "interval": 0.2, "position": [1, 0]},
                     {"rotation": 1, "interval": 0.2, "position": [1, 1]}]}
        """.write(toFile: air, atomically: true, encoding: .utf8)
        let broker = try await Broker()
        let address = "mqtt://127.0.0.1:\(broker.port)"
        let readers = try [["--tags", tags], []].map {
            try ProgramRun(["scan", "--json", "--source", address] + $0)
        }
        for reader in readers {
            try await eventually { reader.errors.contains("connected and listening to receivers") }
        }
        let relay = try ProgramRun([
            "relay", address, "--name", "hall", "--tags", tags, "--source", "simulation:\(air)?loop",
        ])
        for reader in readers {
            // Enough adverts for several addresses of the phone.
            try await eventually { reader.output.split(separator: "\n").count > 10 }
            let lines = reader.output.split(separator: "\n").dropLast()
            #expect(lines.allSatisfy { $0.contains(#","tag":true}"#) && $0.contains(#""receiver":"hall/hci0""#) })
            func values(_ name: String) -> Set<String> {
                let parts = lines.compactMap { $0.components(separatedBy: "\"\(name)\":\"").last }
                return Set(parts.map { String($0.prefix { $0 != "\"" }) })
            }
            #expect(values("uuid").count == 1 && values("address").count == 1, "\(lines)")
            #expect(!reader.errors.contains("pretending"))
        }
        relay.process.signal(SIGINT)
        #expect(relay.process.wait() == 130)
    }

    @Test("Enter and exit wait for an absent broker, even if the relay is killed, and arrive once, with their times")
    func storeAndForward() async throws {
        let folder = try TemporaryFolder()
        let store = folder.url.appendingPathComponent("relay.json").path
        let broker = try await Broker()
        broker.kill()
        let address = "mqtt://127.0.0.1:\(broker.port)"
        let arguments = [
            "relay", address, "--name", "hall", "--region", "hall=\(Self.uuid)", "--store", store, "--source",
            "simulation:museum?loop",
        ]
        let first = try ProgramRun(arguments)
        try await eventually {
            ((try? String(contentsOfFile: store, encoding: .utf8)) ?? "").contains(#"\"event\":\"enter\""#)
        }
        let other = try await BeaconProgram.run(arguments)
        #expect(other.status == 1 && other.errors.contains("another relay of this name runs here"))
        first.process.end(SIGKILL)
        try await broker.start()
        let listener = try await Listener(broker, "beacon-relay/+/transitions")
        let second = try ProgramRun(arguments)
        try await eventually { listener.output.contains(#""event":"enter""#) }
        try await eventually {
            !((try? String(contentsOfFile: store, encoding: .utf8)) ?? "").contains("enter")
        }
        second.process.signal(SIGINT)
        #expect(second.process.wait() == 130)
        // The second relay knew that it was inside.
        #expect(listener.output.split(separator: "\n").filter { $0.contains("transitions {\"id\":") }.count == 1)
        #expect(second.errors.contains("1 transitions, 0 waiting"))
    }

    @Test("A killed relay makes its region unknown, without an exit; a relay that returns continues")
    func death() async throws {
        let broker = try await Broker()
        let address = "mqtt://127.0.0.1:\(broker.port)"
        let relaying = ["relay", address, "--name", "hall", "--source", "simulation:museum?loop"]
        let relay = try ProgramRun(relaying)
        let monitor = try ProgramRun([
            "monitor", "--json", "--region", "hall=\(Self.uuid)", "--exit-timeout", "3600", "--source", address,
        ])
        try await eventually { monitor.output.contains(#""event":"enter""#) }
        relay.process.end(SIGKILL)
        try await eventually { monitor.output.contains(#""event":"state","state":"unknown""#) }
        let again = try ProgramRun(relaying)
        try await eventually { monitor.output.contains(#""event":"state","state":"inside""#) }
        #expect(!monitor.output.contains("exit"))
        again.process.end(SIGKILL)
    }

    @Test("An invalid broker, and two regions with one name, are mistakes on the command line")
    func mistakes() async throws {
        let broker = try await BeaconProgram.run("relay", "broker.local")
        #expect(broker.status == 2 && broker.errors.contains("write mqtt://HOST"), "\(broker.errors)")
        let regions = try await BeaconProgram.run(
            "relay", "mqtt://h", "--region", "a=\(Self.uuid)", "--region", "a=\(Self.uuid)/1")
        #expect(regions.status == 2 && regions.errors.contains("two regions have the name a"))
    }
}
