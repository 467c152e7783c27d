import Foundation
import TestSupport
import Testing

@Suite("The order of time in a log of several receivers (N1)", .fewAtATime)
struct BatchOrderTests {
    private static let uuid = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"

    /// An advert with the time at which it was heard, and the time at which its batch was sent.
    private struct Advert {
        var time: Int
        var sent: Int
        var line: String
    }

    /// Returns the log of a walk from the hall to the kitchen with four receivers, each of which sends its adverts in
    /// batches, and the same log sorted by time.
    ///
    /// - Parameter batch: the length of a batch in milliseconds; zero for none.
    private static func logs(batch: Int) -> (log: String, sorted: String) {
        var adverts: [Advert] = []
        for step in 0..<600 {
            for (receiver, offset) in [("R1", 0), ("R2", 37), ("R3", 61), ("R4", 83)] {
                // Receivers do not send at the same time.
                let (time, phase) = (step * 100 + offset, offset * 7)
                let isInHall = step < 300
                let isNear = (receiver == "R1" || receiver == "R3") == isInHall
                let text = String(format: "%d.%03d", 1_700_000_000 + time / 1000, time % 1000)
                let line =
                    #"{"time":\#(text),"receiver":"\#(receiver)","address":"c0:00:00:00:00:01","uuid":"\#(uuid)","#
                    + #""major":1,"minor":2,"measuredPower":-59,"rssi":\#((isNear ? -55 : -80) - step % 5)}"#
                let sent = batch == 0 ? time : (time + phase) / batch * batch + batch - phase
                adverts.append(Advert(time: time, sent: sent, line: line))
            }
        }
        func text(_ adverts: [Advert]) -> String { adverts.map(\.line).joined(separator: "\n") + "\n" }
        let log = adverts.enumerated().sorted { ($0.element.sent, $0.offset) < ($1.element.sent, $1.offset) }
        let sorted = log.enumerated().sorted {
            ($0.element.element.time, $0.offset) < ($1.element.element.time, $1.offset)
        }
        return (text(log.map(\.element)), text(sorted.map(\.element.element)))
    }

    /// Returns what each command makes of a log.
    private static func results(_ log: String, in folder: TemporaryFolder) async throws -> [String: String] {
        let path = folder.url.path
        try log.write(toFile: path + "/log.ndjson", atomically: true, encoding: .utf8)
        let places = ["--place", "hall=R1,R3", "--place", "kitchen=R2,R4"]
        var results: [String: String] = [:]
        let source = ["--source", path + "/log.ndjson"]
        for arguments in [
            ["scan", "--json"], ["range", "--json"], ["monitor", "--region", uuid, "--json"],
            ["calibrate", "--json", "--seconds", "60"], ["calibrate", "--offset", "--json", "--seconds", "60"],
            ["places", "--json"] + places, ["places", "--json", "--each-second"] + places,
        ] {
            let outcome = try await BeaconProgram.run(arguments + source)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(!outcome.output.isEmpty)
            results[arguments.prefix(3).joined(separator: " ")] = outcome.output
        }
        for file in ["record.ndjson", "record.btsnoop"] {
            _ = try await BeaconProgram.run(["record", path + "/" + file] + source)
            results[file] = try Data(contentsOf: folder.url.appendingPathComponent(file)).base64EncodedString()
        }
        let taught = path + "/taught.json"
        try? FileManager.default.removeItem(atPath: taught)
        let teach = try await BeaconProgram.run(["teach", "hall", "--seconds", "20", "--file", taught] + source)
        #expect(teach.output.contains("hall: 2 points"), "\(teach.output)")
        results["teach"] = try String(contentsOfFile: taught, encoding: .utf8)
        return results
    }

    @Test("Batches of up to two seconds give the same results as the sorted log", arguments: [0, 100, 250, 1000, 2000])
    func batches(length: Int) async throws {
        let folder = try TemporaryFolder()
        let (log, sorted) = Self.logs(batch: length)
        #expect((log == sorted) == (length == 0))
        let (results, expected) = (try await Self.results(log, in: folder), try await Self.results(sorted, in: folder))
        for (command, result) in results {
            #expect(result == expected[command], "\(command) with batches of \(length) ms")
        }
    }

    @Test("Teaching from a pipe gives one point for ten seconds, and names its beacon if several are heard (N14)")
    func pipe() async throws {
        let folder = try TemporaryFolder()
        let log = Self.logs(batch: 250).log
        let other = log.split(separator: "\n").enumerated().filter { $0.offset % 3 == 0 }.map {
            $0.element.replacing(#""minor":2"#, with: #""minor":3"#)
        }
        // Teaching ends before it has read everything, so that the writer must survive a closed pipe.
        func teach(_ place: String, from log: String) async throws -> BeaconProgram.Outcome {
            let path = folder.url.path + "/\(place)"
            try log.write(toFile: path, atomically: true, encoding: .utf8)
            return try await BeaconProgram.runShell(
                "cat \(path) | \(BeaconProgram.path) teach \(place) --seconds 20 --file \(path).json --source -")
        }
        let outcome = try await teach("hall", from: log + other.joined(separator: "\n"))
        #expect(outcome.output.contains("hall: 2 points"), "\(outcome.output)")
        #expect(!outcome.errors.contains("Note: hall is taught with"))
        let both = zip(log.split(separator: "\n"), other + other + other).map { "\($0)\n\($1)\n" }.joined()
        let named = try await teach("attic", from: both)
        #expect(named.errors.contains("of 2 beacons. Choose another one with --region."), "\(named.errors)")
    }

    @Test("A log with a long step back is two recordings, each in its order")
    func joined() async throws {
        let folder = try TemporaryFolder()
        let log = Self.logs(batch: 250).sorted
        let path = folder.url.path + "/log.ndjson"
        try (log + log).write(toFile: path, atomically: true, encoding: .utf8)
        let outcome = try await BeaconProgram.run("scan", "--json", "--source", path)
        let lines = outcome.lines.map { $0.prefix(24) }
        #expect(lines.count == 4800 && Array(lines.prefix(2400)) == Array(lines.suffix(2400)))
        #expect(outcome.errors.contains("packets 4800 reports 4800"))
    }
}
