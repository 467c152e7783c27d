import BeaconEventStore
import BeaconGateway
import BeaconSupport

/// The rows and bytes of the event store, with their limits, as JSON.
struct StoreValue: Encodable {
    /// A part's rows and bytes, with the limits of both.
    struct Part: Encodable, Sendable {
        var rows: Int
        var bytes: Int
        var maximumRows: Int
        var maximumBytes: Int
        /// In seconds.
        @Nullable var age: Double?
        @Nullable var largestSender: Int?
        @Nullable var maximumRowsPerSender: Int?

        init(_ part: EventStoreUsage.Part) {
            (rows, bytes, maximumRows, maximumBytes) = (part.rows, part.bytes, part.maximumRows, part.maximumBytes)
            age = part.age.map { $0 / .seconds(1) }
            (largestSender, maximumRowsPerSender) = (part.largestSender, part.maximumRowsPerSender)
        }
    }

    var events: Part
    var memory: Part
    var consumers: [String: Part]
    var state: [String: Part]
    var fileBytes: Int
    @Nullable var maximumFileBytes: Int?

    init(_ usage: EventStoreUsage) {
        (events, memory) = (Part(usage.events), Part(usage.memory))
        (consumers, state) = (usage.consumers.mapValues { Part($0) }, usage.state.mapValues { Part($0) })
        (fileBytes, maximumFileBytes) = (usage.fileBytes, usage.maximumFileBytes)
    }
}
