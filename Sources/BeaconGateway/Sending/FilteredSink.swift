import BeaconDelivery

/// A sink that hears of its regions alone.
struct FilteredSink: Sink {
    let sink: any Sink
    let filter: DestinationFilter

    var maximumBatch: Int { sink.maximumBatch }

    func wants(_ notification: BeaconNotification) -> Bool { filter.wants(notification) && sink.wants(notification) }

    func deliver(_ batch: [OutboxEntry]) async -> [DeliveryOutcome] {
        await sink.deliver(
            batch.map { entry in
                var entry = entry
                entry.notification = filter.apply(to: entry.notification)
                return entry
            })
    }

    func run() async { await sink.run() }
}
