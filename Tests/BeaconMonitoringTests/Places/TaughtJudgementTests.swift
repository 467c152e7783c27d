import BeaconMonitoring
import Testing

@Suite("The judgement of teaching")
struct TaughtJudgementTests {
    /// Returns a plan of two rooms with a receiver each, and a third receiver in no room. The spots of a room are far
    /// apart, and beside one of the other room.
    private func plan(farthest: Double) -> PlacePlan {
        var plan = PlacePlan([.init(name: "hall", receivers: ["a"]), .init(name: "study", receivers: ["b"])])
        var taught = TaughtMap()
        taught.add([["a": 0, "b": -1, "c": 0], ["a": 0, "b": -1, "c": farthest]], to: "hall")
        taught.add([["a": -1, "b": 0, "c": -2], ["a": -1, "b": 0, "c": farthest + 2]], to: "study")
        plan.taught = taught
        return plan
    }

    @Test("If the strongest receiver alone finds more points, it says so")
    func worse() throws {
        let judgement = plan(farthest: -40).judgement()
        #expect(judgement.rightness == 0 && judgement.rightnessUntaught == 1)
        let advice = try #require(judgement.advice)
        #expect(advice.hasPrefix("The strongest receiver alone finds 100 % of the points. Forget this teaching"))
    }

    @Test("If each taught room has a receiver, it says that teaching changes nothing")
    func needless() throws {
        var plan = plan(farthest: -40)
        plan.places[0].receivers.append("c")
        let judgement = plan.judgement()
        #expect(judgement.rightness == 1 && judgement.rightnessUntaught == 1)
        #expect(try #require(judgement.advice).hasPrefix("Each taught room has a receiver"))
    }

    @Test("Without a receiver in a room, teaching is compared with nothing")
    func incomparable() {
        var plan = plan(farthest: -40)
        plan.places = []
        #expect(plan.judgement().rightnessUntaught == nil)
    }
}
