import BeaconDelivery
import BeaconEventStore
import BeaconModel
import BeaconSupport
import CLibrary
import Foundation
import Logging

/// A sink that delivers events to Kumulos through an event store of the app's.
final class DeliverySink: KumulosEventSink {
    static let destination = "kumulos"

    private let service: DeliveryService<ContinuousClock>
    private let running: Task<Void, Never>
    private let logger: Logger

    /// - Throws: ``/BeaconEventStore/EventStoreError`` where the file cannot be opened, as where the app runs a second
    ///   time, and ``SinkError`` where the address is invalid.
    init(_ config: KSConfig, installID: String, file: URL, logger: Logger) throws {
        var configuration = KumulosSettings(
            apiKey: Secret(config.apiKey), secretKey: Secret(config.secretKey), installID: installID)
        if let address = config.eventsAddress {
            guard let url = URL(string: address) else {
                throw SinkError(.invalidURL, "the address of Kumulos' events is not a URL")
            }
            configuration.baseURL = url
        }
        let destination = Destination(name: Self.destination, sink: try KumulosSink(configuration))
        // What another process of the app stores before this one makes the consumer is for it too.
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

    /// The files of the event stores that this process has open.
    private static let openFiles = Locked<Set<String>>([])

    /// The longest time, in hundredths of a second, that the deliveries of an earlier set-up may take to end. They are
    /// cancelled, so that it bounds a hang and no wait.
    private static let longestEnd = 3_000

    /// Opens the event store. Where the SDK was set up before in this process, those deliveries may still be ending.
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

/// A sink that stores events for their delivery by this process, or by another one of the app until it ends.
final class SharedDeliverySink: KumulosEventSink {
    private enum Holder: Sendable {
        /// This process.
        case here(DeliverySink)
        /// Another process, in whose event store events are put.
        case elsewhere(EventStoreInspector)
        /// Nobody: the file cannot be used.
        case nobody(any Error)
    }

    private struct State: Sendable {
        var holder: Holder
        var nextAttempt: ContinuousClock.Instant
    }

    /// The time between two attempts to deliver from here.
    private static let interval = Duration.seconds(10)

    private let file: URL
    private let open: @Sendable () throws -> DeliverySink
    private let state: Locked<State>
    private let watch: Task<Void, Never>

    /// Creates a sink, which delivers from here where it can.
    ///
    /// - Parameters:
    ///   - file: the event store.
    ///   - open: opens it for delivery.
    init(file: URL, open: @escaping @Sendable () throws -> DeliverySink) {
        self.file = file
        self.open = open
        let state = Locked(State(holder: Self.holder(file, open), nextAttempt: .now + Self.interval))
        self.state = state
        // Events that wait are delivered though no other is recorded.
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
                return .nobody(error)
            }
        } catch {
            return .nobody(error)
        }
    }

    /// Opens the event store for delivery, where another process had it, or it could not be used.
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
        case .nobody(let error): throw error
        }
    }
}
