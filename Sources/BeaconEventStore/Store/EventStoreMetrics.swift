import Metrics

/// The store's counters and gauges in the metrics backend.
struct EventStoreMetrics: Sendable {
    private let factory: any MetricsFactory
    private let stored: Counter
    private let failing: Gauge

    init(_ factory: any MetricsFactory) {
        self.factory = factory
        stored = Counter(label: "beacon_event_store_events_total", factory: factory)
        failing = Gauge(label: "beacon_event_store_failing_since_seconds", factory: factory)
    }

    func countStored(_ count: Int) { stored.increment(by: count) }

    func countDropped(_ count: Int, kind: String) {
        counter("beacon_event_store_dropped_total", ("kind", kind)).increment(by: count)
    }

    func countSkipped(_ count: Int, consumer: String) {
        counter("beacon_event_store_skipped_total", ("consumer", consumer)).increment(by: count)
    }

    func countRefused(consumer: String) {
        counter("beacon_event_store_refused_total", ("consumer", consumer)).increment()
    }

    func countRetried(consumer: String) {
        counter("beacon_event_store_retried_total", ("consumer", consumer)).increment()
    }

    func setFailing(since seconds: Double) { failing.record(seconds) }

    /// These are rare, so that none is kept: a backend returns the same counter for the same label.
    private func counter(_ label: String, _ dimension: (String, String)) -> Counter {
        Counter(label: label, dimensions: [dimension], factory: factory)
    }
}
