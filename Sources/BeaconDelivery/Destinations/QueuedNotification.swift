public import BeaconEventStore
public import BeaconModel
import BeaconSupport

/// A notification that waits for a destination or that the destination refused permanently.
public struct QueuedNotification: Hashable, Sendable {
    /// Its position in the order of all events. Each destination receives them in this order.
    public var sequence: Int64

    /// The event, with its JSON as it is stored.
    package var event: Event

    /// The notification, which each access decodes.
    public var notification: BeaconNotification {
        BeaconNotification(decoding: event)
            ?? BeaconNotification(id: event.id, kind: .init(rawValue: event.kind), time: event.time)
    }

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
        let (id, kind, time) = (notification.id, notification.kind.rawValue, notification.time)
        event = (try? notification.event()) ?? Event(id: id, time: time, kind: kind)
        (self.sequence, self.attempts, self.refusal) = (sequence, attempts, refusal)
    }

    init(_ stored: StoredEvent, _ attempts: Int, _ refusal: String? = nil) {
        (sequence, event, self.attempts, self.refusal) = (stored.number, stored.event, attempts, refusal)
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
        try refused(by: destination, limit: limit).map { QueuedNotification($0.event, $0.attempts, $0.reason) }
    }

    /// Returns the notifications that wait for a destination, oldest first.
    ///
    /// - Parameters:
    ///   - destination: the destination's name.
    ///   - limit: the maximum number to return.
    /// - Throws: ``/BeaconEventStore/EventStoreError`` if the destination does not exist or the file cannot be read.
    public func queue(of destination: String, limit: Int = 100) throws(EventStoreError) -> [QueuedNotification] {
        let failures = try consumers().first { $0.name == destination }?.failures ?? 0
        return try waiting(for: destination, limit: limit).enumerated().map { index, event in
            // Only the first one has been tried.
            QueuedNotification(event, index == 0 ? failures : 0)
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
