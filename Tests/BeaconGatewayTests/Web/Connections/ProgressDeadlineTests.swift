import NIOCore
import NIOEmbedded
import Testing

@testable import BeaconConsole
@testable import BeaconGateway

@Suite("Connections: deadlines that move with progress")
struct ProgressDeadlineTests {
    private static let patience = ProgressDeadline.patience
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    @Test("A transfer at or above the least rate continues for an hour, with pieces of any size")
    func steady() {
        for (bytes, milliseconds) in [(100, 100), (1_000, 1_000), (8_192, 8_000), (50_000, 1_000), (15_000, 15_000)] {
            var deadline = ProgressDeadline(at: Self.start)
            var now = Self.start
            while now < Self.start + .hours(1), deadline.time > now {
                now = now + .milliseconds(Int64(milliseconds))
                if deadline.time > now { deadline.move(by: bytes, at: now) }
            }
            #expect(deadline.time > now, "\(bytes) bytes each \(milliseconds) ms, after \(now - Self.start)")
        }
    }

    @Test("A transfer below the least rate ends, sooner if it is slower")
    func slow() {
        var ends: [TimeAmount] = []
        for bytes in [990, 500, 100, 1, 0] {
            var deadline = ProgressDeadline(at: Self.start)
            var now = Self.start
            while deadline.time > now {
                now = now + .seconds(1)
                deadline.move(by: bytes, at: now)
            }
            ends.append(now - Self.start)
        }
        #expect(ends == ends.sorted(by: >))
        #expect(ends.last == Self.patience)
        #expect(ends[1] <= Self.patience * 2 + .seconds(1))
    }

    @Test("Early bytes never allow a stall longer than the patience")
    func stall() {
        var deadline = ProgressDeadline(at: Self.start)
        deadline.move(by: 1 << 30, at: Self.start + .seconds(1))
        #expect(deadline.time == Self.start + .seconds(1) + Self.patience)
    }

    @Test("Random transfers end exactly when they have stalled or been too slow since any earlier time")
    func random() {
        for _ in 0..<2_000 {
            var deadline = ProgressDeadline(at: Self.start)
            var events = [(time: Self.start, bytes: 0)]
            /// Returns the time at which some part of the transfer, starting at one of its events, is too slow.
            func end() -> NIODeadline {
                events.indices.map { index in
                    let bytes = events[(index + 1)...].reduce(0) { $0 + $1.bytes }
                    let allowed = Int64(bytes) * 1_000_000_000 / Int64(ProgressDeadline.leastRate)
                    return events[index].time + Self.patience + .nanoseconds(allowed)
                }.min() ?? Self.start
            }
            while events.count < 40 {
                #expect(deadline.time == end())
                let next = (events.last?.time ?? Self.start) + .milliseconds(.random(in: 1...25_000))
                guard next < deadline.time else { break }
                events.append((next, Int.random(in: 1...40_000)))
                deadline.move(by: events.last?.bytes ?? 0, at: next)
            }
        }
    }

    @Test("A timer fires once at its newest deadline, and never without one")
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
