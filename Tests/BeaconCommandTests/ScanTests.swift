import Foundation
import TestSupport
import Testing

@Suite("beacon scan, record and simulate", .fewAtATime)
struct ScanTests {
    private static let uuid = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"

    private static let log = """
        {"time":1700000000.125,"receiver":"door","address":"c0:00:00:00:00:01","uuid":"\(uuid)","major":1,"minor":2,"measuredPower":-59,"rssi":-60}
        {"time":1700000000.25,"receiver":"win\\u0064ow","address":"c0:00:00:00:00:02","uuid":"\(uuid)","major":1,"minor":3,"measuredPower":-59,"rssi":127}

        """

    private func temporary(_ suffix: String) -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())\(suffix)").path
    }

    @Test("A sighting log is written as it was read, and the last line counts")
    func copy() async throws {
        let outcome = try await BeaconProgram.run("scan", "--source", "-", "--json", input: Self.log)
        #expect(outcome.status == 0)
        #expect(
            outcome.output
                == Self.log.replacingOccurrences(of: "\\u0064", with: "d").replacingOccurrences(
                    of: ".25,", with: ".250,"))
        #expect(outcome.errors == "packets 2 reports 2 bad-crc 0 ibeacons 2\n")
    }

    @Test("Without --json, the columns fit a terminal")
    func text() async throws {
        let outcome = try await BeaconProgram.run("scan", "--source", "-", input: Self.log)
        #expect(outcome.lines.count == 3)
        #expect(outcome.lines.allSatisfy { $0.count <= 80 })
        #expect(outcome.lines.dropFirst().first?.hasPrefix("22:13:20.125") == true)
    }

    @Test("A truncated source gives its content, its counts, an error with the place, and status 1")
    func cut() async throws {
        let outcome = try await BeaconProgram.run(
            "scan", "--source", "-", "--json", input: String(Self.log.dropLast(20)))
        #expect(outcome.status == 1)
        #expect(outcome.lines.count == 1)
        #expect(outcome.errors.contains("packets 1 reports 1 bad-crc 0 ibeacons 1"))
        #expect(outcome.errors.contains("at byte "))
    }

    @Test(
        "A recording has the same adverts, in each format",
        arguments: [".btsnoop", ".ndjson", ".btsnoop.gz", ".jsonl.gz"])
    func record(suffix: String) async throws {
        let path = temporary(suffix)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let recorded = try await BeaconProgram.run("record", path, "--source", "-", input: Self.log)
        #expect(recorded.status == 0, "\(recorded.errors)")
        let original = try await BeaconProgram.run("scan", "--source", "-", "--json", input: Self.log)
        let again = try await BeaconProgram.run("scan", "--source", path, "--json")
        #expect(again.output == original.output)
    }

    @Test("A simulation gives the same bytes each time, and the same for scan, simulate and record")
    func simulate() async throws {
        let first = try await BeaconProgram.run("simulate", "museum")
        let second = try await BeaconProgram.run("simulate", "museum")
        let scanned = try await BeaconProgram.run("scan", "--source", "simulation:museum", "--speed", "max", "--json")
        #expect(first.lines.count > 1000)
        #expect(first.output == second.output)
        #expect(first.output == scanned.output)
        let path = temporary(".btsnoop")
        defer { try? FileManager.default.removeItem(atPath: path) }
        _ = try await BeaconProgram.run("simulate", "museum", "--output", path)
        let recorded = try await BeaconProgram.run("scan", "--source", path, "--json")
        #expect(recorded.lines.count == first.lines.count)
    }

    @Test("An output that is not ready at times gets everything")
    func nonblockingOutput() async throws {
        // Each chunk is larger than this pipe, so that writing it must wait for the reader.
        let line = """
            python3 -c 'import fcntl, os
            fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 4096)
            fcntl.fcntl(1, fcntl.F_SETFL, fcntl.fcntl(1, fcntl.F_GETFL) | os.O_NONBLOCK)
            os.execv("\(BeaconProgram.path)", ["beacon", "simulate", "museum"])' | cat
            """
        let outcome = try await BeaconProgram.runShell(line)
        #expect(outcome.errors.isEmpty, "\(outcome.errors)")
        #expect(try await outcome.output == BeaconProgram.run("simulate", "museum").output)
    }

    @Test("The packet interval replaces a source's times, and adds times to a source without them")
    func packetInterval() async throws {
        let outcome = try await BeaconProgram.run(
            "scan", "--source", "-", "--json", "--packet-interval", "0.5", input: Self.log)
        #expect(outcome.lines.first?.hasPrefix(#"{"time":0.000,"#) == true)
        #expect(outcome.lines.last?.hasPrefix(#"{"time":0.500,"#) == true)
    }

    @Test(
        "The recording of real beacons has 429 iBeacons of 11 identities", .enabled(if: SharedData.isThere))
    func realCapture() async throws {
        let data = SharedData.folder.path
        let outcome = try await BeaconProgram.run("scan", "--source", "\(data)/captures/hcidump.txt", "--json")
        #expect(outcome.lines.count == 429)
        let identities = Set(
            outcome.lines.compactMap { line in
                line.range(of: #""uuid":.*"minor":\d+"#, options: .regularExpression).map { String(line[$0]) }
            })
        #expect(identities.count == 11)
        #expect(outcome.lines.allSatisfy { $0.hasPrefix(#"{"time":null,"receiver":"hci0","#) })
    }
}
