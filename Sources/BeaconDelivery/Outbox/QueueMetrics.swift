import Metrics

/// A destination's counters, as a metrics backend shows them.
struct QueueMetrics {
    private let appended: Counter
    private let delivered: Counter
    private let retried: Counter
    private let parked: Counter
    private let dropped: Counter

    init(destination: String, factory: any MetricsFactory) {
        let dimensions = [("destination", destination)]
        appended = Counter(label: "beacon_delivery_appended_total", dimensions: dimensions, factory: factory)
        delivered = Counter(label: "beacon_delivery_delivered_total", dimensions: dimensions, factory: factory)
        retried = Counter(label: "beacon_delivery_retried_total", dimensions: dimensions, factory: factory)
        parked = Counter(label: "beacon_delivery_parked_total", dimensions: dimensions, factory: factory)
        dropped = Counter(label: "beacon_delivery_dropped_total", dimensions: dimensions, factory: factory)
    }

    func countAppended(_ number: Int) { appended.increment(by: number) }

    func countDropped(_ number: Int) { dropped.increment(by: number) }

    func count(_ resolution: QueueResolution) {
        if !resolution.delivered.isEmpty { delivered.increment(by: resolution.delivered.count) }
        if !resolution.refused.isEmpty { parked.increment(by: resolution.refused.count) }
        if resolution.failure != nil { retried.increment() }
    }
}
