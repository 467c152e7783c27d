import Testing

@testable import BeaconBroker

struct ReceiptPaceTests {
    private let start = ContinuousClock.now

    /// Returns the pauses that messages make which come at these milliseconds, each read at once.
    private func pauses(_ milliseconds: [Double]) -> [Double] {
        var pace = ReceiptPace()
        return milliseconds.filter { time in
            pace.note(at: start + .seconds(time / 1000))
            return pace.takePause(at: start + .seconds(time / 1000)) != nil
        }
    }

    @Test("Messages that come one by one never wait")
    func alone() { #expect(pauses([0, 2, 4, 7, 50, 1000, 1001.7]) == []) }

    @Test("What comes within a third of a pause of the one before makes the next ones gather")
    func crowd() { #expect(pauses([0, 1, 100, 100.5]) == [1, 100.5]) }

    @Test("After a pause, what has gathered is a crowd; once it ends, nothing waits")
    func gathered() {
        // The pauses last until 6 and 11.2 ms.
        #expect(pauses([0, 1, 6.2, 13, 20]) == [1, 6.2])
    }

    @Test("A pause is made once")
    func once() {
        var pace = ReceiptPace()
        pace.note(at: start)
        pace.note(at: start)
        #expect(pace.takePause(at: start) == ReceiptPace.pause)
        #expect(pace.takePause(at: start) == nil)
    }
}
