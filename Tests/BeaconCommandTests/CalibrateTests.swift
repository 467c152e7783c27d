import Foundation
import TestSupport
import Testing

@Suite("beacon calibrate", .fewAtATime)
struct CalibrateTests {
    private static let first = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"
    private static let second = "02f07e83-abd6-4243-90a8-3617c9c74e70"

    /// Adverts of one beacon ten times a second, one for each reading.
    private func log(_ uuid: String, _ readings: [Int], from start: Double = 1000) -> String {
        readings.enumerated().map { index, rssi in
            #"{"time":\#(start + Double(index) / 10),"receiver":"hci0","address":"c0:00:00:00:00:01","uuid":"\#(uuid)","#
                + #""major":1,"minor":2,"measuredPower":-59,"rssi":\#(rssi)}"#
        }.joined(separator: "\n")
    }

    private func result(_ outcome: BeaconProgram.Outcome) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    }

    @Test("The proposal is the mean without the highest and the lowest tenth")
    func proposal() async throws {
        let readings = [-90, -20] + [Int](repeating: -62, count: 50)
        let outcome = try await BeaconProgram.run(
            "calibrate", "--source", "-", "--json", input: log(Self.first, readings))
        let result = try result(outcome)
        #expect(result["proposedMeasuredPower"] as? Int == -62)
        #expect(result["measuredPower"] as? Int == -59)
        #expect(result["adverts"] as? Int == 52)
        #expect(outcome.errors.isEmpty)
    }

    @Test("The power of an uncalibrated beacon is reported as invalid")
    func uncalibrated() async throws {
        let input = log(Self.first, [Int](repeating: -62, count: 50)).replacing("-59", with: "-3")
        let text = try await BeaconProgram.run("calibrate", "--source", "-", input: input)
        #expect(text.lines.contains("claimed    -3 dBm at 1 m, which is invalid: the beacon is uncalibrated"))
        #expect(text.lines.contains { $0.hasPrefix("proposed   -62 dBm at 1 m") })
        let json = try await BeaconProgram.run("calibrate", "--source", "-", "--json", input: input)
        #expect(try result(json)["measuredPower"] as? Int == -3)
        let offset = try await BeaconProgram.run("calibrate", "--source", "-", "--offset", input: input)
        #expect(offset.output.hasPrefix("hci0  -3.0 dB"))
        #expect(offset.errors.contains("is uncalibrated: run 'beacon calibrate' for it first"))
    }

    @Test("Without a region the strongest beacon is measured, with one a beacon of that region")
    func region() async throws {
        let weak = log(Self.first, [Int](repeating: -80, count: 50))
        let strong = log(Self.second, [Int](repeating: -50, count: 50), from: 1005)
        let input = weak + "\n" + strong
        let any = try await BeaconProgram.run("calibrate", "--source", "-", "--json", input: input)
        #expect(try result(any)["uuid"] as? String == Self.second)
        let one = try await BeaconProgram.run(
            "calibrate", "--region", Self.first, "--source", "-", "--json", input: input)
        #expect(try result(one)["proposedMeasuredPower"] as? Int == -80)
    }

    @Test("Adverts after the time limit do not count")
    func time() async throws {
        let readings = [Int](repeating: -60, count: 50) + [Int](repeating: -90, count: 50)
        let outcome = try await BeaconProgram.run(
            "calibrate", "--seconds", "5", "--source", "-", "--json", input: log(Self.first, readings))
        #expect(try result(outcome)["adverts"] as? Int == 50)
        #expect(try result(outcome)["proposedMeasuredPower"] as? Int == -60)
    }

    @Test("Doubts about a result are reported")
    func cautions() async throws {
        let few = try await BeaconProgram.run("calibrate", "--source", "-", input: log(Self.first, [-60, -60]))
        #expect(few.errors.contains("only 2 adverts"))
        let wide = (0..<50).map { $0 % 2 == 0 ? -50 : -70 }
        let spread = try await BeaconProgram.run("calibrate", "--source", "-", input: log(Self.first, wide))
        #expect(spread.errors.contains("spread by 20 dB"))
        let rivals =
            log(Self.first, [Int](repeating: -60, count: 50)) + "\n"
            + log(Self.second, [Int](repeating: -61, count: 50), from: 1004)
        let two = try await BeaconProgram.run("calibrate", "--source", "-", input: rivals)
        #expect(two.errors.contains("\(Self.second)/1/2 was nearly as strong"))
    }

    @Test("Silence is an error with a hint")
    func silence() async throws {
        let outcome = try await BeaconProgram.run(
            "calibrate", "--region", Self.second, "--source", "-", input: log(Self.first, [-60]))
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("beacon scan"))
    }

    /// Calls a function with the path of a file for results, and deletes the file.
    private func withFile(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.appendingPathComponent("calibration.json").path)
    }

    private func readings(_ value: Int) -> [Int] { [Int](repeating: value, count: 100) }

    private func distance(_ rssi: Int, _ file: String) async throws -> Double {
        let ranged = try await BeaconProgram.run(
            "range", "--source", "-", "--json", "--calibration", file, input: log(Self.first, readings(rssi)))
        let line = try #require(ranged.lines.last)
        let report = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        let beacon = try #require((report["beacons"] as? [[String: Any]])?.first)
        return try #require(beacon["accuracy"] as? Double)
    }

    @Test("range uses the saved measurements of a beacon at one and at three meters")
    func kept() async throws {
        try await withFile { file in
            let near = try await BeaconProgram.run(
                "calibrate", "--save", "--calibration", file, "--source", "-", "--json",
                input: log(Self.first, readings(-70)))
            #expect(near.status == 0 && near.errors.contains("Saved to"))
            #expect(try result(near)["margin"] as? Double ?? 9 < 0.5)
            #expect(abs(try await distance(-84, file) - 6.31) < 0.05)
            let far = try await BeaconProgram.run(
                "calibrate", "--distance", "3", "--save", "--calibration", file, "--source", "-",
                input: log(Self.first, readings(-84)))
            #expect(far.status == 0, "\(far.errors)")
            #expect(far.output.contains("loss       14.0 dB from 1 m to 3 m") && !far.output.contains("proposed"))
            #expect(abs(try await distance(-84, file) - 3) < 0.05)
        }
    }

    @Test(
        "An interrupted measurement is not saved; an interruption is how learning ends",
        arguments: [([], 130), (["--offset"], 130), (["--learn"], 0)] as [([String], Int32)])
    func interrupted(options: [String], status: Int32) async throws {
        let folder = try TemporaryFolder()
        let (source, file) = (folder.url.path + "/log.ndjson", folder.url.path + "/calibration.json")
        // After more adverts than are read at once, the program waits a minute for the last one.
        let adverts = log(Self.first, [-70]) + "\n"
        let text = String(repeating: adverts, count: 4000) + log(Self.first, [-70], from: 1060)
        try text.write(toFile: source, atomically: true, encoding: .utf8)
        let run = try ProgramRun(
            ["calibrate", "--save", "--calibration", file, "--source", source, "--speed", "1", "--seconds", "3600"]
                + options)
        try await eventually("the file is read") {
            let descriptors = "/proc/\(run.process.id)/fd"
            let names = (try? FileManager.default.contentsOfDirectory(atPath: descriptors)) ?? []
            let name = names.first {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(descriptors)/\($0)")) == source
            }
            guard let name else { return false }
            let state = try? String(contentsOfFile: "/proc/\(run.process.id)/fdinfo/\(name)", encoding: .utf8)
            return state?.contains("pos:\t\(text.utf8.count)\n") == true
        }
        run.process.signal(SIGINT)
        #expect(run.process.wait() == status, "\(run.errors)")
        #expect(FileManager.default.fileExists(atPath: file) == (status == 0), "\(run.errors)")
    }

    @Test("The offset of a receiver is saved and subtracted")
    func receiverOffset() async throws {
        try await withFile { file in
            let outcome = try await BeaconProgram.run(
                "calibrate", "--offset", "--save", "--calibration", file, "--source", "-",
                input: log(Self.first, readings(-54)))
            #expect(outcome.output.hasPrefix("hci0  5.0 dB (± "))
            #expect(abs(try await distance(-74, file) - 13.9) < 0.1)
        }
    }

    /// Adverts of four beacons of different strengths at three receivers, for some minutes. "r2" reads 6 dB too much.
    private func walk(minutes: Int) -> String {
        (0..<minutes * 6).map { step in
            (0..<3).map { receiver in
                (1...4).map { minor in
                    #"{"time":\#(1000 + 10 * step),"receiver":"r\#(receiver)","address":"c0:00:00:00:00:0\#(minor)","#
                        + #""uuid":"\#(Self.first)","major":1,"minor":\#(minor),"measuredPower":-59,"#
                        + #""rssi":\#(-60 - 2 * minor + (receiver == 2 ? 6 : 0))}"#
                }.joined(separator: "\n")
            }.joined(separator: "\n")
        }.joined(separator: "\n")
    }

    @Test("Offsets learned on one recording change distances on another; a measurement replaces them")
    func learned() async throws {
        try await withFile { file in
            let arguments = ["calibrate", "--learn", "--calibration", file, "--save", "--source", "-"]
            let outcome = try await BeaconProgram.run(
                arguments + ["--moving", "r2,r9", "--json"], input: walk(minutes: 8))
            let result = try result(outcome)
            #expect(result["pairs"] as? Int == 12)
            #expect(result["receivers"] as? [String: Double] == ["r2": 4])
            let offsets = try #require(result["beacons"] as? [String: Double])
            let beacon = "\(Self.first)/1/"
            #expect(offsets == [beacon + "1": 3, beacon + "2": 1, beacon + "3": -1, beacon + "4": -3])
            // The second beacon is 1 dB stronger than it claims.
            #expect(abs(try await distance(-70, file) - 4.85) < 0.01)

            let text = try await BeaconProgram.run(arguments, input: walk(minutes: 8))
            #expect(text.lines.contains { $0.hasPrefix("pairs      12, noise 0.0 dB") })
            #expect(text.lines.contains("side       receivers: 3, reliability 1.00, none moves"))
            #expect(text.lines.contains("beacon     \(Self.first)/1/4  -3.0 dB"))
            _ = try await BeaconProgram.run(
                "calibrate", "--save", "--calibration", file, "--source", "-", input: log(Self.first, readings(-62)))
            let saved = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: file)))
            let kept = try #require((saved as? [String: Any])?["learned"] as? [String: [String: Double]])
            #expect(kept["receivers"] == [:] && kept["beacons"]?.count == 3)
            #expect(abs(try await distance(-70, file) - 2.87) < 0.01)
        }
    }

    @Test("A recording with too few pairs says so, and options that do not fit are refused")
    func unlearned() async throws {
        let few = try await BeaconProgram.run("calibrate", "--learn", "--source", "-", input: walk(minutes: 4))
        #expect(few.output.hasPrefix("pairs      too few"))
        let wrong = try await BeaconProgram.run("calibrate", "--moving", "r2", "--source", "-", input: walk(minutes: 1))
        #expect(wrong.status == 2 && wrong.errors.contains("--moving needs --learn"))
    }

    @Test("The table marks a calibrated beacon")
    func table() async throws {
        try await withFile { file in
            let input = log(Self.first, readings(-70))
            _ = try await BeaconProgram.run(
                "calibrate", "--save", "--calibration", file, "--source", "-", input: input)
            let ranged = try await BeaconProgram.run("range", "--source", "-", "--calibration", file, input: input)
            #expect(ranged.lines.contains { $0.contains("1.0 m* (0.7–2)") }, "\(ranged.output)")
            #expect(ranged.lines.contains { $0.contains("* uses the power") })
            #expect(ranged.lines.allSatisfy { $0.count <= 80 })
            let plain = try await BeaconProgram.run("range", "--source", "-", input: input)
            #expect(!plain.output.contains("*"))
        }
    }

    @Test("The second point needs the first")
    func order() async throws {
        try await withFile { file in
            let outcome = try await BeaconProgram.run(
                "calibrate", "--distance", "3", "--save", "--calibration", file, "--source", "-",
                input: log(Self.first, readings(-70)))
            #expect(outcome.status == 1 && outcome.errors.contains("needs the first"))
        }
    }

    @Test("Files and simulations do not depend on a user's measurements")
    func recordings() async throws {
        let state = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
        defer { try? FileManager.default.removeItem(at: state) }
        let environment = ["XDG_STATE_HOME": state.path]
        let input = log(Self.first, readings(-70))
        let kept = try await BeaconProgram.run(
            ["calibrate", "--save", "--source", "-"], input: input, environment: environment)
        #expect(kept.errors.contains(state.path))
        let ranged = try await BeaconProgram.run(
            ["range", "--source", "-", "--json"], input: input, environment: environment)
        #expect(ranged.output.contains(#""accuracy":4.252"#))
    }
}
