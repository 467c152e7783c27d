import AsyncHTTPClient
import BeaconDelivery
import BeaconEventStore
import BeaconModel
import Foundation
import NIOCore
import NIOHTTP1

/// Measures the throughput of notifications to the disk and to a webhook on this machine, in comparison with a bare
/// loop of the same HTTP client, and whether memory grows with the number of waiting events.
///
///     DeliveryThroughput [--check] [--folder FOLDER]
///
/// The events are in FOLDER, by default the folder of temporary files. The cost of a sync depends on its disk.
@main
struct DeliveryThroughput {
    private static let uuid = ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)

    private let folder: URL

    /// The URL of a webhook that is never called.
    private static let nowhere = URL(string: "http://127.0.0.1:9/") ?? URL(fileURLWithPath: "/")

    static func main() async throws {
        let arguments = CommandLine.arguments
        var place = FileManager.default.temporaryDirectory
        if let index = arguments.firstIndex(of: "--folder"), index + 1 < arguments.count {
            place = URL(fileURLWithPath: arguments[index + 1])
        }
        let folder = place.appendingPathComponent("delivery-throughput-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let isGood = try await DeliveryThroughput(folder: folder).run()
        if arguments.contains("--check"), !isGood { exit(1) }
    }

    private func run() async throws -> Bool {
        // This runs first, because used memory is not returned to the system.
        let small = try await memory(events: 5_000)
        let large = try await memory(events: 100_000)
        let growth = Double(large - small) / 1e6
        print(
            "memory while delivering, 100 000 waiting events compared with 5 000: \((growth * 10).rounded() / 10) MB more"
        )

        print("into a webhook's queue, each synced to the disk before it is acknowledged:")
        let alone = try await append(events: 5_000, writers: 1, each: 1)
        print("  one caller, one at a time            \(Int(alone)) events/s")
        let together = try await append(events: 40_000, writers: 32, each: 1)
        print("  32 callers, one at a time            \(Int(together)) events/s")
        let grouped = try await append(events: 100_000, writers: 1, each: 100)
        print("  one caller, 100 at a time            \(Int(grouped)) events/s")

        print("out to one webhook over loopback, in order:")
        var ratios: [Double] = []
        var rates: [Double] = []
        for _ in 0..<3 {
            let bare = try await bareLoop(requests: 20_000)
            let delivered = try await deliver(events: 20_000, batch: 1)
            rates.append(delivered)
            ratios.append(delivered / bare)
            print(
                "  one per request                      \(Int(delivered))/s; the client in a bare loop \(Int(bare))/s")
        }
        let ratio = ratios.sorted()[1]
        let rate = rates.sorted()[1]
        print("  ratio to the bare loop, median       \((ratio * 100).rounded() / 100)")
        let batched = try await deliver(events: 100_000, batch: 100)
        print("  100 per request                      \(Int(batched))/s")
        return max(together, grouped) >= 5_000 && (rate >= 2_000 || ratio >= 0.7) && growth < 16
    }

    private static func notification(_ number: Int) -> BeaconNotification {
        let milliseconds = 1_700_000_000_000 + Int64(number)
        let id = EventID(
            ProximityUUID(high: UInt64(milliseconds) << 16 | 0x7000, low: 0x8000_0000_0000_0000 | UInt64(number)))
        var notification = BeaconNotification(
            id: id, kind: .proximity, time: Timestamp(nanoseconds: milliseconds * 1_000_000))
        notification.region = BeaconNotification.Region(name: "shop", constraint: BeaconConstraint(uuid: uuid))
        notification.beacon = BeaconIdentity(uuid: uuid, major: 1, minor: UInt16(truncatingIfNeeded: number))
        notification.proximity = .near
        notification.accuracy = 1.52
        notification.rssi = -64
        notification.receiver = "hci0"
        return notification
    }

    private func file() -> URL { folder.appendingPathComponent("\(UUID().uuidString).db") }

    private static func seconds(_ body: () async throws -> Void) async rethrows -> Double {
        let time = try await ContinuousClock().measure(body)
        return Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
    }

    private func append(events: Int, writers: Int, each: Int) async throws -> Double {
        let sink = try WebhookSink(WebhookSettings(url: Self.nowhere))
        let service = try service(events, sink)
        let share = events / writers
        let time = try await Self.seconds {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<writers {
                    group.addTask {
                        for start in stride(from: writer * share, to: (writer + 1) * share, by: each) {
                            try await service.append((start..<start + each).map(Self.notification))
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        await service.store.close()
        return Double(share * writers) / time
    }

    private func service(_ events: Int, _ sink: any Sink) throws -> DeliveryService<ContinuousClock> {
        var settings = EventStoreSettings()
        settings.retention = .none
        return try DeliveryService(
            store: try EventStore(file: file(), settings: settings),
            destinations: [Destination(name: "hook", sink: sink)],
            limits: ConsumerLimits(events: events, bytes: .max))
    }

    private func fill(_ service: DeliveryService<ContinuousClock>, _ events: Int) async throws {
        for start in stride(from: 0, to: events, by: 500) {
            try await service.append((start..<min(start + 500, events)).map(Self.notification))
        }
    }

    private func deliver(events: Int, batch: Int, whileRunning watch: () -> Void = {}) async throws -> Double {
        let server = try await LoopbackServer()
        let sink = try WebhookSink(WebhookSettings(url: server.url, maximumBatch: batch))
        let service = try service(events, sink)
        try await fill(service, events)
        let time = try await Self.seconds {
            let running = Task { await service.run() }
            while try await service.status()[0].handled < events {
                watch()
                try await Task.sleep(for: .milliseconds(10))
            }
            service.shutdown()
            await running.value
        }
        await service.store.close()
        try await server.stop()
        return Double(events) / time
    }

    /// Returns the peak memory while `events` events waited and were delivered.
    private func memory(events: Int) async throws -> Int {
        var most = 0
        _ = try await deliver(events: events, batch: 100) { most = max(most, ResidentMemory.bytes) }
        return most
    }

    /// The same requests with the same client, one after the other, without a queue.
    private func bareLoop(requests: Int) async throws -> Double {
        let server = try await LoopbackServer()
        let body = try JSONEncoder().encode(Self.notification(1)) + Data(count: 200)
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        let url = server.url.absoluteString
        let time = try await Self.seconds {
            for _ in 0..<requests {
                var request = HTTPClientRequest(url: url)
                request.method = .POST
                request.headers = ["Content-Type": "application/cloudevents+json"]
                request.body = .bytes(ByteBuffer(bytes: body))
                let response = try await client.execute(request, timeout: .seconds(30))
                for try await _ in response.body {}
            }
        }
        try await client.shutdown()
        try await server.stop()
        return Double(requests) / time
    }
}
