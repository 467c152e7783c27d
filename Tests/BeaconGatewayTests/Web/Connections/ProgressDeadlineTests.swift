import NIOCore
import NIOEmbedded
import Testing

@testable import BeaconGateway

@Suite("Deadlines that move with progress")
struct ProgressDeadlineTests {
    private static let patience = ProgressDeadline.patience
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    @Test("A transfer at the least rate or above goes on for an hour, whatever the size of its pieces")
    func steady() {
        for (bytes, milliseconds) in [(1, 1), (1_000, 1_000), (8_192, 8_000), (50_000, 1_000), (15_000, 15_000)] {
            var deadline = ProgressDeadline(at: Self.start)
            var now = Self.start
            while now < Self.start + .hours(1) {
                now = now + .milliseconds(Int64(milliseconds))
                #expect(deadline.moment > now, "\(bytes) bytes each \(milliseconds) ms, after \(now - Self.start)")
                guard deadline.moment > now else { break }
                deadline.move(by: bytes, at: now)
            }
        }
    }

    @Test("A transfer below the least rate ends, the sooner the slower it is")
    func slow() {
        var ends: [TimeAmount] = []
        for bytes in [990, 500, 100, 1, 0] {
            var deadline = ProgressDeadline(at: Self.start)
            var now = Self.start
            while deadline.moment > now {
                now = now + .seconds(1)
                deadline.move(by: bytes, at: now)
            }
            ends.append(now - Self.start)
        }
        #expect(ends == ends.sorted(by: >))
        #expect(ends.last == Self.patience)
        #expect(ends[1] <= Self.patience * 2 + .seconds(1))
    }

    @Test("No amount of early bytes buys a stall longer than the patience")
    func stall() {
        var deadline = ProgressDeadline(at: Self.start)
        deadline.move(by: 1 << 30, at: Self.start + .seconds(1))
        #expect(deadline.moment == Self.start + .seconds(1) + Self.patience)
    }

    @Test("Random transfers never end before a stall of the patience or less than the least rate over all of it")
    func random() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            var deadline = ProgressDeadline(at: Self.start)
            var (now, bytes, last) = (Self.start, 0, Self.start)
            for _ in 0..<50 {
                let next = now + .milliseconds(.random(in: 1...25_000, using: &generator))
                if next >= deadline.moment {
                    let isStalled = deadline.moment - last >= Self.patience
                    let least = Double((deadline.moment - Self.start).nanoseconds) / 1e9 - 20
                    #expect(isStalled || Double(bytes) <= least * Double(ProgressDeadline.leastRate) + 1e7)
                    break
                }
                now = next
                last = now
                let more = Int.random(in: 1...40_000, using: &generator)
                bytes += more
                deadline.move(by: more, at: now)
                #expect(deadline.moment <= now + Self.patience)
            }
        }
    }

    @Test("A timer fires at its newest deadline, once, and not at all without one")
    func timer() {
        let loop = EmbeddedEventLoop()
        var fired: [NIODeadline] = []
        let timer = DeadlineTimer(on: loop) { fired.append(loop.now) }
        timer.set(loop.now + .seconds(5))
        timer.set(loop.now + .seconds(3))
        timer.set(loop.now + .seconds(9))
        let start = loop.now
        loop.advanceTime(by: .seconds(8))
        #expect(fired.isEmpty)
        loop.advanceTime(by: .seconds(8))
        #expect(fired == [start + .seconds(9)])
        timer.set(loop.now + .seconds(1))
        timer.set(nil)
        loop.advanceTime(by: .hours(1))
        #expect(fired.count == 1)
    }
}
