import BeaconDelivery
import BeaconEventStore
import BeaconModel
import Foundation
import Subprocess
import SystemPackage
import TestSupport
import Testing

@Suite("Full disk", .fewAtATime)
struct FullDiskTests {
    @Test(
        "If no file can grow, appends fail with a clear error, acknowledged events stay, and service resumes later"
    )
    func fileSizeLimit() async throws {
        let folder = try TemporaryFolder()
        let result = try await Subprocess.run(
            .path(FilePath(WorkerProgram.path)), arguments: ["fill", folder.url.path, "400000"],
            output: .string(limit: 1 << 16), error: .string(limit: 1 << 16))
        let lines = result.standardOutput.split(separator: "\n").map {
            $0.split(separator: " ").map(String.init)
        }
        #expect(result.terminationStatus.isSuccess, "\(result.standardError)")
        let facts = Dictionary(
            lines.map { ($0.first ?? "", $0.dropFirst().joined(separator: " ")) }, uniquingKeysWith: { $1 })
        let refused = try #require(facts["refused"]?.split(separator: " "))
        #expect(refused.count == 2 && refused.last == "full")
        let accepted = try #require(facts["accepted"].flatMap { Int($0) })
        #expect(accepted > 50)
        #expect(facts["waiting"] == "\(accepted)")
        // The next process must read them in order and without a gap.
        let store = try EventStore(file: folder.file("events.sqlite"), logger: DeliveryBench.quiet)
        #expect(store.recovery == nil)
        let minors = try EventStoreInspector(file: store.file).queue(of: "somewhere", limit: 10_000)
            .compactMap { $0.notification.beacon.map { Int($0.minor) } }
        #expect(minors == Array(1...accepted))
    }

    @Test("At the file's size limit appends fail with a clear error; stored events are delivered and make room")
    func bound() async throws {
        let sink = MemorySink()
        let bench = try DeliveryBench(
            [Destination(name: "a", sink: sink)], maximumFileSize: 300_000)
        var accepted: UInt16 = 0
        var refusal: EventStoreError?
        while refusal == nil, accepted < 60_000 {
            do {
                try await bench.service.append([Samples.proximity(accepted + 1)])
                accepted += 1
            } catch {
                refusal = error
            }
        }
        #expect(refusal?.code == .full)
        #expect(refusal?.message.contains("no room") == true)
        try await bench.running {
            try await eventually { sink.minors.count == Int(accepted) }
            try await eventually { try await bench.status("a").waiting == 0 }
            try await bench.service.append([Samples.proximity(accepted + 1)])
            try await eventually { sink.minors.count == Int(accepted) + 1 }
        }
        #expect(sink.minors == Array(1...accepted + 1))
    }
}
