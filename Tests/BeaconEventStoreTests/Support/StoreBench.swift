import BeaconEventStore
import BeaconModel
import BeaconSupport
import Foundation
import Logging
import Metrics
import TestSupport

/// Clocks that a test controls. The wall clock begins at 1 800 000 000.
final class TestClock: Sendable {
    private struct State {
        var sinceBoot: Int64 = 5_000_000_000
        var lead: Int64 = 1_800_000_000_000_000_000
        var boot = "one"
    }

    private let state = Locked(State())
    private let tick = AsyncSignal()

    var wall: Timestamp { state.withLock { Timestamp(nanoseconds: $0.sinceBoot &+ $0.lead) } }

    func advance(by duration: Duration) {
        state.withLock { $0.sinceBoot += Int64(duration / .nanoseconds(1)) }
        tick.signal()
    }

    /// Sets the wall clock, forward or back.
    func setWallClock(by duration: Duration) { state.withLock { $0.lead += Int64(duration / .nanoseconds(1)) } }

    /// Reboots the machine.
    func reboot(_ name: String) {
        state.withLock { state in
            state.lead += state.sinceBoot
            state.sinceBoot = 0
            state.boot = name
        }
    }

    var clock: EventStoreClock {
        EventStoreClock(
            wall: { self.wall }, sinceBoot: { self.state.withLock { $0.sinceBoot } },
            boot: state.withLock { $0.boot },
            sleep: { duration in
                let end = self.state.withLock { $0.sinceBoot } + Int64(duration / .nanoseconds(1))
                while true {
                    let seen = self.tick.count
                    if self.state.withLock({ $0.sinceBoot }) >= end { return }
                    await self.tick.wait(after: seen)
                    try Task.checkCancellation()
                }
            })
    }
}

/// A fault that a test switches on and off.
final class Fault: Sendable {
    private let error = Locked<(any Error)?>(nil)

    func set(_ error: (any Error)?) { self.error.withLock { $0 = error } }

    func check() throws {
        let error = self.error.withLock { $0 }
        if let error { throw error }
    }
}

/// A store in its own folder.
final class StoreBench {
    let folder: TemporaryFolder
    let file: URL
    let clock = TestClock()
    let fault = Fault()
    var settings: EventStoreSettings
    private(set) var store: EventStore
    private var ids = EventIDs()
    private var generator: SplitMix64

    static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    init(seed: UInt64 = 1, _ configure: (inout EventStoreSettings) -> Void = { _ in }) throws {
        folder = try TemporaryFolder()
        file = folder.url.appendingPathComponent("events.sqlite")
        var settings = EventStoreSettings()
        settings.coalescing = .zero
        settings.piece = 500
        configure(&settings)
        self.settings = settings
        generator = SplitMix64(seed: seed)
        store = try EventStore(
            file: file, settings: settings, logger: Self.quiet, metrics: NOOPMetricsHandler.instance,
            clock: clock.clock, fault: fault.check)
    }

    /// Opens a file as this bench's store.
    func open(_ file: URL? = nil) throws {
        store = try EventStore(
            file: file ?? self.file, settings: settings, logger: Self.quiet, metrics: NOOPMetricsHandler.instance,
            clock: clock.clock, fault: fault.check)
    }

    func reopen() async throws {
        await store.close()
        try open()
    }

    /// Opens a copy of the file in the state after a kill at this point.
    func crash(into name: String) async throws {
        let copy = folder.url.appendingPathComponent(name)
        try Self.copyAsIs(store.file, to: copy)
        await store.close()
        try open(copy)
    }

    /// Copies a consistent snapshot of a database and its log while both are being written.
    static func copyAsIs(_ file: URL, to copy: URL) throws {
        let manager = FileManager.default
        while true {
            for suffix in ["", "-wal"] { try? manager.removeItem(atPath: copy.path + suffix) }
            // The log grows at its end. Only a checkpoint changes the file itself.
            let before = try manager.attributesOfItem(atPath: file.path)[.modificationDate] as? Date
            try manager.copyItem(at: file, to: copy)
            if manager.fileExists(atPath: file.path + "-wal") {
                try manager.copyItem(atPath: file.path + "-wal", toPath: copy.path + "-wal")
            }
            if try manager.attributesOfItem(atPath: file.path)[.modificationDate] as? Date == before { return }
        }
    }

    /// Another process that reads and edits the file.
    var inspector: EventStoreInspector {
        get throws { try EventStoreInspector(file: store.file, clock: clock.clock) }
    }

    func id() -> EventID { ids.next(at: clock.wall, random: generator.next()) }

    func event(
        _ kind: String = "enter", priority: Event.Priority = .normal, time: Timestamp? = nil, region: String? = nil,
        body: String = "{}"
    ) -> Event {
        var event = Event(
            id: id(), time: time ?? clock.wall, kind: kind, priority: priority, body: Data(body.utf8))
        event.region = region
        return event
    }

    func events(_ count: Int, _ kind: String = "enter", priority: Event.Priority = .normal) -> [Event] {
        (0..<count).map { event(kind, priority: priority, body: "\($0)") }
    }
}

extension EventStore {
    /// All events, in order.
    func all() async throws -> [StoredEvent] { try await events(after: 0, limit: 1_000_000) }
}
