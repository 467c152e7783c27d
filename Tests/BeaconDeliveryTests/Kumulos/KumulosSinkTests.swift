import BeaconDelivery
import BeaconEventStore
import BeaconModel
import BeaconSupport
import Foundation
import TestServer
import TestSupport
import Testing

@Suite("Kumulos sink", .fewAtATime)
struct KumulosSinkTests {
    private func sink(_ server: HTTPTestServer) throws -> KumulosSink {
        try KumulosSink(
            KumulosSettings(
                apiKey: Secret("key"), secretKey: Secret("secret"), installID: "3C9C4E2E-5F43-4D2B-8C55-2E2B1C0A7B11",
                baseURL: try server.url("")))
    }

    @Test("Kumulos receives the same request as from its own SDK, byte for byte in the relevant parts")
    func form() async throws {
        try await HTTPTestServer.with { server in
            var withUser = Samples.proximity(9, .immediate)
            withUser.user = "ada"
            let outcomes = try await sink(server).deliver([
                QueuedNotification(sequence: 1, notification: Samples.proximity(7)),
                QueuedNotification(sequence: 2, notification: withUser),
            ])
            #expect(outcomes == [.delivered, .delivered])
            let request = try #require(server.requests.first)
            #expect(server.requests.count == 1)
            #expect(request.method == "POST")
            #expect(request.path == "/v1/app-installs/3C9C4E2E-5F43-4D2B-8C55-2E2B1C0A7B11/events")
            #expect(request.headers["authorization"] == "Basic a2V5OnNlY3JldA==")
            #expect(request.headers["content-type"] == "application/json")
            #expect(request.headers["accept"] == "application/json")
            let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
            let expected: [[String: Any]] = [
                [
                    "type": "k.engage.beaconEnteredProximity", "uuid": Samples.proximity(7).id.description,
                    "timestamp": 1_700_000_000_007, "userId": "3C9C4E2E-5F43-4D2B-8C55-2E2B1C0A7B11",
                    "data": ["type": 1, "uuid": uuid, "major": "1", "minor": "7", "proximity": 2],
                ],
                [
                    "type": "k.engage.beaconEnteredProximity", "uuid": withUser.id.description,
                    "timestamp": 1_700_000_000_009, "userId": "ada",
                    "data": ["type": 1, "uuid": uuid, "major": "1", "minor": "9", "proximity": 1],
                ],
            ]
            #expect(request.json as? NSArray == expected as NSArray)
        }
    }

    @Test("250 events arrive in batches of 100, oldest first, each after the answer to the previous one")
    func batches() async throws {
        try await HTTPTestServer.with { server in
            let bench = try DeliveryBench([Destination(name: "kumulos", sink: try sink(server))])
            try await bench.service.append((1...250).map { Samples.proximity($0) })
            try await bench.running { try await eventually { try await bench.status("kumulos").handled == 250 } }
            let batches = server.requests.map { ($0.json as? [[String: Any]] ?? []).compactMap { Self.minor($0) } }
            #expect(batches.map(\.count) == [100, 100, 50])
            #expect(batches.flatMap { $0 } == (1...250).map { "\($0)" })
        }
    }

    @Test("Kumulos receives only proximity changes")
    func wants() async throws {
        try await HTTPTestServer.with { server in
            let destination = Destination(name: "kumulos", sink: try sink(server))
            #expect(destination.wants(Samples.proximity(1)))
            #expect(!destination.wants(Samples.enter(1)))
            #expect(!destination.wants(Samples.heartbeat(1)))
            // If a rule selects it for other kinds, these are refused and delay no others.
            let bench = try DeliveryBench([destination])
            let all = [Samples.proximity(1), Samples.enter(2), Samples.enter(3), Samples.proximity(4)]
            try await bench.store.append(Step(all.compactMap { try bench.service.event($0, for: ["kumulos"]) }))
            try await bench.running { try await eventually { try await bench.status("kumulos").waiting == 0 } }
            let status = try await bench.status("kumulos")
            #expect(status.handled == 2 && status.deadLetters == 2)
        }
    }

    @Test("A failure keeps the whole batch; an event that Kumulos refuses does not affect the others")
    func faults() async throws {
        let count = Locked(0)
        try await HTTPTestServer.with(replies: { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 1 { return .status(500) }
            let minors = (request.json as? [[String: Any]] ?? []).compactMap { Self.minor($0) }
            return minors.contains("31") ? .status(422) : .status(200)
        }) { server in
            let bench = try DeliveryBench([Destination(name: "kumulos", sink: try sink(server))])
            try await bench.service.append((1...100).map { Samples.proximity($0) })
            try await bench.running {
                try await bench.pass {
                    let status = try await bench.status("kumulos")
                    return status.handled == 99 && status.deadLetters == 1
                }
            }
            let deadLetters = try EventStoreInspector(file: bench.store.file).deadLetters(of: "kumulos")
            #expect(deadLetters.compactMap(\.notification.beacon?.minor) == [31])
            #expect(try await bench.status("kumulos").retried == 1)
        }
    }

    private static func minor(_ event: [String: Any]) -> String? {
        (event["data"] as? [String: Any])?["minor"] as? String
    }
}
