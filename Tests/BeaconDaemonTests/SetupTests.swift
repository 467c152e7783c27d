import Foundation
import Subprocess
import SystemPackage
import TestSupport
import Testing

@Suite("The guided start at a terminal", .fewAtATime)
struct SetupTests {
    private static let door = "Front door=\(DaemonBench.uuid)/1/7"

    @Test("With all options there are no questions, and the written configuration is valid")
    func given() async throws {
        let bench = try DaemonBench()
        let port = try FreePort.find()
        let other = "5a4bcfce-174e-4bac-a814-092e77f6b7e5/2/1"
        let outcome = try await bench.run(
            "setup", "--config", "new.yaml", "--listen", "\(port)", "--source", "simulation:museum", "--beacon",
            Self.door,
            "--beacon", "Till 1=\(other)", "--webhook", "http://127.0.0.1:1/a")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors.contains("Run it: beacond --config new.yaml"), "\(outcome.errors)")
        let text = bench.read("new.yaml")
        let parts = [
            "simulation:museum?loop", "Front door", "name: museum", "http://127.0.0.1:1/a", "\(port)",
            "name: Till 1, uuid: \"\(other.prefix(36))\"", "name: Till 1 nearby, uuid: \"\(other.prefix(36))\"",
        ]
        for part in parts { #expect(text.contains(part), "\(text)") }
        // Home Assistant has a zone of this name.
        #expect(!text.contains("name: home"), "\(text)")
        let check = try await bench.run("check", "new.yaml")
        #expect(check.status == 0)
        #expect(check.errors.contains("1 source, 2 regions, 2 named beacons, 1 destination."), "\(check.errors)")
        // Never a second time.
        let again = try await bench.run("setup", "--config", "new.yaml", "--beacon", Self.door)
        #expect(again.status == 2 && again.errors.contains("exists"))
    }

    @Test(
        "Invalid options are reported, and nothing is written",
        arguments: [
            (["--beacon", "Front door=1/2/3"], "NAME=UUID/MAJOR/MINOR"),
            (["--source", "simulation:museum"], "--beacon"),
            (["--source", "nowhere", "--beacon", door], "is not auto, hci"),
            (["--source", "simulation:nowhere", "--beacon", door], "nowhere"),
            (["--home-assistant", "http://a", "--beacon", door], "--home-assistant is http://a"),
            (["--home-assistant", "127.0.0.1:1", "--beacon", door], "Cannot connect to 127.0.0.1:1"),
            (["--home-assistant", "mqtt://u:secret@a:1", "--beacon", door], "contains a password"),
            (["--home-assistant", "mqtt://u:secret@a:99999", "--beacon", door], "the port is not valid"),
            (["--home-assistant", "mqtt://a/topic", "--beacon", door], "only the host and the port"),
            (["--user", "a"], "--home-assistant"),
            (["--tracker", "Back door", "--beacon", door], "--tracker is Back door"),
            (["--beacon", " =\(DaemonBench.uuid)/1/1"], "NAME=UUID"),
            (["--webhook", "nowhere", "--source", "air", "--beacon", door], "webhook"),
        ])
    func faults(arguments: [String], words: String) async throws {
        let bench = try DaemonBench()
        let outcome = try await bench.run(
            DaemonBench.product("beacond"),
            ["setup", "--config", "new.yaml", "--listen", "\(try FreePort.find())"] + arguments)
        #expect(outcome.status != 0)
        #expect(outcome.errors.contains(words) && !outcome.errors.contains("secret"), "\(outcome.errors)")
        #expect(bench.read("new.yaml").isEmpty && bench.read("new.env").isEmpty)
    }

    @Test("Without a terminal, --untried writes an unreachable broker, and adds its password to the others")
    func untried() async throws {
        let bench = try DaemonBench()
        try bench.write("MQTT_PASSWORD=\"old\"\n", to: "new.env")
        let outcome = try await bench.run(
            "setup", "--config", "new.yaml", "--listen", "\(try FreePort.find())", "--source", "air", "--beacon",
            Self.door,
            "--home-assistant", "mqtts://jane@127.0.0.1:1", "--untried", environment: ["MQTT_PASSWORD": "new"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(bench.read("new.env") == "MQTT_PASSWORD=\"old\"\nMQTT_PASSWORD_2=\"new\"\n")
        #expect(bench.read("new.yaml").contains("tls: true"))
        let check = try await bench.run("check", "new.yaml")
        #expect(check.status == 0, "\(check.output)")
    }

    @Test("Only a beacon that a person carries is written as a tracker")
    func tracker() async throws {
        let bench = try DaemonBench()
        let outcome = try await bench.run(
            "setup", "--config", "new.yaml", "--listen", "\(try FreePort.find())", "--source", "air", "--beacon",
            "Ann's keys=\(DaemonBench.uuid)/1/8", "--beacon", Self.door, "--tracker", "Ann's keys")
        #expect(outcome.status == 0, "\(outcome.errors)")
        let lines = bench.read("new.yaml").split(separator: "\n").filter { $0.contains("minor: ") }
        #expect(lines.count == 2, "\(lines)")
        for line in lines { #expect(line.contains("tracker: true") == line.contains("Ann's keys"), "\(line)") }
        let check = try await bench.run("check", "new.yaml")
        #expect(check.status == 0, "\(check.errors)")
    }

    @Test("At a terminal the broker's user and password are asked for, tested and hidden, and a beacon is named")
    func asked() async throws {
        let bench = try DaemonBench()
        let (port, web) = (try FreePort.find(), try FreePort.find())
        try bench.write("listener \(port) 127.0.0.1\nuser root\npassword_file passwords\n", to: "broker.conf")
        // Each answer is typed only after its question, as a user would.
        try bench.write(
            """
            mosquitto_passwd -b -c passwords beacond 'pa$s w'
            mosquitto -c broker.conf >broker-log 2>&1 &
            broker=$!
            trap 'kill $broker' EXIT
            until grep -q running broker-log; do kill -0 $broker; sleep 0.05; done
            touch shown
            type_at() {
                until grep -q "$1" shown; do [ ! -e ended ] && [ $SECONDS -lt 300 ]; sleep 0.05; done
                printf '%s\\n' "$2"
            }
            {
                type_at 'User:' bacond
                type_at 'not shown):' gu3ss
                type_at 'User .bacond.:' beacond
                type_at 'not shown):.*not shown):' 'pa$s w'
                type_at 'list them again:' $'\\f'
                type_at 'list them again:.*list them again:' '1 Front door'
                type_at 'if not:' '99 Nowhere'
                type_at 'Enter a number from' -9223372036854775808
                type_at 'Enter a number from.*Enter a number from' ''
                type_at 'carry Front door' n
            } | {
                status=0
                script -qec "$1 setup --config new.yaml --listen \(web) --home-assistant 127.0.0.1:\(port) \\
                    --source simulation:museum" /dev/null | stdbuf -o0 tr '\\n' ' ' >shown || status=$?
                touch ended
                exit $status
            }
            """, to: "talk")
        let outcome = try await bench.run(
            "/bin/bash", ["-e", "-o", "pipefail", "talk", DaemonBench.product("beacond")])
        let shown = bench.read("shown")
        #expect(outcome.status == 0, "\(shown)\n\(outcome.errors)")
        #expect(shown.contains("The broker asks for a user and a password."), "\(shown)")
        #expect(shown.contains("refused the connection (user bacond, "), "\(shown)")
        #expect(!shown.contains("gu3ss") && !shown.contains("pa$s"), "\(shown)")
        let check = try await bench.run("check", "new.yaml")
        #expect(check.status == 0 && check.errors.contains("1 named beacon, 1 destination."), "\(check.errors)")
        #expect(bench.read("new.env") == "MQTT_PASSWORD=\"pa\\$s w\"\n")
    }

    @Test(
        "At a terminal a configuration is replaced on request, and kept; an early end writes nothing"
    )
    func replaced() async throws {
        let bench = try DaemonBench()
        let before = "sources: [auto]\nregions: [{ name: a, uuid: \(DaemonBench.uuid) }]\n"
        try bench.write(before, to: "new.yaml")
        let words = "setup --config new.yaml --listen \(try FreePort.find()) --source simulation:museum"
        func answer(_ answers: String) async throws -> DaemonBench.Outcome {
            let command = "printf '\(answers)' | script -qec \"$1 \(words)\" /dev/null"
            return try await bench.run("/bin/bash", ["-c", command, "bash", DaemonBench.product("beacond")])
        }
        let no = try await answer("n\\n")
        #expect(no.status == 1 && bench.read("new.yaml") == before, "\(no.output)")
        let end = try await answer("y\\n\\004")
        #expect(end.status == 1 && end.output.contains("Nothing was written."), "\(end.output)")
        #expect(bench.read("new.yaml") == before)
        let yes = try await answer("y\\n2 Till 1\\n\\n")
        #expect(yes.status == 0, "\(yes.output)")
        #expect(bench.read("new.yaml").contains("Till 1") && bench.read("new.yaml.old") == before)
    }

    @Test("A broker's settings in an address are tested, written, and used by a source of the file")
    func brokerSettings() async throws {
        let bench = try DaemonBench()
        let certificates = try Certificates()
        let passwords = certificates.path("passwords")
        try ChildProcess.run("mosquitto_passwd", "-b", "-c", passwords, "ann", "open sesame")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: passwords)
        let broker = try await Broker(
            certificates.settings(of: "broker") + "\nrequire_certificate true\nallow_anonymous false\n"
                + "password_file \(passwords)", in: certificates.folder)
        for file in ["authority.pem", "client.pem", "client.key"] {
            try bench.write(String(contentsOfFile: certificates.path(file), encoding: .utf8), to: file)
        }
        // Relative to the folder of the command; in a file it would be that of the service.
        let query =
            "ca-file=authority.pem&certificate-file=client.pem&key-file=client.key&version=3.1.1&client-id=hall"
            + "&keep-alive=17s"
        func setup(_ address: String) async throws -> DaemonBench.Outcome {
            try await bench.run(
                "setup", "--config", "new.yaml", "--listen", "\(try FreePort.find())", "--source", "air", "--beacon",
                Self.door, "--home-assistant", address, environment: ["BEACON_BROKER_PASSWORD": "open sesame"])
        }
        let unknown = try await setup("mqtts://ann@localhost:\(broker.port)")
        #expect(unknown.status == 1 && unknown.errors.contains("not from an authority that is trusted here; name"))
        #expect(!unknown.errors.contains("Possible causes"), "\(unknown.errors)")
        for (query, words) in [("cafile=a", "a setting after the ? is unknown"), ("version=4", "write 3.1.1 or 5")] {
            let wrong = try await setup("mqtts://localhost:\(broker.port)?\(query)")
            #expect(wrong.status == 2 && wrong.errors.contains(words), "\(wrong.errors)")
        }
        let outcome = try await setup("mqtts://ann@localhost:\(broker.port)?\(query)")
        #expect(outcome.status == 0, "\(outcome.errors)")
        let text = bench.read("new.yaml")
        for part in [
            "version: \"3.1.1\"", "client-id: hall", "keep-alive: 17s",
            "ca-file: \"\(bench.folder.path)/authority.pem",
        ] { #expect(text.contains(part), "\(text)") }
        let check = try await bench.run("check", "new.yaml")
        #expect(check.status == 0, "\(check.output)")
        try bench.configure(
            """
            sources: ["mqtts://ann@localhost:\(broker.port)?\(query.replacing("hall", with: "listener"))"]
            regions: [{ name: hall, uuid: \(DaemonBench.uuid) }]
            """)
        let other = try await bench.run("check", "beacond.yaml")
        #expect(other.status == 0, "\(other.output)")
        try FileManager.default.removeItem(at: bench.folder.appendingPathComponent("client.key"))
        let missing = try await bench.run("check", "beacond.yaml")
        #expect(missing.status == 1 && missing.output.contains("key-file cannot be read here"), "\(missing.output)")
    }
}
