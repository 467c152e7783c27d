import Foundation
import TestSupport
import Testing

@Suite("beacon calibrate", .oneAtATime)
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

    @Test("What is proposed is the mean but for the tenth at either end")
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

    @Test("Without a region the strongest beacon is meant, with one a beacon of that")
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

    @Test("Adverts after the time do not count")
    func time() async throws {
        let readings = [Int](repeating: -60, count: 50) + [Int](repeating: -90, count: 50)
        let outcome = try await BeaconProgram.run(
            "calibrate", "--seconds", "5", "--source", "-", "--json", input: log(Self.first, readings))
        #expect(try result(outcome)["adverts"] as? Int == 50)
        #expect(try result(outcome)["proposedMeasuredPower"] as? Int == -60)
    }

    @Test("What makes a result doubtful is told")
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
        #expect(two.errors.contains("\(Self.second)/1/2 was heard nearly as strongly"))
    }

    @Test("Silence is an error that says where to look")
    func silence() async throws {
        let outcome = try await BeaconProgram.run(
            "calibrate", "--region", Self.second, "--source", "-", input: log(Self.first, [-60]))
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("beacon scan"))
    }
}
