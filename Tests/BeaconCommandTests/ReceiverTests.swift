import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Receivers of other owners, with Debian's broker", .fewAtATime)
struct ReceiverTests {
    private static let uuid = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"

    /// An OpenMQTTGateway message about a beacon.
    private static func advert(minor: Int, rssi: Int) -> String {
        """
        {"id":"C0:00:00:00:00:01","mac_type":1,"rssi":\(rssi),"mfid":"4c00","uuid":"e2c56db5dffb48d2b060d0f5a71096e0",\
        "major":1,"minor":\(minor),"txpower":-59}
        """
    }

    @Test("Messages from several kinds of gateways are received, each with its name")
    func scan() async throws {
        let broker = try await Broker()
        let run = try ProgramRun(["scan", "--json", "--source", "mqtt://127.0.0.1:\(broker.port)"])
        try await eventually { run.errors.contains("connected and listening to receivers") }
        try await eventually {
            // The subscriptions may take a little longer.
            try broker.publish("home/hall/BTtoMQTT/1", Self.advert(minor: 7, rssi: -70))
            return run.output.contains(#""receiver":"hall","address":"c0:00:00:00:00:01""#)
        }
        try await eventually {
            try broker.publish(
                "espresense/devices/x/kitchen", #"{"id":"iBeacon:\#(Self.uuid)-1-8","rssi":-71,"mac":"c00000000002"}"#)
            return run.output.contains(#""receiver":"kitchen""#) && run.output.contains(#""minor":8"#)
        }
        try broker.publish("home/hall/BTtoMQTT/1", "no JSON")
        try await eventually {
            run.errors.contains("an OpenMQTTGateway message of hall at home/hall/BTtoMQTT/1 is not used")
        }
        #expect(run.errors.contains("kitchen: ESPresense smooths and thins its reports"))
        run.process.signal(SIGINT)
        #expect(run.process.wait() == 130)
    }

    @Test("A receiver that dies makes its region unknown, without an exit")
    func death() async throws {
        let broker = try await Broker()
        let run = try ProgramRun([
            "monitor", "--json", "--region", "hall=\(Self.uuid)", "--exit-timeout", "3600",
            "--source", "mqtt://127.0.0.1:\(broker.port)/home/#",
        ])
        try await eventually {
            try broker.publish("home/hall/BTtoMQTT/1", Self.advert(minor: 7, rssi: -70))
            return run.output.contains(#""event":"enter""#)
        }
        try broker.publish("home/hall/LWT", "offline", isRetained: true)
        try await eventually { run.output.contains(#""event":"state","state":"unknown""#) }
        #expect(!run.output.contains("exit"))
    }

    @Test("A broker's outage and return are reported, and later messages are received")
    func restart() async throws {
        let broker = try await Broker()
        let run = try ProgramRun(["scan", "--json", "--source", "mqtt://127.0.0.1:\(broker.port)"])
        try await eventually { run.errors.contains("connected and listening") }
        broker.kill()
        try await eventually { run.errors.contains("Trying again") }
        try await broker.start()
        try await eventually {
            try broker.publish("home/hall/BTtoMQTT/1", Self.advert(minor: 7, rssi: -70))
            return run.output.contains(#""minor":7"#)
        }
    }

    @Test(
        "A message of 200 MB costs no memory, and later adverts are received, with MQTT 5 and 3.1.1",
        arguments: [true, false])
    func large(speaksVersion5: Bool) async throws {
        let broker = try await Broker(
            "allow_anonymous true\npersistence false\nmax_queued_messages 0\nmax_packet_size 268435455")
        let file = broker.folder.url.appendingPathComponent("large").path
        #expect(FileManager.default.createFile(atPath: file, contents: nil) && truncate(file, 200 << 20) == 0)
        // An older broker does not know the version.
        let way = try BrokerProxy(to: broker.port, answeringVersion5With: speaksVersion5 ? nil : [0x20, 2, 0, 1])
        let run = try ProgramRun(["scan", "--json", "--source", "mqtt://127.0.0.1:\(way.port)/home/#"])
        for minor in [7, 8] {
            try await eventually {
                try broker.publish("home/hall/BTtoMQTT/1", Self.advert(minor: minor, rssi: -70))
                return run.output.contains("\"minor\":\(minor)")
            }
            guard minor == 7 else { continue }
            try ChildProcess.run(
                "mosquitto_pub", "-h", "127.0.0.1", "-p", "\(broker.port)", "-t", "home/x", "-q", "1", "-f", file)
        }
        let status = try String(contentsOfFile: "/proc/\(run.process.id)/status", encoding: .utf8)
        let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        let kilobytes = try #require(peak?.split { !$0.isNumber }.first.flatMap { Int($0) })
        #expect(kilobytes < 100 << 10, "\(kilobytes) kB")
    }

    @Test("A broker that refuses the user, and a missing broker, are reported with a remedy")
    func refused() async throws {
        let folder = try TemporaryFolder()
        let passwords = folder.url.appendingPathComponent("passwords").path
        try ChildProcess.run("mosquitto_passwd", "-b", "-c", passwords, "hall", "right")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: passwords)
        let broker = try await Broker("allow_anonymous false\npassword_file \(passwords)", in: folder)
        let wrong = try ProgramRun(["scan", "--source", "mqtt://hall:mistaken7@127.0.0.1:\(broker.port)"])
        try await eventually { wrong.errors.contains("refused the connection (user hall, ") }
        #expect(wrong.errors.contains("Possible causes: the broker does not know the user; the password is wrong"))
        #expect(!wrong.errors.contains("mistaken7"))
        let right = try ProgramRun(
            ["scan", "--source", "mqtt://hall@127.0.0.1:\(broker.port)"],
            environment: ["BEACON_BROKER_PASSWORD": "right"])
        try await eventually { right.errors.contains("connected and listening") }
        let unusedPort = try FreePort.find()
        let run = try ProgramRun(["scan", "--source", "mqtt://127.0.0.1:\(unusedPort)"])
        // libmosquitto 2.1 does not pass on the system's reason.
        try await eventually {
            ["Connection refused", "no connection was established"].contains {
                run.errors.contains("\($0)). Possible causes: the broker is not running")
            }
        }
    }

    @Test(
        "An invalid source is refused at once",
        arguments: [
            ("mqtt://", "host is empty"), ("MQTT:/u:secret@", "host is empty"), ("mqtt://h:0", "the port is not valid"),
            ("mqtt://h:x/a", "the port is not valid"), ("mqtt://u:se/cret@h", "write / as %2F"),
            ("mqttt://u:secret@h", "cannot have the scheme mqttt"),
            ("mqtt://h/a#b", "# that is not its last level"), ("mqtts://h/a+/b", "+ beside other characters"),
        ])
    func mistakes(source: String, message: String) async throws {
        let outcome = try await BeaconProgram.run("scan", "--source", source)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains(message) && !outcome.errors.contains("cret"), "\(outcome.errors)")
        let sending = try await BeaconProgram.run("advertise", "--uuid", Self.uuid, "--source", "mqtt://h")
        #expect(sending.status == 1 && sending.errors.contains("cannot send"))
    }
}
