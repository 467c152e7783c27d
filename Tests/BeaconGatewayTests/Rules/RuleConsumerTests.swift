import BeaconDelivery
import BeaconEventStore
import BeaconModel
import BeaconSupport
import Dispatch
import Foundation
import GatewayTestSupport
import TestSupport
import Testing

@testable import BeaconGateway

@Suite("Rules: the end of a recording", .fewAtATime)
struct RuleConsumerTests {
    private struct NoSink: Sink {
        var maximumBatch: Int { 1 }
        func deliver(_ batch: [QueuedNotification]) -> [DeliveryOutcome] { [] }
    }

    @Test("The end waits while an event is stored as handled but its program has not started")
    func finish() async throws {
        let bench = try GatewayBench()
        let state = try bench.state
        let history = try EventHistory(state.store)
        var rule = Rule(name: "r", target: .program(["true"]))
        rule.destinations = ["hub"]
        let engine = RuleEngine(
            [rule], trail: state.trail,
            delivery: try DeliveryService(
                store: history.store, destinations: [Destination(name: "hub", sink: NoSink())]),
            logger: bench.lines.logger)
        let consumer = try await bench.consumer(of: engine, for: bench.gateway([], rules: engine))
        let now = try #require(Timestamp(seconds: Date().timeIntervalSince1970))
        var event = BeaconNotification.shown(.enter, at: now, region: "hall")
        (event.sender, event.install) = ("app", "i")
        #expect(try await history.receive([event]) == 1)

        // The rule's notification is stored, but the consumer has not been notified yet.
        let isStored = Locked(false)
        let release = DispatchSemaphore(value: 0)
        history.store.follow { _ in
            let isFirst = isStored.withLock { before in
                defer { before = true }
                return !before
            }
            if isFirst { release.wait() }
        }
        let work = Task { try await consumer.work() }
        try await eventually("the step is stored") { isStored.withLock { $0 } }
        let hasEnded = Locked(false)
        let end = Task {
            await consumer.finish()
            hasEnded.withLock { $0 = true }
        }
        // Nothing waits for rules any longer. A check of only that would end here.
        for _ in 0..<200 where !hasEnded.withLock({ $0 }) {
            #expect(try await history.forRules.status().waiting == 0)
        }
        #expect(!hasEnded.withLock { $0 })
        release.signal()
        #expect(try await work.value)
        await end.value
        await engine.finish()
        #expect(await engine.started == 1)
    }
}
