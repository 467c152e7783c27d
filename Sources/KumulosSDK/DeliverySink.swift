import BeaconDelivery
import BeaconEventStore
import BeaconModel
import BeaconSupport
import CLibrary
import Foundation
import Logging

/// A sink that delivers events to Kumulos through the app's event store.
final class DeliverySink: KumulosEventSink {
    static let destination = "kumulos"

    private let service: DeliveryService<ContinuousClock>
    private let running: Task<Void, Never>
    private let logger: Logger

    /// - Throws: ``/BeaconEventStore/EventStoreError`` if the file cannot be opened, for example because another
    ///   process of the app has it open, and ``SinkError`` if the address is invalid.
    init(_ config: KSConfig, installID: String, file: URL, logger: Logger) throws {
        var configuration = KumulosSettings(
            apiKey: Secret(config.apiKey), secretKey: Secret(config.secretKey), installID: installID)
        if let address = config.eventsAddress {
            guard let url = URL(string: address) else {
                throw SinkError(.invalidURL, "the address for Kumulos events is not a URL")
            }
            configuration.baseURL = url
        }
        let destination = Destination(name: Self.destination, sink: try KumulosSink(configuration))
        // The consumer starts at 0, so that it also delivers events that another process of the app stored earlier.
        let service = try DeliveryService(
            store: try Self.open(file, logger: logger), destinations: [destination], after: 0, logger: logger)
        self.service = service
        self.logger = logger
        running = Task {
            await service.run()
            await service.store.close()
            Self.openFiles.withLock { _ = $0.remove(file.path) }
        }
    }

    deinit { running.cancel() }

    /// The files of the event stores that are open in this process.
    private static let openFiles = Locked<Set<String>>([])

    /// The longest time that the deliveries of an earlier configuration may take to end, in hundredths of a second.
    /// They are cancelled, so this limits a hang rather than a normal wait.
    private static let longestEnd = 3_000

    /// Opens the event store. If this process initialized the SDK before, those deliveries may still be ending.
    private static func open(_ file: URL, logger: Logger) throws(EventStoreError) -> EventStore {
        for _ in 0..<longestEnd {
            guard openFiles.withLock({ $0.contains(file.path) }) else { break }
            usleep(10_000)
        }
        var settings = EventStoreSettings()
        settings.retention = .none
        let store = try EventStore(file: file, settings: settings, logger: logger)
        openFiles.withLock { _ = $0.insert(file.path) }
        return store
    }

    func record(_ event: KumulosEvent) throws {
        guard let notification = BeaconNotification(event) else { return }
        try service.appendBlocking(notification)
    }
}

/// A sink that stores events for delivery by this process, or by another process of the app until that one ends.
final class SharedDeliverySink: KumulosEventSink {
    private enum Holder: Sendable {
        /// This process.
        case here(DeliverySink)
        /// Another process, whose event store receives the events.
        case elsewhere(EventStoreInspector)
        /// No process: the file cannot be used.
        case unavailable(any Error)
    }

    private struct State: Sendable {
        var holder: Holder
        var nextAttempt: ContinuousClock.Instant
    }

    /// The time between two attempts to deliver from this process.
    private static let interval = Duration.seconds(10)

    private let file: URL
    private let open: @Sendable () throws -> DeliverySink
    private let state: Locked<State>
    private let watch: Task<Void, Never>

    /// Creates a sink, which delivers from this process if possible.
    ///
    /// - Parameters:
    ///   - file: the event store's file.
    ///   - open: opens the event store for delivery.
    init(file: URL, open: @escaping @Sendable () throws -> DeliverySink) {
        self.file = file
        self.open = open
        let state = Locked(State(holder: Self.holder(file, open), nextAttempt: .now + Self.interval))
        self.state = state
        // Delivers waiting events even if no other event is recorded.
        watch = Task {
            while (try? await Task.sleep(for: Self.interval)) != nil { Self.takeOver(state, file, open) }
        }
    }

    deinit { watch.cancel() }

    private static func holder(_ file: URL, _ open: () throws -> DeliverySink) -> Holder {
        do {
            return .here(try open())
        } catch let error as EventStoreError where error.code == .inUse {
            do {
                return .elsewhere(try EventStoreInspector(file: file))
            } catch {
                return .unavailable(error)
            }
        } catch {
            return .unavailable(error)
        }
    }

    /// Opens the event store for delivery if another process had it, or if it could not be used.
    private static func takeOver(_ state: Locked<State>, _ file: URL, _ open: () throws -> DeliverySink) {
        state.withLock { state in
            if case .here = state.holder { return }
            guard state.nextAttempt <= .now else { return }
            state.nextAttempt = .now + interval
            state.holder = holder(file, open)
        }
    }

    func record(_ event: KumulosEvent) throws {
        guard let notification = BeaconNotification(event) else { return }
        Self.takeOver(state, file, open)
        switch state.withLock({ $0.holder }) {
        case .here(let sink): try sink.record(event)
        case .elsewhere(let store): try store.append([notification])
        case .unavailable(let error): throw error
        }
    }
}
