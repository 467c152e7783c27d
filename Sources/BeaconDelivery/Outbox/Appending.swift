/// A notification and the queues that it is for.
struct Appending: Sendable {
    var notification: BeaconNotification
    var destinations: [String]
}
