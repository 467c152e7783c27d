import BeaconDelivery
import BeaconEventStore
import Foundation
import Glibc

/// Simulates a full disk for its own process only: the system does not let its files grow.
struct Filler {
    let folder: URL
    let bytes: UInt

    /// Prints one fact per line for the test: `refused N CODE`, `waiting N`, `accepted N`.
    func run() async throws {
        let store = try EventStore(file: folder.appendingPathComponent("events.sqlite"))
        let service = try DeliveryService(store: store, destinations: [Destination(name: "somewhere", sink: Idle())])
        // Without this the system ends the process at the limit (setrlimit(2)).
        signal(SIGXFSZ, SIG_IGN)
        var unlimited = rlimit()
        getrlimit(Self.fileSize, &unlimited)
        var limit = rlimit(rlim_cur: bytes, rlim_max: unlimited.rlim_max)
        guard setrlimit(Self.fileSize, &limit) == 0 else { throw CocoaError(.featureUnsupported) }
        var accepted = 0
        do throws(EventStoreError) {
            while true {
                try await service.append([Numbered.notification(accepted + 1)])
                accepted += 1
            }
        } catch {
            print("refused \(accepted + 1) \(error.code == .full ? "full" : "otherwise: \(error)")")
        }
        // Further attempts must fail without damage.
        for _ in 0..<100 { try? await service.append([Numbered.notification(accepted + 1)]) }
        setrlimit(Self.fileSize, &unlimited)
        try await service.append([Numbered.notification(accepted + 1)])
        accepted += 1
        print("accepted \(accepted)")
        print("waiting \(try await service.status().first?.waiting ?? -1)")
        await store.close()
    }

    /// A sink that accepts nothing.
    private struct Idle: Sink {
        let maximumBatch = 1

        func deliver(_ batch: [QueuedNotification]) -> [DeliveryOutcome] { [] }
    }

    /// RLIMIT_FSIZE, which glibc declares as a macro over an enumeration (bits/resource.h).
    private static var fileSize: __rlimit_resource_t { __rlimit_resource_t(1) }
}
