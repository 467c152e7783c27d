import BeaconDelivery
import BeaconSupport
import TestSupport
import Testing

@Suite("Delivery service")
struct DeliveryServiceTests {
    @Test("A destination that is down holds up no other, and gets everything in order when it is back")
    func independence() async throws {
        let isUp = Locked(false)
        let good = MemorySink()
        let bad = MemorySink { _ in isUp.withLock { $0 } ? .delivered : .retry(reason: "down") }
        let bench = try DeliveryBench([Destination(name: "good", sink: good), Destination(name: "bad", sink: bad)])
        try await bench.running {
            for minor in 1...50 as ClosedRange<UInt16> { try await bench.service.append([Samples.proximity(minor)]) }
            try await eventually { good.minors == Array(1...50) }
            #expect(bad.minors.isEmpty)
            isUp.withLock { $0 = true }
            try await bench.pass { bad.minors == Array(1...50) }
        }
    }

    @Test("Waits grow exponentially to the bound, and are reset by a success")
    func backOff() async throws {
        let clock = VirtualClock()
        let attempts = Locked<[Duration]>([])
        let sink = MemorySink { _ in
            let now = clock.now.offset
            return attempts.withLock { attempts in
                attempts.append(now)
                return attempts.count <= 14 ? .retry(reason: "down") : .delivered
            }
        }
        let retryPolicy = RetryPolicy(base: .seconds(1), maximum: .seconds(60))
        let bench = try DeliveryBench([Destination(name: "a", sink: sink, retryPolicy: retryPolicy)], clock: clock)
        try await bench.service.append([Samples.proximity(1)])
        try await bench.running { try await bench.pass { sink.minors == [1] } }
        let times = attempts.withLock { $0 }
        for (index, (earlier, later)) in zip(times, times.dropFirst()).enumerated() {
            // A millisecond for rounding.
            #expect(later - earlier <= retryPolicy.bound(afterFailures: index + 1) + .milliseconds(2))
        }
        #expect(times.last ?? .zero > .seconds(20), "14 waits of up to 1, 2, 4, ... 60 s took hardly any time")
        let status = try await bench.status("a")
        #expect(status.failures == 0 && status.retried == 14 && status.lastError == nil)
    }

    @Test("What the destination asks for is waited for, and no longer than is bounded")
    func asked() async throws {
        let clock = VirtualClock()
        let times = Locked<[Duration]>([])
        let sink = MemorySink { _ in
            let now = clock.now.offset
            return times.withLock { times in
                times.append(now)
                switch times.count {
                case 1: return .retry(reason: "busy", after: .seconds(600))
                case 2: return .retry(reason: "away", after: .seconds(1_000_000_000))
                default: return .delivered
                }
            }
        }
        let retryPolicy = RetryPolicy(base: .seconds(1), maximum: .seconds(2), maximumRetryAfter: .seconds(3_600))
        let bench = try DeliveryBench([Destination(name: "a", sink: sink, retryPolicy: retryPolicy)], clock: clock)
        try await bench.service.append([Samples.proximity(1)])
        try await bench.running { try await bench.pass { sink.minors == [1] } }
        let waits = times.withLock { zip($0.dropFirst(), $0).map { $0 - $1 } }
        try #require(waits.count == 2)
        #expect(waits[0] >= .seconds(600) && waits[0] <= .seconds(602))
        #expect(waits[1] >= .seconds(3_600) && waits[1] <= .seconds(3_602))
    }

    @Test("A wait goes over a restart, and so does the number of failures")
    func restartWhileWaiting() async throws {
        let folder = try TemporaryFolder()
        let clock = VirtualClock()
        let sink = MemorySink { _ in
            clock.now.offset < .seconds(1_000) ? .retry(reason: "busy", after: .seconds(1_000)) : .delivered
        }
        do {
            let bench = try DeliveryBench([Destination(name: "a", sink: sink)], folder: folder, clock: clock)
            try await bench.service.append([Samples.proximity(1)])
            try await bench.running { try await eventually { try await bench.status("a").failures == 1 } }
            await bench.outbox.close()
        }
        #expect(sink.attempts == 1)
        let bench = try DeliveryBench([Destination(name: "a", sink: sink)], folder: folder, clock: clock)
        #expect(try await bench.status("a").lastError == "busy")
        try await bench.running { try await bench.pass { sink.minors == [1] } }
        #expect(sink.attempts == 2)
        #expect(clock.now.offset >= .seconds(1_000))
    }

    @Test("What a destination does not want never comes into its queue")
    func kinds() async throws {
        let (all, some) = (MemorySink(), MemorySink())
        let bench = try DeliveryBench([
            Destination(name: "all", sink: all), Destination(name: "some", sink: some, kinds: [.enter, .exit]),
        ])
        try await bench.service.append([Samples.proximity(1), Samples.enter(2)])
        #expect(try await bench.service.status().map(\.waiting) == [2, 1])
        try await bench.running {
            try await eventually { all.notifications.count == 2 && some.notifications.count == 1 }
        }
        #expect(some.notifications == [Samples.enter(2)])
    }

    @Test("Shutting down lets what is on its way end, and the rest waits for the next start")
    func shutdown() async throws {
        let gate = SlowSink()
        let bench = try DeliveryBench([Destination(name: "a", sink: gate)])
        try await bench.service.append((1...3).map { Samples.proximity($0) })
        let running = Task { await bench.service.run() }
        try await eventually { gate.isBusy }
        bench.service.shutdown()
        gate.open()
        await running.value
        let status = try await bench.status("a")
        #expect(status.delivered == 1 && status.waiting == 2)
        #expect(gate.hasRun)
    }

    @Test("Cancelling ends at once what waits, and what is on its way is sent again")
    func cancellation() async throws {
        let gate = SlowSink()
        let bench = try DeliveryBench([
            Destination(name: "a", sink: gate),
            Destination(name: "b", sink: MemorySink { _ in .retry(reason: "down", after: .seconds(1_000)) }),
        ])
        try await bench.service.append([Samples.proximity(1)])
        let running = Task { await bench.service.run() }
        try await eventually { gate.isBusy }
        running.cancel()
        await running.value
        #expect(try await bench.status("a").waiting == 1)
    }
}
