public import BeaconEventStore
public import BeaconModel
import BeaconSupport

/// A notification that waits for a destination or that the destination refused permanently.
public struct QueuedNotification: Hashable, Sendable {
    /// Its position in the order of all events. Each destination receives them in this order.
    public var sequence: Int64

    /// The notification.
    public var notification: BeaconNotification

    /// The number of failed attempts to send it to this destination.
    public var attempts: Int

    /// The reason for the destination's permanent refusal; nil unless it is a dead letter.
    public var refusal: String?

    /// Creates an entry, for tests of sinks.
    ///
    /// - Parameters:
    ///   - sequence: its position in the order of all events.
    ///   - notification: the notification.
    ///   - attempts: the number of failed attempts.
    ///   - refusal: the reason for the refusal, if it is a dead letter.
    public init(sequence: Int64, notification: BeaconNotification, attempts: Int = 0, refusal: String? = nil) {
        self.sequence = sequence
        self.notification = notification
        self.attempts = attempts
        self.refusal = refusal
    }
}

extension EventStoreInspector {
    /// Returns the notifications that a destination refused permanently, oldest first.
    ///
    /// - Parameters:
    ///   - destination: the destination's name.
    ///   - limit: the maximum number to return.
    /// - Throws: ``/BeaconEventStore/EventStoreError`` if the destination does not exist or the file cannot be read.
    public func deadLetters(
        of destination: String, limit: Int = 100
    ) throws(EventStoreError) -> [QueuedNotification] {
        try refused(by: destination, limit: limit).compactMap { entry in
            BeaconNotification(entry.event.event).map {
                QueuedNotification(
                    sequence: entry.event.number, notification: $0, attempts: entry.attempts, refusal: entry.reason)
            }
        }
    }

    /// Returns the notifications that wait for a destination, oldest first.
    ///
    /// - Parameters:
    ///   - destination: the destination's name.
    ///   - limit: the maximum number to return.
    /// - Throws: ``/BeaconEventStore/EventStoreError`` if the destination does not exist or the file cannot be read.
    public func queue(of destination: String, limit: Int = 100) throws(EventStoreError) -> [QueuedNotification] {
        let failures = try consumers().first { $0.name == destination }?.failures ?? 0
        return try waiting(for: destination, limit: limit).enumerated().compactMap { index, event in
            // Only the first one has been tried.
            BeaconNotification(event.event).map {
                QueuedNotification(sequence: event.number, notification: $0, attempts: index == 0 ? failures : 0)
            }
        }
    }

    /// Stores notifications for a process that delivers them. When the call returns, they are on the disk.
    ///
    /// - Throws: ``/BeaconEventStore/EventStoreError`` if the file cannot be written.
    public func append(_ notifications: [BeaconNotification]) throws(EventStoreError) {
        var events: [Event] = []
        for notification in notifications { events.append(try notification.event()) }
        try append(events)
    }
}

extension ConsumerStatus {
    /// Returns whether the destination has failed for more than an hour and needs attention.
    ///
    /// - Parameter now: the time since 1970.
    public func hasFailedForLong(at now: Timestamp) -> Bool {
        failingSince.map { now.since($0) >= DestinationWorker.longFailure.clampedNanoseconds } ?? false
    }
}
