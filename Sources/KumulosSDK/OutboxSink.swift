import BeaconDelivery
import BeaconModel
import BeaconSupport
import Foundation
import Glibc
import Logging

/// A sink that delivers events to Kumulos through an outbox of the app's.
final class OutboxSink: KumulosEventSink {
    private static let destination = "kumulos"

    private let service: DeliveryService<ContinuousClock>
    private let running: Task<Void, Never>
    private let logger: Logger

    /// - Throws: ``OutboxError`` where the file cannot be opened, for instance since the app runs a second time, and
    ///   ``SinkError`` where the address is invalid.
    init(_ config: KSConfig, installID: String, file: URL, logger: Logger) throws {
        var configuration = KumulosConfiguration(
            apiKey: Secret(config.apiKey), secretKey: Secret(config.secretKey), installID: installID)
        if let address = config.eventsAddress {
            guard let url = URL(string: address) else {
                throw SinkError(.invalidURL, "the address of Kumulos' events is not a URL")
            }
            configuration.baseURL = url
        }
        let destination = Destination(name: Self.destination, sink: try KumulosSink(configuration))
        let service = DeliveryService(
            outbox: try Self.open(file, logger: logger), destinations: [destination], logger: logger)
        self.service = service
        self.logger = logger
        running = Task {
            await service.run()
            await service.outbox.close()
            Self.openFiles.withLock { _ = $0.remove(file.path) }
        }
    }

    deinit { running.cancel() }

    /// The files of the outboxes that this process has open.
    private static let openFiles = Locked<Set<String>>([])

    /// The longest time, in hundredths of a second, that the deliveries of an earlier set-up may take to end. They are
    /// cancelled, so that it bounds a hang and no wait.
    private static let longestEnd = 3_000

    /// Opens the outbox. Where the SDK was set up before in this process, those deliveries may still be ending.
    private static func open(_ file: URL, logger: Logger) throws(OutboxError) -> Outbox {
        for _ in 0..<longestEnd {
            guard openFiles.withLock({ $0.contains(file.path) }) else { break }
            usleep(10_000)
        }
        let outbox = try Outbox(file: file, destinations: [destination], logger: logger)
        openFiles.withLock { _ = $0.insert(file.path) }
        return outbox
    }

    func record(_ event: KumulosEvent) throws {
        guard let notification = BeaconNotification(event) else { return }
        try service.appendBlocking(notification)
    }

    /// Moves the events into the outbox that were stored in a file while there was no outbox.
    func take(_ file: JSONLinesSink) {
        do {
            try file.drain { events in for event in events { try record(event) } }
        } catch {
            logger.error(
                "events that were kept in a file wait there for the next launch", metadata: ["error": "\(error)"])
        }
    }
}
