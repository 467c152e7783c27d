import BeaconDelivery
import BeaconModel
import BeaconSupport
import Foundation
import TestSupport
import Testing

@Suite("Outbox inspector")
struct OutboxInspectorTests {
    @Test("What was refused for good is shown, and goes out when someone asks for it while deliveries run")
    func retry() async throws {
        let isOpen = Locked(false)
        let sink = MemorySink { notification in
            notification.beacon?.minor == 2 && !isOpen.withLock { $0 } ? .refused(reason: "no such room") : .delivered
        }
        let bench = try DeliveryBench([Destination(name: "a", sink: sink)])
        let inspector = try OutboxInspector(file: bench.outbox.file)
        try await bench.service.append((1...3).map { Samples.proximity($0) })
        try await bench.running {
            try await eventually { sink.minors == [1, 3] }
            try await eventually { try inspector.status().first?.deadLetters == 1 }
            let deadLetter = try #require(try inspector.deadLetters(of: "a").first)
            #expect(deadLetter.notification == Samples.proximity(2))
            #expect(deadLetter.refusal == "no such room")
            #expect(deadLetter.attempts == 1)
            // It is not looped.
            #expect(sink.attempts == 3)

            isOpen.withLock { $0 = true }
            #expect(try inspector.retry(deadLetter.notification.id, for: "a") == 1)
            try await bench.pass(sleepers: 1) { sink.minors == [1, 3, 2] }
            try await eventually { try await bench.status("a").delivered == 3 }
        }
        let status = try #require(try inspector.status().first)
        #expect(status.deadLetters == 0 && status.waiting == 0 && status.waitingBytes == 0 && status.refused == 1)
    }

    @Test("Waiting notifications and dead letters can be dropped, one or all, and that is counted")
    func drop() async throws {
        let bench = try DeliveryBench([
            Destination(name: "a", sink: MemorySink()), Destination(name: "b", sink: MemorySink()),
        ])
        let inspector = try OutboxInspector(file: bench.outbox.file)
        try await bench.service.append((1...5).map { Samples.proximity($0) })
        #expect(try inspector.drop(Samples.proximity(2).id, for: "a", deadLettersOnly: false) == 1)
        #expect(try inspector.drop(Samples.proximity(2).id, for: "a", deadLettersOnly: false) == 0)
        #expect(try inspector.waiting(for: "a").compactMap(\.notification.beacon?.minor) == [1, 3, 4, 5])
        #expect(try inspector.drop(for: "a") == 0)
        #expect(try inspector.drop(for: "a", deadLettersOnly: false) == 4)
        #expect(try inspector.waiting(for: "b").count == 5)
        let status = try #require(try inspector.status().first { $0.destination == "a" })
        #expect(status.droppedByHand == 5 && status.waiting == 0 && status.waitingBytes == 0)
    }

    @Test("The number of dead letters is bounded; the oldest are dropped, and that is counted")
    func bound() async throws {
        let bench = try DeliveryBench(
            [Destination(name: "a", sink: MemorySink { _ in .refused(reason: "no") })],
            limits: OutboxLimits(maximumDeadLetters: 10))
        try await bench.service.append((1...30).map { Samples.proximity($0) })
        try await bench.running { try await eventually { try await bench.status("a").refused == 30 } }
        let deadLetters = try OutboxInspector(file: bench.outbox.file).deadLetters(of: "a")
        #expect(deadLetters.compactMap(\.notification.beacon?.minor) == Array(21...30))
        #expect(try await bench.status("a").droppedBySize == 20)
    }

    @Test("A wrong name is told with the right ones, and a missing file as such")
    func wrong() async throws {
        let bench = try DeliveryBench([Destination(name: "office", sink: MemorySink())])
        let inspector = try OutboxInspector(file: bench.outbox.file)
        #expect { try inspector.retry(for: "ofice") } throws: { error in
            (error as? OutboxError)?.message.contains("it has office") == true
        }
        #expect(throws: OutboxError.self) { try OutboxInspector(file: bench.folder.file("nothing.db")) }
        #expect(!FileManager.default.fileExists(atPath: bench.folder.file("nothing.db").path))
    }
}
