import Foundation

/// A notification on its way into the outbox.
struct EncodedNotification: Sendable {
    let id: NotificationID
    let isHeartbeat: Bool
    let record: Data

    init(_ notification: BeaconNotification) throws(OutboxError) {
        id = notification.id
        isHeartbeat = notification.kind == .heartbeat
        do {
            record = try OutboxRecord.encode(notification)
        } catch {
            throw OutboxError(.cannotWrite, "the notification \(notification.id) cannot be written as JSON: \(error)")
        }
        guard record.count <= OutboxRecord.maximumLength else {
            throw OutboxError(
                .cannotWrite,
                "the notification \(notification.id) has \(record.count) bytes, more than can be kept. Have heartbeats "
                    + "list fewer beacons")
        }
    }

    /// The name as the 16 bytes that are the key of its row.
    var idBytes: Data { NotificationKey.bytes(of: id) }
}
