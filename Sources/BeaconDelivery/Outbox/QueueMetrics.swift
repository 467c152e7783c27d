import Metrics

/// A destination's counters, as a metrics backend shows them.
struct QueueMetrics {
    private let appended: Counter
    private let delivered: Counter
    private let retried: Counter
    private let parked: Counter
    private let dropped: Counter

    init(destination: String) {
        let dimensions = [("destination", destination)]
        appended = Counter(label: "beacon_delivery_appended_total", dimensions: dimensions)
        delivered = Counter(label: "beacon_delivery_delivered_total", dimensions: dimensions)
        retried = Counter(label: "beacon_delivery_retried_total", dimensions: dimensions)
        parked = Counter(label: "beacon_delivery_parked_total", dimensions: dimensions)
        dropped = Counter(label: "beacon_delivery_dropped_total", dimensions: dimensions)
    }

    func countAppended(_ number: Int) { appended.increment(by: number) }

    func countDropped(_ number: Int) { dropped.increment(by: number) }

    func count(_ resolution: QueueResolution) {
        if !resolution.delivered.isEmpty { delivered.increment(by: resolution.delivered.count) }
        if !resolution.refused.isEmpty { parked.increment(by: resolution.refused.count) }
        if resolution.failure != nil { retried.increment() }
    }
}
