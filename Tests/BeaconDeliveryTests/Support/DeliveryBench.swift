import BeaconDelivery
import BeaconEventStore
import Foundation
import Logging
import TestSupport
import Testing

/// A delivery service on a clock that a test controls, with an event store in its own folder.
struct DeliveryBench {
    let folder: TemporaryFolder
    let clock: VirtualClock
    let store: EventStore
    let service: DeliveryService<VirtualClock>

    init(
        _ destinations: [Destination], folder: TemporaryFolder? = nil, clock: VirtualClock = VirtualClock(),
        limits: ConsumerLimits = ConsumerLimits(), maximumFileSize: Int? = nil, logger: Logger = Self.quiet
    ) throws {
        let folder = try folder ?? TemporaryFolder()
        self.folder = folder
        self.clock = clock
        var settings = EventStoreSettings()
        settings.retention = .none
        settings.maximumFileSize = maximumFileSize
        store = try EventStore(
            file: folder.file("events.sqlite"), settings: settings, logger: logger, clock: clock.storeClock())
        service = try DeliveryService(
            store: store, destinations: destinations, limits: limits, clock: clock, logger: logger)
    }

    static var quiet: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }

    /// Runs the service for the duration of `body`, and ends it.
    func running(_ body: () async throws -> Void) async throws {
        let task = Task { await service.run() }
        do {
            try await body()
        } catch {
            task.cancel()
            await task.value
            throw error
        }
        service.shutdown()
        await task.value
    }

    /// Advances the clock from one awaited time to the next, until a condition holds.
    ///
    /// - Parameter sleepers: the number of waiting tasks at each step: the housekeeping, and each destination that
    ///   failed.
    func pass(sleepers: Int = 2, until condition: () async throws -> Bool) async throws {
        try await eventually {
            if try await condition() { return true }
            if clock.sleepers >= sleepers { clock.advanceToNext() }
            return false
        }
    }

    /// Returns the status of a destination.
    func status(_ destination: String) async throws -> ConsumerStatus {
        try #require(try await service.status().first { $0.name == destination })
    }
}
