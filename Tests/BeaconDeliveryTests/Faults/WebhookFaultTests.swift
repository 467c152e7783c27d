import BeaconDelivery
import BeaconEventStore
import BeaconSupport
import Foundation
import TestServer
import TestSupport
import Testing

/// Faults of a backend, each with a real server. Afterwards all notifications must have arrived, in order.
@Suite("Webhook faults", .fewAtATime)
struct WebhookFaultTests {
    /// Delivers ten events while the server has a fault for its first requests.
    ///
    /// - Returns: The events in the order of arrival, the queue's status afterwards, and the idempotency keys.
    private func deliver(
        timeout: Duration = .hang, fault: @escaping @Sendable (Int) -> ServerReply?
    ) async throws -> (minors: [Int], status: ConsumerStatus, names: Set<String>) {
        let count = Locked(0)
        let result = Locked<(minors: [Int], status: ConsumerStatus, names: Set<String>)?>(nil)
        try await HTTPTestServer.with(replies: { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return fault(number) ?? .status(200)
        }) { server in
            var settings = HTTPSettings()
            settings.requestTimeout = timeout
            let sink = try WebhookSink(WebhookSettings(url: try server.url(), http: settings))
            let bench = try DeliveryBench([Destination(name: "hook", sink: sink)])
            try await bench.service.append((1...10).map { Samples.proximity($0) })
            try await bench.running {
                try await bench.pass {
                    let status = try await bench.status("hook")
                    return status.handled + status.deadLetters == 10
                }
            }
            let status = try await bench.status("hook")
            let requests = server.requests
            result.withLock {
                $0 = (
                    requests.compactMap(\.minor), status, Set(requests.compactMap { $0.headers["idempotency-key"] })
                )
            }
        }
        return try #require(result.withLock { $0 })
    }

    @Test("No answer: the request times out and is sent again")
    func hangs() async throws {
        let (minors, status, _) = try await deliver(timeout: .seconds(3)) { $0 == 2 ? .silence : nil }
        #expect(minors.starts(with: [1, 2, 2]))
        #expect(minors == minors.sorted() && Set(minors) == Set(1...10))
        #expect(status.retried >= 1 && status.handled == 10)
    }

    @Test("The connection breaks during the response: the notification is sent again")
    func breaksOff() async throws {
        let (minors, status, names) = try await deliver { $0 == 5 ? .breakOff : nil }
        #expect(minors == [1, 2, 3, 4, 5, 5, 6, 7, 8, 9, 10])
        #expect(status.retried == 1)
        #expect(names.count == 10)
    }
}
