import Foundation
import TestSupport
import Testing

@Suite("beacon places and beacon teach", .fewAtATime)
struct PlacesTests {
    private static let uuid = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"

    /// A log in which two receivers hear a beacon twice a second, at levels that depend on the second.
    private static func log(_ seconds: Int, _ levels: (Int) -> (Int?, Int?)) -> String {
        (0..<2 * seconds).flatMap { half -> [String] in
            let time = 1000 + Double(half) / 2
            let (first, second) = levels(half / 2)
            return [("R1", first), ("R2", second)].compactMap { receiver, rssi in
                rssi.map {
                    #"{"time":\#(time),"receiver":"\#(receiver)","address":"c0:00:00:00:00:01","uuid":"\#(uuid)","#
                        + #""major":1,"minor":2,"measuredPower":-59,"rssi":\#($0)}"#
                }
            }
        }.joined(separator: "\n")
    }

    /// In the hall for half a minute, then in the kitchen.
    private static let walk = log(60) { $0 < 30 ? (-60, -85) : (-85, -60) }

    @Test("Each change is a line of JSON, with the previous place, the lead and the next place")
    func json() async throws {
        let outcome = try await BeaconProgram.run(
            "places", "--source", "-", "--place", "hall=R1", "--place", "kitchen=R2", "--json", input: Self.walk)
        #expect(outcome.lines.count == 2 && outcome.errors.isEmpty)
        #expect(
            outcome.lines.first
                == #"{"time":1000.000,"receiver":"R1","event":"place","state":"inside","place":"hall","before":null,"#
                + #""level":-60.0,"margin":25.0,"runnerUp":"kitchen","#
                + #""beacon":{"uuid":"\#(Self.uuid)","major":1,"minor":2}}"#)
        #expect(outcome.lines.last?.contains(#""place":"kitchen","before":"hall""#) == true)
    }

    @Test("With --each-second there is a line for each beacon and second")
    func eachSecond() async throws {
        let outcome = try await BeaconProgram.run(
            "places", "--source", "-", "--place", "hall=R1", "--place", "kitchen=R2", "--each-second", "--json",
            input: Self.walk)
        #expect((58...61).contains(outcome.lines.count))
        #expect(outcome.lines.allSatisfy { $0.contains(#""event":"located""#) })
        #expect(outcome.lines.first?.contains(#""state":"inside","place":"hall""#) == true)
    }

    @Test(
        "An uncalibrated beacon is taught and placed like any other, and named once", arguments: [-3, 0, 127, -128])
    func uncalibrated(power: Int) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).json").path
        func run(_ power: Int) async throws -> [String] {
            try? FileManager.default.removeItem(atPath: file)
            let walk = Self.walk.replacing("-59", with: "\(power)")
            let places = ["places", "--source", "-", "--place", "hall=R1", "--place", "kitchen=R2", "--json"]
            let placed = try await BeaconProgram.run(places, input: walk)
            let dark = try await BeaconProgram.run(places + ["--deaf", "R1"], input: walk)
            for outcome in [placed, dark] {
                let count = outcome.errors.components(separatedBy: "uncalibrated: run 'beacon calibrate'").count - 1
                #expect(count == (power == -59 ? 0 : 1))
            }
            let taught = try await BeaconProgram.run(["teach", "hall", "--source", "-", "--file", file], input: walk)
            #expect(taught.status == 0)
            return placed.lines + dark.lines + [try String(contentsOfFile: file, encoding: .utf8)]
        }
        let expected = try await run(-59)
        #expect(try await run(power) == expected)
    }

    @Test("A deaf receiver makes its place dark, and the beacons in it unknown")
    func deaf() async throws {
        let input = Self.log(60) { $0 < 30 ? (-60, -92) : (-85, -60) }
        let outcome = try await BeaconProgram.run(
            "places", "--source", "-", "--place", "hall=R1", "--place", "kitchen=R2", "--deaf", "R1", "--json",
            input: input)
        #expect(outcome.lines.count == 1)
        #expect(outcome.lines.first?.contains(#""place":"kitchen""#) == true)
    }

    @Test("A receiver that the source does not have is reported")
    func missing() async throws {
        let outcome = try await BeaconProgram.run(
            "places", "--source", "-", "--place", "hall=R1", "--place", "attic=R9", "--json", input: Self.walk)
        #expect(outcome.errors.contains("no receiver R9; it has R1, R2"))
    }

    @Test(
        "An invalid plan of places is refused with a remedy",
        arguments: [
            (["--place", "hall"], "NAME=RECEIVER"), (["--place", "=R1"], "NAME=RECEIVER"),
            (["--place", "a=R1", "--place", "b=R1"], "a receiver can be"),
            (["--place", "a=R1", "--place", "a=R2"], "twice"), (["--place", "a=R1", "--margin", "-3"], "--margin"),
            (["--place", "a=R1", "--deaf", "R2"], "--deaf"), ([], "beacon teach"),
        ])
    func refused(arguments: [String], words: String) async throws {
        let state = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())").path
        let outcome = try await BeaconProgram.run(
            ["places", "--source", "-"] + arguments, input: Self.walk, environment: ["XDG_STATE_HOME": state])
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains(words))
    }

    @Test("A room without a receiver can be taught and found")
    func teach() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("rooms.json").path
        for (name, levels) in [("hall", (-60, -85)), ("landing", (-72, -72)), ("kitchen", (-85, -60))] {
            let outcome = try await BeaconProgram.run(
                "teach", name, "--source", "-", "--file", file, input: Self.log(20) { _ in levels })
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        let list = try await BeaconProgram.run("teach", "--list", "--file", file)
        #expect(
            list.lines == ["3 places, 2 receivers", "  hall: 2 points", "  landing: 2 points", "  kitchen: 2 points"])
        let walk = Self.log(60) { $0 < 20 ? (-61, -84) : $0 < 40 ? (-73, -71) : (-85, -62) }
        let outcome = try await BeaconProgram.run(
            "places", "--source", "-", "--taught", file, "--json", input: walk)
        let places = outcome.lines.compactMap { line in
            ["hall", "landing", "kitchen"].first { line.contains("\"place\":\"\($0)\"") }
        }
        #expect(places == ["hall", "landing", "kitchen"])
        let forgotten = try await BeaconProgram.run("teach", "landing", "--forget", "--file", file)
        #expect(forgotten.status == 0)
        let again = try await BeaconProgram.run("teach", "landing", "--forget", "--file", file)
        #expect(again.status == 1 && again.errors.contains("was never taught"))
    }

    @Test("A recording whose clock steps back is taught as two points")
    func teachBackward() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: file) }
        let line = { (time: Int) in
            #"{"time":\#(time),"receiver":"R1","uuid":"\#(Self.uuid)","major":1,"minor":2,"measuredPower":-59,"rssi":-60}"#
        }
        let input = ((1000..<1012).map(line) + (990..<995).map(line)).joined(separator: "\n")
        let outcome = try await BeaconProgram.run("teach", "hall", "--source", "-", "--file", file.path, input: input)
        #expect(outcome.status == 0 && outcome.lines.first == "1 place, 1 receiver", "\(outcome.errors)")
    }

    @Test("Places that several commands teach at once are all saved")
    func teachTogether() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("rooms.json").path
        let input = Self.log(10) { _ in (-60, -85) }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<6 {
                group.addTask {
                    _ = try? await BeaconProgram.run(
                        "teach", "room \(number)", "--source", "-", "--file", file, input: input)
                }
            }
        }
        let list = try await BeaconProgram.run("teach", "--list", "--file", file)
        #expect(list.lines.first == "6 places, 2 receivers")
    }

    @Test("A file without taught places is reported")
    func damagedFile() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("{}".utf8).write(to: file)
        let outcome = try await BeaconProgram.run(
            "places", "--source", "-", "--taught", file.path, "--json", input: Self.walk)
        #expect(outcome.status == 1 && outcome.errors.contains("not a file of taught places"))
    }
}
