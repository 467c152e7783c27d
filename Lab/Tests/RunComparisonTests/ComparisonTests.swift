import RunComparison
import Testing

/// Comparisons of two runs of a scenario.
struct ComparisonTests {
    private func event(_ time: Double, _ event: String, _ name: String = "hall") -> String {
        let state = event == "exit" ? "outside" : "inside"
        return """
            {"time":\(time),"receiver":"hci0","event":"\(event)","state":"\(state)","region":{"name":"\(name)","uuid":"e2","major":1,"minor":null}}

            """
    }

    private func tick(_ time: Double, _ beacons: [Int: String]) -> String {
        let list = beacons.sorted { $0.key < $1.key }.map {
            #"{"address":"a","uuid":"e2","major":1,"minor":\#($0.key),"proximity":"\#($0.value)","accuracy":1,"rssi":-60}"#
        }
        return """
            {"time":\(time),"receiver":"hci0","region":{"uuid":"e2","major":1,"minor":null},"beacons":[\(list.joined(separator: ","))]}

            """
    }

    private func monitor(_ found: String, _ wanted: String) throws -> Verdict {
        try MonitorComparison(tolerance: 0.5).verdict(
            on: Run(name: "run", text: found, start: 5000), against: Run(name: "simulation", text: wanted, start: 1000))
    }

    private func range(_ found: String, _ wanted: String...) throws -> Verdict {
        try RangeComparison().verdict(
            on: Run(name: "run", text: found, start: 5000),
            against: wanted.map { Run(name: "simulation", text: $0, start: 1000) })
    }

    @Test func timesCountFromTheStartOfEachRun() throws {
        let wanted = event(1003, "enter") + event(1020, "exit")
        #expect(try monitor(event(5003.4, "enter") + event(5019.6, "exit"), wanted).agrees)
        #expect(try !monitor(event(5003.6, "enter") + event(5020, "exit"), wanted).agrees)
    }

    @Test func orderKindRegionAndNumberMatter() throws {
        let wanted = event(1003, "enter") + event(1003.1, "enter", "vault")
        #expect(try !monitor(event(5003, "enter", "vault") + event(5003.1, "enter"), wanted).agrees)
        #expect(try !monitor(event(5003, "enter") + event(5003.1, "exit", "vault"), wanted).agrees)
        #expect(try !monitor(event(5003, "enter"), wanted).agrees)
        #expect(try !monitor(wanted + event(5004, "exit"), wanted).agrees)
    }

    @Test func aKnownStateIsNoMovement() throws {
        let wanted = event(1020, "enter")
        let state = event(5004, "state").replacing(#""receiver":"hci0""#, with: #""receiver":null"#)
        #expect(try monitor(state + event(5020, "enter"), wanted).agrees)
    }

    @Test func aChangeATickEarlierOrLaterIsARemark() throws {
        let wanted = tick(1001, [1: "far"]) + tick(1002, [1: "far"]) + tick(1003, [1: "near"]) + tick(1004, [1: "near"])
        let verdict = try range(
            tick(5001.02, [1: "far"]) + tick(5002.02, [1: "near"]) + tick(5003.02, [1: "near"])
                + tick(5004.02, [1: "near"]), wanted)
        #expect(verdict.agrees)
        #expect(verdict.remarks.count == 1)
    }

    @Test func anythingElseIsADeviation() throws {
        let wanted = (1...4).map { tick(1000 + Double($0), [1: "far"]) }.joined()
        func found(_ beacons: [Int: String]) -> String {
            (1...4).map { tick(5000 + Double($0), $0 == 2 ? beacons : [1: "far"]) }.joined()
        }
        #expect(try range(found([1: "far"]), wanted).agrees)
        #expect(try !range(found([1: "immediate"]), wanted).agrees)
        #expect(try !range(found([:]), wanted).agrees)
        #expect(try !range(found([1: "far", 2: "far"]), wanted).agrees)
    }

    @Test func aProximityOfAnotherSeedIsARemark() throws {
        func run(_ third: String) -> String {
            (1...5).map { tick(1000 + Double($0), [1: $0 == 3 ? third : "near"]) }.joined()
        }
        let found =
            tick(5001, [1: "near"]) + tick(5002, [1: "immediate"])
            + (3...5).map { tick(5000 + Double($0), [1: "near"]) }.joined()
        #expect(try range(found, run("near"), run("immediate")).remarks.count == 1)
        #expect(try !range(found, run("near"), run("near")).agrees)
        #expect(try !range(found, run("near"), run("far")).agrees)
    }

    @Test func aMissingTickIsADeviation() throws {
        #expect(try !range(tick(5001, [1: "far"]), tick(1001, [1: "far"]) + tick(1002, [1: "far"])).agrees)
    }

    @Test func nothingToCompareIsAnError() {
        #expect(throws: ComparisonError.self) { try monitor("", "") }
        #expect(throws: ComparisonError.self) { try range(tick(5001, [:]), tick(1001, [:])) }
        #expect(throws: ComparisonError.self) { try monitor("nonsense", event(1003, "enter")) }
    }
}
