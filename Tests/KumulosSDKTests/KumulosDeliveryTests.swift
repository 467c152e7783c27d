import BeaconDelivery
import BeaconEventStore
import CoreLocation
import Foundation
import KumulosSDK
import TestServer
import TestSupport
import Testing

/// Deliveries to Kumulos. They share the SDK's state, which a process has only once, with the other suite.
extension KumulosTests {
    /// The address of every service of Kumulos.
    private func mapping(_ address: String) -> ServiceUrlMap {
        Dictionary(uniqueKeysWithValues: Service.allCases.map { ($0, address) })
    }

    private func initialize(_ address: String, _ folder: URL) {
        let builder = KSConfigBuilder(apiKey: "key", secretKey: "secret")
        builder.setBaseUrlMapping(baseUrlMap: mapping(address))
        builder.setEventFolder(folder)
        Kumulos.initialize(config: builder.build())
    }

    /// Runs `body` with a temporary folder, which is removed once the SDK has closed its files.
    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kumulos-\(UUID())")
        defer {
            let elsewhere = KSConfigBuilder(apiKey: "", secretKey: "").setEventSink(Memory())
            Kumulos.initialize(config: elsewhere.build())
            try? FileManager.default.removeItem(at: folder)
        }
        try await body(folder)
    }

    @Test("Kumulos receives exactly the same request as from its own SDK")
    func request() async throws {
        try await withFolder { folder in
            try await KumulosStandIn.with { kumulos, address in
                initialize(address, folder)
                let before = Int64(Date().timeIntervalSince1970 * 1000) - 1
                Kumulos.sendiBeaconProximity(beacon: Beacon())
                try await eventually { !kumulos.requests.isEmpty }
                let request = try #require(kumulos.requests.first)
                #expect(request.method == "POST")
                #expect(request.path == "/v1/app-installs/\(Kumulos.installId)/events")
                #expect(request.headers["authorization"] == "Basic a2V5OnNlY3JldA==")
                #expect(request.headers["content-type"] == "application/json")
                #expect(request.headers["accept"] == "application/json")
                let event = try #require(request.events.first)
                #expect(request.events.count == 1)
                #expect(Set(event.keys) == ["type", "uuid", "timestamp", "data", "userId"])
                #expect(event["type"] as? String == "k.engage.beaconEnteredProximity")
                let uuid = try #require(event["uuid"] as? String)
                #expect(UUID(uuidString: uuid) != nil && uuid == uuid.lowercased())
                let timestamp = try #require(event["timestamp"] as? Int64)
                #expect((before...before + 60_000).contains(timestamp))
                #expect(event["userId"] as? String == Kumulos.installId)
                let data = try #require(event["data"] as? NSDictionary)
                #expect(
                    data == [
                        "type": 1, "uuid": "E2C56DB5-0000-0000-0000-000000000001", "major": "100", "minor": "7",
                        "proximity": 2,
                    ] as NSDictionary)
            }
        }
    }

    @Test("Events that Kumulos could not accept wait, even across a launch, and arrive in order with their identifiers")
    func relaunch() async throws {
        try await withFolder { folder in
            try await KumulosStandIn.with { kumulos, address in
                kumulos.answer(503)
                initialize(address, folder)
                Kumulos.associateUserWithInstall(userIdentifier: "ada")
                for _ in 0..<3 { Kumulos.sendiBeaconProximity(beacon: Beacon()) }
                Kumulos.clearUserAssociation()
                try await eventually { !kumulos.requests.isEmpty }
                kumulos.answer(200)
                let failed = kumulos.requests.count
                initialize(address, folder)
                Kumulos.sendiBeaconProximity(beacon: Beacon())
                try await eventually {
                    kumulos.requests.dropFirst(failed).flatMap(\.events).count >= 6
                }
                let events = kumulos.requests.dropFirst(failed).flatMap(\.events)
                var seen: Set<String> = []
                let firsts = events.filter { seen.insert($0["uuid"] as? String ?? "").inserted }
                #expect(
                    firsts.map { $0["userId"] as? String } == Array(repeating: "ada", count: 5) + [Kumulos.installId])
            }
        }
    }

    @Test("Events that the app records in a second process are delivered by the first")
    func secondProcess() async throws {
        try await withFolder { folder in
            try await KumulosStandIn.with { kumulos, address in
                // The other process, which has the event store.
                let destination = Destination(name: "kumulos", sink: Stopped())
                let store = try EventStore(file: folder.appendingPathComponent("kumulos.db"))
                let other = try DeliveryService(store: store, destinations: [destination])
                initialize(address, folder)
                Kumulos.sendiBeaconProximity(beacon: Beacon())
                #expect(try await other.status().map(\.waiting) == [1])
                await store.close()
                // The next process that opens it delivers.
                initialize(address, folder)
                try await eventually { kumulos.requests.flatMap(\.events).count == 1 }
            }
        }
    }

    /// A sink that is never used.
    private struct Stopped: Sink {
        let maximumBatch = 1

        func deliver(_ batch: [QueuedNotification]) async -> [DeliveryOutcome] { [] }
    }

    @Test("An app's custom events reach Kumulos in order with beacon events, even across a launch (C9)")
    func ownEventsDelivered() async throws {
        try await withFolder { folder in
            try await KumulosStandIn.with { kumulos, address in
                kumulos.answer(503)
                initialize(address, folder)
                Kumulos.trackEvent(eventType: "exhibit.opened", properties: ["room": 7])
                Kumulos.sendiBeaconProximity(beacon: Beacon())
                Kumulos.trackEvent(eventType: "empty", properties: nil)
                try await eventually { !kumulos.requests.isEmpty }
                kumulos.answer(200)
                let failed = kumulos.requests.count
                initialize(address, folder)
                try await eventually { kumulos.requests.dropFirst(failed).flatMap(\.events).count >= 3 }
                var seen: Set<String> = []
                let events = kumulos.requests.dropFirst(failed).flatMap(\.events)
                    .filter { seen.insert($0["uuid"] as? String ?? "").inserted }
                #expect(
                    events.map { $0["type"] as? String }
                        == ["exhibit.opened", "k.engage.beaconEnteredProximity", "empty"])
                try #require(events.count == 3)
                #expect(events[0]["data"] as? NSDictionary == ["room": 7] as NSDictionary)
                #expect(events[2]["data"] is NSNull)
                for event in events { #expect(Set(event.keys) == ["type", "uuid", "timestamp", "data", "userId"]) }
            }
        }
    }
}
