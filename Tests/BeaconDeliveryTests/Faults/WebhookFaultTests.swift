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
    /// A webhook with time-outs that a test can wait for.
    private func destination(_ url: URL, timeout: Duration = .hang) throws -> Destination {
        var settings = HTTPSettings()
        settings.requestTimeout = timeout
        return Destination(name: "hook", sink: try WebhookSink(WebhookSettings(url: url, http: settings)))
    }

    /// Delivers ten events while the server has a fault for its first requests.
    ///
    /// - Returns: The events in the order of arrival, and the queue's status afterwards.
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
            let bench = try DeliveryBench([try destination(server.url(), timeout: timeout)])
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

    @Test("500 for a while: the notification is sent again with the same id until it is accepted")
    func serverError() async throws {
        let (minors, status, names) = try await deliver { (3...6).contains($0) ? .status(500) : nil }
        #expect(minors == [1, 2, 3, 3, 3, 3, 3, 4, 5, 6, 7, 8, 9, 10])
        #expect(status.retried == 4 && status.handled == 10 && status.deadLetters == 0)
        #expect(names.count == 10)
    }

    @Test("400 is a permanent refusal: the notification becomes a dead letter and delays no others")
    func badRequest() async throws {
        let (minors, status, _) = try await deliver { $0 == 4 ? .status(400, body: "what is this?") : nil }
        #expect(minors == Array(1...10))
        #expect(status.handled == 9 && status.deadLetters == 1 && status.retried == 0)
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

    @Test("429 with Retry-After: no request is sent for the requested time, in virtual time")
    func tooMany() async throws {
        let clock = VirtualClock()
        let times = Locked<[Duration]>([])
        try await HTTPTestServer.with(replies: { _ in
            let now = clock.now.offset
            return times.withLock { times in
                times.append(now)
                return times.count == 2 ? .status(429, headers: ["Retry-After": "1800"]) : .status(200)
            }
        }) { server in
            let bench = try DeliveryBench([try destination(server.url())], clock: clock)
            try await bench.service.append((1...3).map { Samples.proximity($0) })
            try await bench.running {
                try await bench.pass { try await bench.status("hook").handled == 3 }
            }
            #expect(server.requests.compactMap(\.minor) == [1, 2, 2, 3])
        }
        let seen = times.withLock { $0 }
        try #require(seen.count > 2)
        #expect(seen[2] - seen[1] >= .seconds(1_800) && seen[2] - seen[1] <= .seconds(1_802))
    }

    @Test("No server for an hour of virtual time: then everything arrives in order, after few attempts")
    func awayForAnHour() async throws {
        // A port that was just released is certainly free.
        let scout = HTTPTestServer()
        try await scout.start()
        let port = scout.port
        await scout.stop()

        let server = HTTPTestServer()
        let url = try #require(URL(string: "http://127.0.0.1:\(port)/hook"))
        let clock = VirtualClock()
        let bench = try DeliveryBench([try destination(url)], clock: clock)
        do {
            try await bench.running {
                var next: UInt16 = 1
                try await bench.pass {
                    // There is one event each minute.
                    while next <= 60, clock.now.offset >= .seconds(Int(next) * 60) {
                        try await bench.service.append([Samples.proximity(next)])
                        next += 1
                    }
                    return clock.now.offset >= .seconds(3_600)
                } sleepers: {
                    next == 1 ? 1 : 2
                }
                let away = try await bench.status("hook")
                #expect(away.handled == 0 && away.waiting == 60)
                #expect(away.failures > 8 && away.failures < 400, "\(away.failures) attempts in an hour")
                #expect(away.lastError != nil)

                try await server.start(port: port)
                try await bench.pass { try await bench.status("hook").handled == 60 }
            }
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
        #expect(server.requests.compactMap(\.minor) == Array(1...60))
        #expect(try await bench.status("hook").failures == 0)
    }
}
