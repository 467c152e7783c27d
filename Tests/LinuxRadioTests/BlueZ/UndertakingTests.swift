import BeaconModel
import Testing

@testable import LinuxRadio

struct UndertakingTests {
    private func time(_ seconds: Int64) -> Timestamp {
        Timestamp(nanoseconds: (1000 + seconds) * Timestamp.nanosecondsPerSecond)
    }

    private func expect(
        _ undertaking: inout Undertaking<Int>, at time: Timestamp, _ step: Undertaking<Int>.Step?,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let next = undertaking.next(at: time)
        #expect(next == step, sourceLocation: sourceLocation)
    }

    private func expectLoss(
        _ undertaking: inout Undertaking<Int>, at time: Timestamp, isKnown: Bool, _ isNews: Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let isLost = undertaking.lost(at: time, isKnown: isKnown)
        #expect(isLost == isNews, sourceLocation: sourceLocation)
    }

    @Test func itBeginsOnceAndEndsWhenNotWanted() {
        var undertaking = Undertaking<Int>()
        expect(&undertaking, at: time(0), nil)
        undertaking.wanted = 1
        #expect(undertaking.deadline <= time(0))
        expect(&undertaking, at: time(0), .begin(1))
        expect(&undertaking, at: time(0), nil)
        undertaking.began(1, at: time(0))
        expect(&undertaking, at: time(0), nil)
        #expect(undertaking.deadline == .latest)
        undertaking.wanted = nil
        expect(&undertaking, at: time(1), .end(1))
        undertaking.ended()
        #expect(undertaking.isIdle)
    }

    @Test func whatIsWantedMeanwhileComesNext() {
        var undertaking = Undertaking<Int>()
        undertaking.wanted = 1
        _ = undertaking.next(at: time(0))
        undertaking.wanted = 2
        expect(&undertaking, at: time(0), nil)
        undertaking.began(1, at: time(0))
        expect(&undertaking, at: time(0), .end(1))
        undertaking.ended()
        expect(&undertaking, at: time(0), .begin(2))
    }

    @Test func pausesGrowToALimit() {
        var undertaking = Undertaking<Int>()
        undertaking.wanted = 1
        var begins: [Int64] = []
        for second in Int64(0)..<140 where undertaking.next(at: time(second)) != nil {
            begins.append(second)
            undertaking.failed(at: time(second))
        }
        #expect(begins == [0, 1, 3, 7, 15, 31, 63, 95, 127])
    }

    @Test func whatIsLostOverAndOverIsNotBegunEachTimeAtOnce() {
        var undertaking = Undertaking<Int>()
        undertaking.wanted = 1
        var begins: [Int64] = []
        for second in Int64(0)..<40 where undertaking.next(at: time(second)) == .begin(1) {
            begins.append(second)
            undertaking.began(1, at: time(second))
            expectLoss(&undertaking, at: time(second), isKnown: true, true)
            expect(&undertaking, at: time(second), .end(1))
            undertaking.ended()
        }
        #expect(begins == [0, 1, 3, 7, 15, 31])
    }

    @Test func whatWentWellForLongIsBegunSoon() {
        var undertaking = Undertaking<Int>()
        undertaking.wanted = 1
        for second in Int64(0)..<20 where undertaking.next(at: time(second)) != nil {
            undertaking.failed(at: time(second))
        }
        expect(&undertaking, at: time(31), .begin(1))
        undertaking.began(1, at: time(31))
        expectLoss(&undertaking, at: time(100), isKnown: false, true)
        expect(&undertaking, at: time(100), nil)
        expect(&undertaking, at: time(101), .begin(1))
    }

    @Test func anEndOfOurOwnIsNoLoss() {
        var undertaking = Undertaking<Int>()
        undertaking.wanted = 1
        _ = undertaking.next(at: time(0))
        undertaking.began(1, at: time(0))
        undertaking.wanted = nil
        expectLoss(&undertaking, at: time(0), isKnown: true, false)
        expect(&undertaking, at: time(0), .end(1))
        expectLoss(&undertaking, at: time(0), isKnown: true, false)
    }
}
