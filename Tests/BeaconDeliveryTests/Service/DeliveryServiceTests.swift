import BeaconDelivery
import BeaconEventStore
import BeaconSupport
import TestSupport
import Testing

@Suite("Delivery service")
struct DeliveryServiceTests {
    @Test("A destination that is down does not delay others, and receives everything in order when it is back")
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

    @Test("Waits grow exponentially up to the bound, and a success resets them")
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
            // Allow a millisecond for rounding.
            #expect(later - earlier <= retryPolicy.bound(afterFailures: index + 1) + .milliseconds(2))
        }
        #expect(times.last ?? .zero > .seconds(20), "14 waits of up to 1, 2, 4, ... 60 s took hardly any time")
        let status = try await bench.status("a")
        #expect(status.failures == 0 && status.retried == 14 && status.lastError == nil)
    }

    @Test("The wait that the destination requests is used, up to a bound")
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

    @Test("A start ends a wait, and the number of failures continues (D12)")
    func restartWhileWaiting() async throws {
        let folder = try TemporaryFolder()
        let clock = VirtualClock()
        let sink = MemorySink { _ in .retry(reason: "busy", after: .seconds(1_000)) }
        for run in 1...3 {
            let bench = try DeliveryBench([Destination(name: "a", sink: sink)], folder: folder, clock: clock)
            if run == 1 { try await bench.service.append([Samples.proximity(1)]) }
            try await bench.running { try await eventually { try await bench.status("a").failures == run } }
            #expect(try await bench.status("a").lastError == "busy")
            await bench.store.close()
        }
        #expect(sink.attempts == 3)
        #expect(clock.now.offset == .zero)
    }

    @Test("A new connection ends a wait (D12)")
    func connectionWhileWaiting() async throws {
        let clock = VirtualClock()
        let sink = ConnectingSink()
        let bench = try DeliveryBench([Destination(name: "a", sink: sink)], clock: clock)
        try await bench.service.append([Samples.proximity(1)])
        try await bench.running {
            try await eventually { try await bench.status("a").failures == 1 }
            sink.connect()
            try await eventually { try await bench.status("a").handled == 1 }
        }
        #expect(clock.now.offset == .zero)
    }

    @Test("A requested retry ends a wait")
    func retryWhileWaiting() async throws {
        let isUp = Locked(false)
        let sink = MemorySink { _ in
            isUp.withLock { $0 } ? .delivered : .retry(reason: "away", after: .seconds(80_000))
        }
        let bench = try DeliveryBench([Destination(name: "a", sink: sink)])
        try await bench.service.append([Samples.proximity(1)])
        try await bench.running {
            try await eventually { try await bench.status("a").failures == 1 }
            isUp.withLock { $0 = true }
            try EventStoreInspector(file: bench.store.file).retry(for: "a")
            try await bench.pass { sink.minors == [1] }
        }
        #expect(bench.clock.now.offset < .seconds(60))
    }

    @Test("Setting the wall clock does not affect waits (D4)", arguments: [-30, 30])
    func wallClockSteps(days: Int) async throws {
        let clock = VirtualClock()
        let isUp = Locked(false)
        let sink = MemorySink { _ in isUp.withLock { $0 } ? .delivered : .retry(reason: "down") }
        let retryPolicy = RetryPolicy(base: .seconds(1), maximum: .seconds(60))
        let limits = ConsumerLimits(age: .seconds(365 * 86_400))
        let bench = try DeliveryBench(
            [Destination(name: "a", sink: sink, retryPolicy: retryPolicy)], clock: clock, limits: limits)
        try await bench.service.append([Samples.proximity(1)])
        try await bench.running {
            for _ in 0..<5 {
                let attempts = sink.attempts
                let begin = clock.now.offset
                clock.setWallClock(by: .seconds(days * 86_400))
                try await bench.pass { sink.attempts > attempts }
                // A wait of the policy, and one interval of the housekeeping.
                #expect(clock.now.offset - begin <= .seconds(71))
            }
            isUp.withLock { $0 = true }
            let begin = clock.now.offset
            try await bench.pass { sink.minors == [1] }
            #expect(clock.now.offset - begin <= .seconds(71))
        }
    }

    @Test("A destination that has failed for an hour has its own status, and is logged once an hour (D2)")
    func longFailure() async throws {
        let clock = VirtualClock()
        let log = LogLines()
        let isUp = Locked(false)
        let sink = MemorySink { _ in isUp.withLock { $0 } ? .delivered : .retry(reason: "answered 401") }
        let bench = try DeliveryBench(
            [Destination(name: "a", sink: sink, retryPolicy: RetryPolicy(base: .seconds(60), maximum: .seconds(60)))],
            clock: clock, logger: log.logger)
        let begin = clock.wallTime
        try await bench.service.append((1...20).map { Samples.proximity($0) })
        try await bench.running {
            try await eventually { try await bench.status("a").failures == 1 }
            #expect(try await !bench.status("a").hasFailedForLong(at: clock.wallTime))
            try await bench.pass { clock.now.offset > .seconds(3 * 3_600 + 300) }
            let status = try await bench.status("a")
            #expect(status.failingSince == begin)
            #expect(status.hasFailedForLong(at: clock.wallTime))
            #expect(status.waiting == 20 && status.deadLetters == 0 && status.dropped == 0)
            isUp.withLock { $0 = true }
            try await bench.pass { sink.minors == Array(1...20) }
            try await eventually { try await bench.status("a").failingSince == nil }
        }
        #expect(log.all.filter { $0.hasPrefix("error: the destination has failed for more than an hour") }.count == 3)
        #expect(log.all.filter { $0.hasPrefix("warning: a delivery failed") }.count == 1)
        #expect(log.all.filter { $0.hasPrefix("info: the destination accepts notifications again") }.count == 1)
    }

    @Test("Deselected notifications, and a queue without a destination, are counted and logged (D14)")
    func changedSettings() async throws {
        let folder = try TemporaryFolder()
        do {
            let down = MemorySink { _ in .retry(reason: "down") }
            let bench = try DeliveryBench(
                [Destination(name: "a", sink: down), Destination(name: "old name", sink: down)], folder: folder)
            try await bench.service.append([Samples.proximity(1), Samples.enter(2), Samples.proximity(3)])
            await bench.store.close()
        }
        let log = LogLines()
        let sink = MemorySink()
        let bench = try DeliveryBench(
            [Destination(name: "a", sink: sink, kinds: [.enter])], folder: folder, logger: log.logger)
        #expect(log.all.contains { $0.contains("a destination that is not configured") && $0.contains("old name") })
        try await bench.running { try await eventually { try await bench.status("a").waiting == 0 } }
        #expect(sink.notifications == [Samples.enter(2)])
        let status = try await bench.status("a")
        #expect(status.handled == 1 && status.droppedByFilter == 2 && status.dropped == 2)
        #expect(log.all.contains { $0.contains("its filter changed") && $0.contains("2") })
    }

    @Test("A shutdown waits for requests in flight, and the rest waits for the next start")
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
        #expect(status.handled == 1 && status.waiting == 2)
        #expect(gate.hasRun)
    }

    @Test("Canceling ends waits at once, and requests in flight are sent again")
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

    @Test("A connection that ends with the service is neither a failure of the destination nor its end")
    func endOfConnection() async throws {
        let folder = try TemporaryFolder()
        for failures in [0, 1] {
            let gate = SlowSink(outcomesOfCancelled: [.retry(reason: "the connection is closed")])
            let bench = try DeliveryBench([Destination(name: "a", sink: gate)], folder: folder)
            if failures == 0 { try await bench.service.append([Samples.proximity(1)]) }
            let running = Task { await bench.service.run() }
            try await eventually { gate.isBusy }
            running.cancel()
            await running.value
            let status = try await bench.status("a")
            #expect(status.waiting == 1 && status.failures == failures, "\(status)")
            #expect(status.lastError == (failures == 0 ? nil : "down"), "\(status)")
            await bench.store.close()
            guard failures == 0 else { return }
            let failing = try DeliveryBench(
                [Destination(name: "a", sink: MemorySink { _ in .retry(reason: "down", after: nil) })], folder: folder)
            let other = Task { await failing.service.run() }
            try await eventually { try await failing.status("a").failures == 1 }
            other.cancel()
            await other.value
            await failing.store.close()
        }
    }
}
