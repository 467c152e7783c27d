import Foundation
import TestSupport
import Testing

@Suite("beacon range", .fewAtATime)
struct RangeTests {
    private static let uuid = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"

    private static func line(_ time: Double, rssi: Int, minor: Int) -> String {
        """
        {"time":\(time),"receiver":"hci0","address":"c0:00:00:00:00:0\(minor)","uuid":"\(uuid)","major":1,\
        "minor":\(minor),"measuredPower":-59,"rssi":\(rssi)}

        """
    }

    private static let log =
        line(1000.5, rssi: -80, minor: 1) + line(1000.6, rssi: -50, minor: 2) + line(1000.7, rssi: -65, minor: 3)
        + line(1000.8, rssi: 127, minor: 4) + line(1001, rssi: -50, minor: 2)

    @Test("Each second, receiver and region is a line of JSON in the form that users' scripts expect")
    func json() async throws {
        let outcome = try await BeaconProgram.run(
            "range", "--source", "-", "--json", "--region", "x=\(Self.uuid)/1/2", input: Self.log)
        #expect(
            outcome.lines == [
                #"{"time":1001.000,"receiver":"hci0","region":{"uuid":"\#(Self.uuid)","major":1,"minor":2},"#
                    + #""beacons":[{"address":"c0:00:00:00:00:02","uuid":"\#(Self.uuid)","major":1,"minor":2,"#
                    + #""proximity":"immediate","accuracy":0.251,"rssi":-50,"measuredPower":-59,"#
                    + #""interval":0.400,"accuracyRange":[0.18,0.65]}]}"#
            ])
    }

    @Test("Without a region, every beacon is ranged and the region is null")
    func everyBeacon() async throws {
        let outcome = try await BeaconProgram.run("range", "--source", "-", "--json", input: Self.log)
        #expect(outcome.lines.count == 1)
        #expect(outcome.output.hasPrefix(#"{"time":1001.000,"receiver":"hci0","region":null,"beacons":[{"#))
        #expect(
            outcome.output.hasSuffix(
                #""proximity":"unknown","accuracy":-1,"rssi":0,"measuredPower":-59,"interval":null,"accuracyRange":null}]}"#
                    + "\n"))
    }

    @Test("The text has sections, nearest first, within 80 columns")
    func sections() async throws {
        let outcome = try await BeaconProgram.run("range", "--source", "-", input: Self.log)
        let lines = outcome.lines
        #expect(lines.allSatisfy { $0.count <= 80 })
        let order = ["Immediate", "Near", "Far", "Unknown"].map { lines.firstIndex(of: $0) ?? -1 }
        #expect(order == order.sorted() && (order.first ?? 0) > 0)
        #expect(lines.contains { $0.contains("1/2") && $0.contains("0.3 m (0.2–0.7)") && $0.contains("-50 dBm") })
    }

    @Test("From 20 m on, the range has no upper end, and the text says what the distance is more than")
    func open() async throws {
        let input = (0..<3).map { Self.line(1000.5 + Double($0), rssi: -84, minor: 1) }.joined()
        let json = try await BeaconProgram.run("range", "--source", "-", "--json", input: input)
        #expect(json.output.contains(#""accuracyRange":[8.05,null]"#), "\(json.output)")
        let text = try await BeaconProgram.run("range", "--source", "-", input: input)
        #expect(text.lines.contains { $0.contains("  more than 8 m -84 dBm") }, "\(text.output)")
        let unclaimed = input.replacing(#""measuredPower":-59"#, with: #""measuredPower":-3"#)
        let uncalibrated = try await BeaconProgram.run("range", "--source", "-", input: unclaimed)
        #expect(uncalibrated.lines.contains { $0.contains("  more than 4 m? -84 dBm") }, "\(uncalibrated.output)")
        #expect((text.lines + uncalibrated.lines).allSatisfy { $0.count <= 80 })
    }

    /// Returns two adverts of each beacon, with the power that all of them claim; nil for none.
    private static func log(power: Int?, beacons: Int = 1) -> String {
        (0..<2 * beacons).map { number in
            let claim = power.map { #""measuredPower":\#($0),"# } ?? ""
            return #"{"time":\#(1000 + number / beacons),"uuid":"\#(uuid)","major":1,"minor":\#(number % beacons),"#
                + #""address":"c0:00:00:00:00:01",\#(claim)"rssi":-60}"#
        }.joined(separator: "\n")
    }

    @Test(
        "A beacon without a possible power is as far as a usual one, and uncalibrated", arguments: [-3, 30, nil])
    func uncalibrated(power: Int?) async throws {
        let json = try await BeaconProgram.run("range", "--source", "-", "--json", input: Self.log(power: power))
        #expect(
            json.lines.last?.hasSuffix(
                #""proximity":"near","accuracy":1.141,"rssi":-60,"measuredPower":null,"interval":1.000,"#
                    + #""accuracyRange":[0.83,4.69],"uncalibrated":true}]}"#) == true)
        #expect(json.errors.components(separatedBy: "is uncalibrated: run 'beacon calibrate'").count == 2)
        let text = try await BeaconProgram.run("range", "--source", "-", input: Self.log(power: power))
        #expect(text.lines.contains { $0.contains("1.1 m? (0.8–5) -60 dBm") })
        #expect(text.lines.contains("  ? uncalibrated: run 'beacon calibrate'; -59 dBm at 1 m is assumed"))
        #expect(text.lines.allSatisfy { $0.count <= 80 } && text.errors.isEmpty)
    }

    @Test("Of many uncalibrated beacons, standard error names the first")
    func manyUncalibrated() async throws {
        let outcome = try await BeaconProgram.run(
            "range", "--source", "-", "--json", input: Self.log(power: -3, beacons: 100))
        let lines = outcome.errors.split(separator: "\n")
        #expect(lines.count == 20 && lines.last?.contains("Further uncalibrated beacons are not reported") == true)
    }

    @Test("On a terminal the table redraws itself within its width, without colors if they are not wanted")
    func terminal() async throws {
        let colored = try await BeaconProgram.runOnTerminal("range --source simulation:museum --speed max")
        #expect(colored.output.contains("\u{1B}[2J"))
        #expect(colored.output.contains("\u{1B}[32m"))
        let plain = try await BeaconProgram.runOnTerminal(
            "range --source simulation:museum --speed max", environment: ["NO_COLOR": "1"])
        #expect(plain.output.contains("\u{1B}[H"))
        #expect(!plain.output.contains("\u{1B}[32m"))
        let rows = plain.output.split(separator: "\r\n").map { row in
            row.replacingOccurrences(of: "\u{1B}\\[[0-9]*[A-Za-z]", with: "", options: .regularExpression)
        }
        #expect(rows.allSatisfy { $0.count <= 80 })
    }

    @Test("A source without times is refused with a remedy, and accepted with it")
    func noTimes() async throws {
        let dump = """
            HCI sniffer - Bluetooth packet analyzer ver 5.50
            device: hci0 snap_len: 1500 filter: 0xffffffff
            > 04 3E 2A 02 01 03 01 2B 1E 8A A5 B8 32 1E 02 01 06 1A FF 4C
              00 02 15 E2 C5 6D B5 DF FB 48 D2 B0 60 D0 F5 A7 10 96 E0 00
              01 00 02 C5 C4

            """
        let refused = try await BeaconProgram.run("range", "--source", "-", input: dump)
        #expect(refused.status == 1)
        #expect(refused.errors.contains("--packet-interval"))
        let accepted = try await BeaconProgram.run(
            "range", "--source", "-", "--packet-interval", "0.1", "--json", input: dump)
        #expect(accepted.status == 0)
        #expect(accepted.lines.count == 1)
    }

    @Test("It keeps the quality that the README publishes", .enabled(if: SharedData.isThere))
    func quality() async throws {
        let data = SharedData.folder.path
        let python = try await BeaconProgram.python()
        for (name, least) in [
            ("moving-straight", 0.83), ("robot", 0.60), ("phones-hand", 0.90), ("turning-bodies", 0.73),
        ] {
            let files = "\(data)/ranging/\(name)"
            let scored = try await BeaconProgram.runShell(
                """
                f=$(mktemp) && \(BeaconProgram.path) range --source \(files).sightings.ndjson.gz --json > $f &&
                \(python) \(data)/score.py ranging $f \(files).truth.csv.gz; rm -f $f
                """)
            let words = scored.output.split(separator: " ")
            let place = try #require(words.firstIndex(of: "balanced"), "\(scored.errors)")
            #expect(try #require(Double(words[place + 1])) >= least)
        }
    }
}
