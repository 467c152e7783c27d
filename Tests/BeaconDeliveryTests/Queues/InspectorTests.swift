import BeaconDelivery
import BeaconEventStore
import BeaconModel
import BeaconSupport
import Foundation
import TestSupport
import Testing

@Suite("Inspector")
struct InspectorTests {
    @Test("A dead letter is listed, and sent on request while deliveries run")
    func retry() async throws {
        let isOpen = Locked(false)
        let sink = MemorySink { notification in
            notification.beacon?.minor == 2 && !isOpen.withLock { $0 } ? .refused(reason: "no such room") : .delivered
        }
        let bench = try DeliveryBench([Destination(name: "a", sink: sink)])
        let inspector = try EventStoreInspector(file: bench.store.file)
        try await bench.service.append((1...3).map { Samples.proximity($0) })
        try await bench.running {
            try await eventually { sink.minors == [1, 3] }
            try await eventually { try inspector.consumers().first?.deadLetters == 1 }
            let deadLetter = try #require(try inspector.deadLetters(of: "a").first)
            #expect(deadLetter.notification == Samples.proximity(2))
            #expect(deadLetter.refusal == "no such room")
            #expect(deadLetter.attempts == 1)
            // It is not sent repeatedly.
            #expect(sink.attempts == 3)

            isOpen.withLock { $0 = true }
            #expect(try inspector.retry(deadLetter.notification.id, for: "a") == 1)
            try await bench.pass(sleepers: 1) { sink.minors == [1, 3, 2] }
            try await eventually { try await bench.status("a").handled == 3 }
        }
        let status = try #require(try inspector.consumers().first)
        #expect(status.deadLetters == 0 && status.waiting == 0 && status.waitingBytes == 0 && status.refused == 1)
    }

    @Test("An unknown name is reported with the known ones, and so is a missing file")
    func wrong() async throws {
        let bench = try DeliveryBench([Destination(name: "office", sink: MemorySink())])
        let inspector = try EventStoreInspector(file: bench.store.file)
        #expect { try inspector.retry(for: "ofice") } throws: { error in
            (error as? EventStoreError)?.message.contains("it has office") == true
        }
        #expect(throws: EventStoreError.self) { try EventStoreInspector(file: bench.folder.file("nothing.sqlite")) }
        #expect(!FileManager.default.fileExists(atPath: bench.folder.file("nothing.sqlite").path))
    }
}
