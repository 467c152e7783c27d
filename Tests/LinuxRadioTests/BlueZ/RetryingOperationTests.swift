import BeaconModel
import Testing

@testable import LinuxRadio

struct RetryingOperationTests {
    private func time(_ seconds: Int64) -> Timestamp {
        Timestamp(nanoseconds: (1000 + seconds) * Timestamp.nanosecondsPerSecond)
    }

    private func expect(
        _ operation: inout RetryingOperation<Int>, at time: Timestamp, _ step: RetryingOperation<Int>.Step?,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let next = operation.next(at: time)
        #expect(next == step, sourceLocation: sourceLocation)
    }

    private func expectLoss(
        _ operation: inout RetryingOperation<Int>, at time: Timestamp, isKnown: Bool, _ isChange: Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let isLost = operation.lost(at: time, isKnown: isKnown)
        #expect(isLost == isChange, sourceLocation: sourceLocation)
    }

    @Test("An operation begins once and ends when it is no longer wanted")
    func anOperationBeginsOnceAndEndsWhenNotWanted() {
        var operation = RetryingOperation<Int>()
        expect(&operation, at: time(0), nil)
        operation.wanted = 1
        #expect(operation.deadline <= time(0))
        expect(&operation, at: time(0), .begin(1))
        expect(&operation, at: time(0), nil)
        operation.began(1, at: time(0))
        expect(&operation, at: time(0), nil)
        #expect(operation.deadline == .latest)
        operation.wanted = nil
        expect(&operation, at: time(1), .end(1))
        operation.ended()
        #expect(operation.isIdle)
    }

    @Test("A goal set in the meantime comes next")
    func aGoalSetInTheMeantimeComesNext() {
        var operation = RetryingOperation<Int>()
        operation.wanted = 1
        _ = operation.next(at: time(0))
        operation.wanted = 2
        expect(&operation, at: time(0), nil)
        operation.began(1, at: time(0))
        expect(&operation, at: time(0), .end(1))
        operation.ended()
        expect(&operation, at: time(0), .begin(2))
    }

    @Test("Pauses grow to a limit")
    func pausesGrowToALimit() {
        var operation = RetryingOperation<Int>()
        operation.wanted = 1
        var begins: [Int64] = []
        for second in Int64(0)..<140 where operation.next(at: time(second)) != nil {
            begins.append(second)
            operation.failed(at: time(second))
        }
        #expect(begins == [0, 1, 3, 7, 15, 31, 63, 95, 127])
    }

    @Test("An operation that is lost repeatedly pauses before it begins again")
    func repeatedLossesPauseTheOperation() {
        var operation = RetryingOperation<Int>()
        operation.wanted = 1
        var begins: [Int64] = []
        for second in Int64(0)..<40 where operation.next(at: time(second)) == .begin(1) {
            begins.append(second)
            operation.began(1, at: time(second))
            expectLoss(&operation, at: time(second), isKnown: true, true)
            expect(&operation, at: time(second), .end(1))
            operation.ended()
        }
        #expect(begins == [0, 1, 3, 7, 15, 31])
    }

    @Test("An operation that lasted long begins again soon")
    func anOperationThatLastedLongBeginsAgainSoon() {
        var operation = RetryingOperation<Int>()
        operation.wanted = 1
        for second in Int64(0)..<20 where operation.next(at: time(second)) != nil {
            operation.failed(at: time(second))
        }
        expect(&operation, at: time(31), .begin(1))
        operation.began(1, at: time(31))
        expectLoss(&operation, at: time(100), isKnown: false, true)
        expect(&operation, at: time(100), nil)
        expect(&operation, at: time(101), .begin(1))
    }

    @Test("An intended end is no loss")
    func anIntendedEndIsNoLoss() {
        var operation = RetryingOperation<Int>()
        operation.wanted = 1
        _ = operation.next(at: time(0))
        operation.began(1, at: time(0))
        operation.wanted = nil
        expectLoss(&operation, at: time(0), isKnown: true, false)
        expect(&operation, at: time(0), .end(1))
        expectLoss(&operation, at: time(0), isKnown: true, false)
    }
}
