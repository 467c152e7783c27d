import BeaconDelivery
import BeaconEventStore
import BeaconModel
import MetricsTestKit
import TestSupport
import Testing

@Suite("Delivery metrics")
struct DeliveryMetricsTests {
    @Test("The outcomes of notifications are counted by destination")
    func counters() async throws {
        let folder = try TemporaryFolder()
        let clock = VirtualClock()
        let metrics = TestMetrics()
        let store = try EventStore(
            file: folder.file("events.sqlite"), logger: DeliveryBench.quiet, metrics: metrics,
            clock: clock.storeClock())
        let picky = MemorySink { notification in
            switch notification.beacon?.minor {
            case 4: .refused(reason: "no")
            case 5 where clock.now.offset == .zero: .retry(reason: "not now")
            default: .delivered
            }
        }
        let service = try DeliveryService(
            store: store,
            destinations: [
                Destination(name: "a", sink: picky), Destination(name: "b", sink: MemorySink(), kinds: [.enter]),
            ],
            limits: ConsumerLimits(events: 8), clock: clock, logger: DeliveryBench.quiet, metrics: metrics)
        try await service.append((1...10).map { Samples.proximity($0) })
        try await store.maintain()
        let running = Task { await service.run() }
        try await eventually {
            let status = try #require(try await service.status().first)
            if status.failures > 0, clock.sleepers >= 2 { clock.advanceToNext() }
            return status.waiting == 0
        }
        service.shutdown()
        await running.value
        func count(_ name: String, _ destination: String) throws -> Int64 {
            try metrics.expectCounter("beacon_delivery_\(name)_total", [("destination", destination)]).totalValue
        }
        #expect(try count("appended", "a") == 10)
        #expect(try count("dropped", "a") == 2)
        #expect(try count("dead_letters", "a") == 1)
        #expect(try count("retried", "a") == 1)
        #expect(try count("delivered", "a") == 7)
        #expect(try count("appended", "b") == 0)
    }
}
