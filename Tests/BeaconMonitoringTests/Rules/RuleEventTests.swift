import BeaconEngine
import Testing

@testable import BeaconMonitoring

@Suite("Rules: the events for which a program runs")
struct RuleEventTests {
    @Test("Events are parsed, and other text is rejected with a correction")
    func grammar() throws {
        for text in ["enter", "exit", "gone", "immediate", "near", "far", "near for 30s", "far for 1h30m"] {
            #expect(try RuleEvent(text).description == text)
        }
        #expect(try RuleEvent("  near   for  90s ").description == "near for 1m30s")
        for text in ["", "nearby", "near 30s", "near for", "near for ever", "enter for 3s", "unknown", "near for 8d"] {
            #expect(throws: RuleEvent.Failure.self) { try RuleEvent(text) }
        }
    }

    @Test("Proximity events are conditions, in a fixed order; events of regions and places are not")
    func conditions() throws {
        let texts = ["near for 30s", "enter", "near", "place", "gone", "near"]
        let machine = ProximityMachine(try texts.map { try RuleEvent($0) })
        #expect(machine.conditions.compactMap { RuleEvent($0)?.description } == ["gone", "near", "near for 30s"])
        #expect(RuleEvent(.change(atLeast: .near, coolDown: .zero, hasGone: true)) == nil)
    }
}
