/// A notification on its way into the outbox, and the queues that it is for.
struct EncodedAppending: Sendable {
    let notification: EncodedNotification
    let destinations: [String]

    init(_ appending: Appending) throws(OutboxError) {
        notification = try EncodedNotification(appending.notification)
        destinations = appending.destinations
    }
}
