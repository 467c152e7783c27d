import Testing

@testable import BeaconBroker

struct ReceiptPaceTests {
    private let start = ContinuousClock.now

    /// Returns the pauses that messages cause if they arrive at these milliseconds and are read at once.
    private func pauses(_ milliseconds: [Double]) -> [Double] {
        var pace = ReceiptPace()
        return milliseconds.filter { time in
            pace.note(at: start + .seconds(time / 1000))
            return pace.takePause(at: start + .seconds(time / 1000)) != nil
        }
    }

    @Test("Single messages never wait")
    func alone() { #expect(pauses([0, 2, 4, 7, 50, 1000, 1001.7]) == []) }

    @Test("A message within a third of a pause of the previous one makes the next ones wait")
    func crowd() { #expect(pauses([0, 1, 100, 100.5]) == [1, 100.5]) }

    @Test("Messages collected in a pause count as a crowd; after the crowd nothing waits")
    func gathered() {
        // The pauses last until 6 and 11.2 ms.
        #expect(pauses([0, 1, 6.2, 13, 20]) == [1, 6.2])
    }

    @Test("A pause is taken only once")
    func once() {
        var pace = ReceiptPace()
        pace.note(at: start)
        pace.note(at: start)
        #expect(pace.takePause(at: start) == ReceiptPace.pause)
        #expect(pace.takePause(at: start) == nil)
    }
}
