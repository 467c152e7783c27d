import BeaconDelivery
import BeaconEventStore
import BeaconModel
import BeaconSupport
import TestSupport
import Testing

@Suite("Delivery service whose destinations change while it runs")
struct ChangedDestinationTests {
    /// A sink that records when its connection begins and ends.
    private final class ConnectedSink: Sink {
        let name: String
        let steps: Locked<[String]>
        let maximumBatch = 10

        init(_ name: String, _ steps: Locked<[String]>) { (self.name, self.steps) = (name, steps) }

        func deliver(_ batch: [QueuedNotification]) async -> [DeliveryOutcome] {
            steps.withLock { steps in steps += batch.map { "\(name) \($0.notification.beacon?.minor ?? 0)" } }
            return batch.map { _ in .delivered }
        }

        func run(onConnection: @escaping @Sendable () -> Void) async {
            steps.withLock { $0.append("\(name) begins") }
            onConnection()
            // Wait until it is canceled.
            await AsyncSignal().wait(after: 0)
            steps.withLock { $0.append("\(name) ends") }
        }
    }

    @Test("A kept destination keeps its connection, a removed one ends before a new one begins, and nothing is lost")
    func exchanged() async throws {
        let steps = Locked<[String]>([])
        let (kept, gone, new) = (
            ConnectedSink("kept", steps), ConnectedSink("gone", steps), ConnectedSink("new", steps)
        )
        let bench = try DeliveryBench([Destination(name: "a", sink: kept), Destination(name: "b", sink: gone)])
        try await bench.running {
            try await bench.service.append([Samples.proximity(1)])
            try await eventually { steps.withLock { Set($0).isSuperset(of: ["kept 1", "gone 1"]) } }
            // The same name with another connection, and one more destination.
            try bench.service.update(
                [
                    Destination(name: "a", sink: kept), Destination(name: "b", sink: new),
                    Destination(name: "c", sink: new),
                ], keeping: ["a"])
            try await bench.service.append([Samples.proximity(2)])
            try await eventually { steps.withLock { $0.count { $0 == "new 2" } == 2 && $0.contains("kept 2") } }
        }
        let all = steps.withLock { $0 }
        let end = try #require(all.firstIndex(of: "gone ends"))
        #expect(all.firstIndex(of: "new begins") ?? -1 > end, "\(all)")
        #expect(all.count { $0 == "kept begins" } == 1 && !all[..<end].contains("kept ends"), "\(all)")
        #expect(!all.contains("gone 2"), "\(all)")
    }

    @Test("A kept destination may select other notifications, and delivers the waiting ones")
    func otherKinds() async throws {
        let sink = MemorySink()
        let bench = try DeliveryBench([Destination(name: "a", sink: sink, kinds: [.enter])])
        try await bench.running {
            try await bench.service.append([Samples.proximity(1)])
            try bench.service.update([Destination(name: "a", sink: sink)], keeping: ["a"])
            try await bench.service.append([Samples.proximity(2)])
            try await eventually { sink.minors == [2] }
        }
    }

    @Test("A notification that a destination selects on arrival is delivered, however often the selection changes")
    func changingKinds() async throws {
        let sink = MemorySink()
        let bench = try DeliveryBench([Destination(name: "a", sink: sink)])
        try await bench.running {
            for minor in UInt16(1)...200 {
                try bench.service.update([Destination(name: "a", sink: sink, kinds: [.enter])], keeping: ["a"])
                await Task.yield()
                try bench.service.update([Destination(name: "a", sink: sink)], keeping: ["a"])
                try await bench.service.append([Samples.proximity(minor)])
                try await eventually { try await bench.status("a").handled == Int(minor) }
            }
        }
        #expect(try await bench.status("a").droppedByFilter == 0)
    }

    @Test("The queue of a removed destination stays, and is delivered after its return")
    func back() async throws {
        let (slow, sink) = (SlowSink(), MemorySink())
        let clock = VirtualClock()
        let bench = try DeliveryBench([Destination(name: "a", sink: slow)], clock: clock)
        try await bench.running {
            try await bench.service.append([Samples.proximity(1)])
            try await eventually { slow.isBusy }
            try bench.service.update([], keeping: [])
            try bench.service.update([Destination(name: "a", sink: sink)], keeping: [])
            // The delivery in progress is given up after a while, by the clock of the service.
            try await bench.pass(sleepers: 1) { sink.minors == [1] }
        }
    }

    @Test("A destination that is added while the service ends does not begin")
    func shutdown() async throws {
        let steps = Locked<[String]>([])
        let bench = try DeliveryBench([])
        try await bench.running {}
        try bench.service.update([Destination(name: "a", sink: ConnectedSink("a", steps))], keeping: [])
        #expect(steps.withLock { $0.isEmpty })
    }
}
