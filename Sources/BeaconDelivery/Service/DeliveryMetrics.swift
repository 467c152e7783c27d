import BeaconEventStore
import BeaconModel
import BeaconSupport
import Metrics

/// The destinations' counters in the metrics backend, counted since the service was created.
final class DeliveryMetrics: Sendable {
    private let factory: any MetricsFactory
    private let known: Locked<[String: ConsumerStatus]>

    /// - Parameter statuses: the counts at the start.
    init(_ factory: any MetricsFactory, since statuses: [ConsumerStatus]) {
        self.factory = factory
        known = Locked(Dictionary(statuses.map { ($0.name, $0) }, uniquingKeysWith: { $1 }))
    }

    /// Adds a destination's changes since the last call.
    func update(_ status: ConsumerStatus) {
        let before = known.withLock { known in
            defer { known[status.name] = status }
            return known[status.name]
        }
        let old = before ?? ConsumerStatus(name: status.name)
        let dimensions = [("destination", status.name)]
        let gains = [
            ("appended", status.appended - old.appended), ("delivered", status.handled - old.handled),
            ("retried", status.retried - old.retried), ("dead_letters", status.refused - old.refused),
            ("dropped", status.dropped - old.dropped),
        ]
        for (name, gain) in gains where gain > 0 || before == nil {
            Counter(label: "beacon_delivery_\(name)_total", dimensions: dimensions, factory: factory)
                .increment(by: max(gain, 0))
        }
        if status.failingSince != old.failingSince || before == nil {
            Gauge(label: "beacon_delivery_failing_since_seconds", dimensions: dimensions, factory: factory)
                .record(status.failingSince?.seconds ?? 0)
        }
    }
}
