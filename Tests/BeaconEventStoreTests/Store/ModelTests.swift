import BeaconEventStore
import BeaconModel
import BeaconSupport
import Foundation
import GRDB
import TestSupport
import Testing

@Suite("Copies of the files of a running store")
struct ModelTests {
    @Test(
        "A copy of the files at any time has every acknowledged step, and only whole steps",
        arguments: 1...4 as ClosedRange<UInt64>)
    func kills(seed: UInt64) async throws {
        var generator = SplitMix64(seed: seed)
        let bench = try StoreBench(seed: seed)
        let store = bench.store
        let steps = (0..<400).map { number in
            var step = Step(bench.events(Int.random(in: 1...20, using: &generator)))
            step.set("last", "\(number % 4)", to: Data("\(step.events.last?.id ?? bench.id())".utf8))
            return step
        }
        let acknowledged = Locked<Set<EventID>>([])
        let isDone = Locked(false)
        let writers = Task {
            await withTaskGroup(of: Void.self) { group in
                for writer in 0..<4 {
                    group.addTask {
                        for index in stride(from: writer, to: steps.count, by: 4) {
                            _ = try? await store.append(steps[index])
                            acknowledged.withLock { $0.formUnion(steps[index].events.map(\.id)) }
                        }
                    }
                }
            }
            isDone.withLock { $0 = true }
        }
        var copies = 0
        repeat {
            let before = acknowledged.withLock { $0 }
            let copy = bench.folder.url.appendingPathComponent("kill-\(copies).sqlite")
            try StoreBench.copyAsIs(bench.file, to: copy)
            copies += 1
            let survivor = try EventStore(file: copy, settings: bench.settings, logger: StoreBench.quiet)
            #expect(survivor.recovery == nil)
            let all = try await survivor.all()
            let ids = Set(all.map(\.event.id))
            #expect(before.isSubset(of: ids), "seed \(seed)")
            for step in steps where step.events.contains(where: { ids.contains($0.id) }) {
                #expect(step.events.allSatisfy { ids.contains($0.id) }, "seed \(seed)")
            }
            for row in try await survivor.state("last") {
                let id = try #require(EventID(String(decoding: row.value, as: UTF8.self)))
                #expect(ids.contains(id), "seed \(seed)")
            }
            await survivor.close()
        } while isDone.withLock { !$0 }
        await writers.value
        #expect(copies > 1)
        #expect(try await store.all().count == steps.map(\.events.count).reduce(0, +))
    }
}
