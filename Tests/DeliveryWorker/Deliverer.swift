import BeaconDelivery
import BeaconEventStore
import Foundation
import Glibc

/// Stores notifications while it delivers them. It may be killed at any time.
struct Deliverer {
    let folder: URL
    let port: Int
    let count: Int

    func run() async throws {
        var destinations: [Destination] = []
        for name in ["first", "second"] {
            guard let url = URL(string: "http://127.0.0.1:\(port)/\(name)") else { throw CocoaError(.fileReadUnknown) }
            let sink = try WebhookSink(WebhookSettings(url: url))
            // The server deliberately fails now and then.
            let retryPolicy = RetryPolicy(base: .milliseconds(5), maximum: .milliseconds(50))
            destinations.append(Destination(name: name, sink: sink, retryPolicy: retryPolicy))
        }
        var settings = EventStoreSettings()
        settings.retention = .none
        let store = try EventStore(file: folder.appendingPathComponent("events.sqlite"), settings: settings)
        let service = try DeliveryService(store: store, destinations: destinations)
        let running = Task { await service.run() }
        let progress = try Progress(folder.appendingPathComponent("progress"))
        var next = progress.count + 1
        while next <= count {
            let last = min(next + Int.random(in: 0..<20), count)
            try await service.append((next...last).map(Numbered.notification))
            // From now on they must not be lost.
            progress.count = last
            next = last + 1
        }
        while try await service.status().contains(where: { $0.waiting > 0 }) {
            try await Task.sleep(for: .milliseconds(5))
        }
        service.shutdown()
        await running.value
        await store.close()
    }
}

/// The number of acknowledged notifications, in a file. A write survives the process that made it.
final class Progress {
    private let descriptor: Int32

    init(_ file: URL) throws {
        descriptor = open(file.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    deinit { close(descriptor) }

    var count: Int {
        get {
            var value: Int64 = 0
            let read = pread(descriptor, &value, 8, 0)
            return read == 8 ? Int(value) : 0
        }
        set {
            var value = Int64(newValue)
            _ = pwrite(descriptor, &value, 8, 0)
        }
    }
}
