import BeaconDelivery
import BeaconEventStore
import BeaconGateway
import CoreMetrics
import HTTPTypes
import Hummingbird
import NIOCore

/// The route of the metrics.
struct MetricsRoutes: Sendable {
    let gateway: Gateway
    let delivery: DeliveryService<ContinuousClock>?
    let broadcast: EventBroadcast
    let store: EventStore
    let places: ConnectionPlaces

    func add(to router: RouterGroup<WebContext>) {
        router.respond(.get, "metrics") { _, _ in
            let text = await gatewayMetrics() + PrometheusMetrics.shared.text()
            return Response(
                status: .ok,
                headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8", .cacheControl: "no-store"],
                body: .init(byteBuffer: ByteBuffer(string: text)))
        }
    }

    /// Returns the gateway's own metrics.
    private func gatewayMetrics() async -> String {
        let metrics = PrometheusMetrics()
        for source in await gateway.sourceValues {
            let labels = [("source", source.name)]
            metrics.makeCounter(label: "beacon_source_packets_total", dimensions: labels).increment(
                by: Int64(source.packets))
            metrics.makeCounter(label: "beacon_source_beacons_total", dimensions: labels).increment(
                by: Int64(source.beacons))
            metrics.makeMeter(label: "beacon_source_running", dimensions: labels).set(
                Int64(source.state == "running" ? 1 : 0))
        }
        metrics.makeCounter(label: "beacon_forged_tags_total", dimensions: []).increment(
            by: Int64(await gateway.forgedTagCount))
        for receiver in await gateway.receiverValues {
            let labels = [("receiver", receiver.name), ("source", receiver.source)]
            metrics.makeMeter(label: "beacon_receiver_hearing", dimensions: labels)
                .set(Int64(receiver.hearing == "hearing" ? 1 : 0))
            metrics.makeMeter(label: "beacon_receiver_adverts_per_second", dimensions: labels).set(
                receiver.advertsPerSecond)
        }
        // An unknown region has no value, since an outage is not an exit.
        for region in await gateway.regionValues where region.state != "unknown" {
            metrics.makeMeter(label: "beacon_region_inside", dimensions: [("region", region.name)])
                .set(Int64(region.state == "inside" ? 1 : 0))
        }
        for queue in (try? await delivery?.status()) ?? [] {
            let labels = [("destination", queue.name)]
            metrics.makeMeter(label: "beacon_delivery_waiting", dimensions: labels).set(Int64(queue.waiting))
            metrics.makeMeter(label: "beacon_delivery_dead_letters", dimensions: labels).set(Int64(queue.deadLetters))
        }
        let usage = store.usage
        let parts =
            [("events", "", usage.events), ("memory", "", usage.memory)]
            + usage.consumers.map { ("consumer", $0, $1) } + usage.state.map { ("state", $0, $1) }
        for (part, name, value) in parts {
            let labels = [("part", part), ("name", name)]
            for (label, number) in [
                ("rows", value.rows), ("bytes", value.bytes), ("limit_rows", value.maximumRows),
                ("limit_bytes", value.maximumBytes),
            ] { metrics.makeMeter(label: "beacon_event_store_\(label)", dimensions: labels).set(Int64(number)) }
            if let largest = value.largestSender, let most = value.maximumRowsPerSender {
                metrics.makeMeter(label: "beacon_event_store_sender_rows", dimensions: labels).set(Int64(largest))
                metrics.makeMeter(label: "beacon_event_store_limit_sender_rows", dimensions: labels).set(Int64(most))
            }
            if let age = value.age {
                metrics.makeMeter(label: "beacon_event_store_limit_seconds", dimensions: labels)
                    .set(age / .seconds(1))
            }
        }
        metrics.makeMeter(label: "beacon_event_store_file_bytes", dimensions: []).set(Int64(usage.fileBytes))
        metrics.makeMeter(label: "beacon_console_listeners", dimensions: []).set(Int64(broadcast.count))
        let connections = places.counts
        metrics.makeMeter(label: "beacon_console_connections", dimensions: []).set(Int64(connections.open))
        for (name, count) in [
            ("connections_refused", connections.refused), ("clients_too_slow", connections.tooSlow),
        ] {
            metrics.makeCounter(label: "beacon_console_\(name)_total", dimensions: []).increment(by: Int64(count))
        }
        return metrics.text()
    }
}
