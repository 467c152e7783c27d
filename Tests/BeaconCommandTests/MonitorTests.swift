import Foundation
import Glibc
import TestSupport
import Testing

@Suite("beacon monitor", .fewAtATime)
struct MonitorTests {
    private static let uuid = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"

    private static func line(_ time: Double, rssi: Int = -60, minor: Int = 1) -> String {
        """
        {"time":\(time),"receiver":"hci0","address":"c0:00:00:00:00:01","uuid":"\(uuid)","major":1,"minor":\(minor),\
        "measuredPower":-59,"rssi":\(rssi)}

        """
    }

    @Test("Each event is a line of JSON in the form that users' scripts expect")
    func json() async throws {
        let log = Self.line(1000) + Self.line(1040, minor: 2)
        let outcome = try await BeaconProgram.run(
            "monitor", "--source", "-", "--json", "--region", "hall=\(Self.uuid.uppercased())/1",
            "--region", "\(Self.uuid)/1/2", input: log)
        let hall = #""region":{"name":"hall","uuid":"\#(Self.uuid)","major":1,"minor":null}}"#
        let other = #""region":{"name":"\#(Self.uuid)/1/2","uuid":"\#(Self.uuid)","major":1,"minor":2}}"#
        #expect(
            outcome.lines == [
                #"{"time":1000.000,"receiver":"hci0","event":"enter","state":"inside","# + hall,
                #"{"time":1030.000,"receiver":"hci0","event":"exit","state":"outside","# + hall,
                #"{"time":1030.000,"receiver":null,"event":"state","state":"outside","# + other,
                #"{"time":1040.000,"receiver":"hci0","event":"enter","state":"inside","# + hall,
                #"{"time":1040.000,"receiver":"hci0","event":"enter","state":"inside","# + other,
            ])
    }

    @Test("Signals, timeout and adaptation come from the command line, with negative numbers in both spellings")
    func options() async throws {
        let log =
            Self.line(1000, rssi: -81) + Self.line(1001, rssi: -80) + Self.line(1008, rssi: -90)
            + Self.line(1012, rssi: -91) + Self.line(1100, minor: 9)
        for minimum in [["--minimum-rssi", "-80"], ["--minimum-rssi=-80"]] {
            let outcome = try await BeaconProgram.run(
                [
                    "monitor", "--source", try temporaryLog(log), "--region", "a=\(Self.uuid)/1/1", "--exit-timeout",
                    "10",
                ]
                    + minimum + ["--exit-rssi=-90"])
            #expect(
                outcome.lines == [
                    "1970-01-01 00:16:41.000  enter  a  (hci0)", "1970-01-01 00:16:58.000  exit   a  (hci0)",
                ])
        }
    }

    @Test("With learned signals, an uncalibrated beacon is named once", arguments: [-3, -59])
    func uncalibrated(power: Int) async throws {
        let log = (0..<20).map { Self.line(1000 + Double($0) / 2) }.joined().replacing("-59", with: "\(power)")
        let outcome = try await BeaconProgram.run(
            "monitor", "--source", "-", "--region", "hall=\(Self.uuid)", "--minimum-rssi", "auto", input: log)
        #expect(outcome.lines == ["1970-01-01 00:16:40.000  enter  hall  (hci0)"])
        let count = outcome.errors.components(separatedBy: "uncalibrated: run 'beacon calibrate'").count - 1
        #expect(count == (power == -3 ? 1 : 0))
    }

    private func temporaryLog(_ text: String) throws -> String {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).ndjson").path
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test("A program runs for each event, in order, without a shell, with the event on its standard input")
    func exec() async throws {
        let log = Self.line(1000) + Self.line(1040)
        let script = try temporaryLog("#!/bin/sh\nsleep 0.1\necho \"$1 $(cat)\" >> \"$2\"\n")
        let out = script + ".out"
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
        let outcome = try await BeaconProgram.run(
            "monitor", "--source", "-", "--json", "--region", "hall=\(Self.uuid)",
            "--exec", "\(script) 'a $HOME b' \(out)", input: log)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let reported = try String(contentsOfFile: out, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(reported == outcome.lines.map { "a $HOME b " + $0 })
        #expect(reported.count == 3)
    }

    @Test("A program that cannot run is reported, and monitoring continues")
    func execFails() async throws {
        let outcome = try await BeaconProgram.run(
            "monitor", "--source", "-", "--region", "hall=\(Self.uuid)", "--exec", "/nowhere/at.all",
            input: Self.line(1000))
        #expect(outcome.status == 0)
        #expect(outcome.lines.count == 1)
        #expect(outcome.errors.contains("cannot run /nowhere/at.all"))
    }

    @Test("A program that ends at once, for each of many events, does not end monitoring (D1)")
    func execEndsAtOnce() async throws {
        let log = (0..<40).map { Self.line(1000 + Double($0) * 60) }.joined()
        let outcome = try await BeaconProgram.run(
            "monitor", "--source", "-", "--region", "hall=\(Self.uuid)", "--exec", "/bin/true", input: log)
        #expect(outcome.status == 0)
        #expect(outcome.errors == "")
        #expect(outcome.lines.count == 79)
    }

    @Test("A program gets no capabilities, but the named variables (D6)", .enabled(if: geteuid() == 0))
    func execPrivileges() async throws {
        let log = try temporaryLog(Self.line(1000))
        // systemd gives a service the right to use Bluetooth in this way.
        let outcome = try await BeaconProgram.runShell(
            """
            SECRET=hidden NAMED=given setpriv --securebits=+noroot --inh-caps=-all,+net_raw --ambient-caps=+net_raw \
            \(BeaconProgram.path) monitor --source \(log) --region hall=\(Self.uuid) --exec-variable NAMED \
            --exec 'sh -c "grep ^Cap /proc/self/status; env"'
            """)
        #expect(outcome.status == 0)
        let lines = outcome.errors.split(separator: "\n")
        for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
            #expect(lines.contains("\(set):\t0000000000000000"))
        }
        #expect(lines.contains("NAMED=given"))
        #expect(!outcome.errors.contains("hidden"))
    }

    @Test("A region without adverts is outside after its timeout, without an exit")
    func neverHeard() async throws {
        let log = (0..<60).map { Self.line(1000 + Double($0)) }.joined()
        let outcome = try await BeaconProgram.run(
            "monitor", "--source", "-", "--region", "attic=\(Self.uuid)/7", "--exit-timeout", "40", input: log)
        #expect(outcome.lines == ["1970-01-01 00:17:20.000  state  attic is outside"])
    }

    @Test("A missing receiver is reported with the existing ones, and no region is known without it")
    func unknownReceiver() async throws {
        let outcome = try await BeaconProgram.run(
            "monitor", "--source", "-", "--region", "hall=\(Self.uuid)", "--receiver", "hci7",
            input: Self.line(1000) + Self.line(1100))
        #expect(outcome.lines.isEmpty)
        #expect(outcome.errors.contains("hci7") && outcome.errors.contains("hci0"))
    }

    @Test("Ctrl-C ends monitoring with status 130")
    func interruption() async throws {
        let outcome = try await BeaconProgram.runShell(
            "timeout --preserve-status -s INT 1 \(BeaconProgram.path) monitor --source simulation:museum --region \(Self.uuid) --json; echo $?"
        )
        #expect(outcome.lines.last == "130")
    }

    @Test("It keeps the quality that the README publishes", .enabled(if: SharedData.isThere))
    func quality() async throws {
        let data = SharedData.folder.path
        let python = try await BeaconProgram.python()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())").path
        let log = "\(data)/presence/four-scanners"
        let deployment = "daf246ce-8363-11e4-b116-123b93f75cba"
        let regions = ["0/1", "0/2", "0/5", "1/6", "0/7", "0/8"].map { "--region \(deployment)/\($0)" }
        let watches = (201...204).map { room in
            """
            \(BeaconProgram.path) monitor --source \(log).sightings.ndjson.gz --receiver Room\(room) \
              \(regions.joined(separator: " ")) --minimum-rssi -80 --json > \(folder)/Room\(room).ndjson
            """
        }
        let scored = try await BeaconProgram.runShell(
            """
            mkdir -p \(folder) && \(watches.joined(separator: " && ")) && \
            \(python) \(data)/score.py presence \(folder)/Room*.ndjson \(log).truth.csv; rm -rf \(folder)
            """)
        #expect(scored.output.hasPrefix("enters 37 (truth 18)  exits 31 (truth 12)  state accuracy 0.967"), "\(scored)")
    }
}

@Suite("Programs for events of beacons", .fewAtATime)
struct ProximityProgramTests {
    private static let uuid = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"

    /// A visit: far, near from second 10 on, gone from second 40 on.
    private static var log: String {
        (0..<600).map { tenth in
            let minor = tenth < 400 ? 1 : 9
            let rssi = minor == 9 ? -60 : tenth < 100 ? -85 : -62
            return """
                {"time":\(1000 + Double(tenth) / 10),"receiver":"hci0","address":"c0:00:00:00:00:0\(minor)",\
                "uuid":"\(minor == 9 ? "00000000-0000-0000-0000-000000000001" : uuid)","major":1,"minor":\(minor),\
                "measuredPower":-59,"rssi":\(rssi)}

                """
        }.joined()
    }

    @Test(
        "A program runs once for a beacon that comes near, stays, and is gone",
        arguments: ["range", "monitor"])
    func events(command: String) async throws {
        let reported = NSTemporaryDirectory() + "reported-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: reported) }
        let outcome = try await BeaconProgram.run(
            command, "--source", "-", "--region", "hall=\(Self.uuid)", "--on", "near", "--on", "near for 10s", "--on",
            "gone", "--on", "enter", "--exec", "sh -c 'cat >> \(reported)'", input: Self.log)
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
        let lines = try String(contentsOfFile: reported, encoding: .utf8).split(separator: "\n")
        let words = lines.compactMap { $0.firstMatch(of: /"time":10(\d\d)\..*"event":"(\w+)"/) }.map {
            "\($0.1) \($0.2)"
        }
        #expect(words.map { String($0.drop { $0 != " " }.dropFirst()) } == ["enter", "proximity", "stays", "gone"])
        #expect(words.first == "00 enter")
        // The level of a beacon follows it within some seconds.
        #expect(words.count > 1 && 10...20 ~= Int(words[1].prefix(2)) ?? 0)
        let line = try #require(lines.first { $0.contains("proximity\",\"reached\":\"near\"") })
        #expect(line.contains(#""region":{"uuid":"\#(Self.uuid)","major":null,"minor":null},"beacon":{"address":"#))
    }

    @Test(
        "An unknown event, or an event without its region, is reported",
        arguments: [
            (["range", "--exec", "true", "--on", "nearby"], "is not an event; write enter"),
            (["range", "--exec", "true", "--on", "enter"], "needs a --region"),
            (["monitor", "--region", uuid, "--on", "near"], "name it with --exec"),
        ])
    func mistakes(arguments: [String], sentence: String) async throws {
        let outcome = try await BeaconProgram.run(arguments)
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains(sentence), "\(outcome.errors)")
    }
}
