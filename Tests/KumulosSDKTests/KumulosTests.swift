import BeaconRadio
import BeaconService
import CoreLocation
import Foundation
import KumulosSDK
import Testing

@Suite("KumulosSDK", .serialized)
struct KumulosTests {
    final class Memory: KumulosEventSink {
        let events = Locked<[KumulosEvent]>([])
        func record(_ event: KumulosEvent) { events.withLock { $0.append(event) } }
    }

    /// A beacon as ranging would give it.
    final class Beacon: CLBeacon {
        override var uuid: UUID { UUID(uuid: (0xE2, 0xC5, 0x6D, 0xB5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)) }
        override var major: NSNumber { 100 }
        override var minor: NSNumber { 7 }
        override var proximity: CLProximity { .near }
    }

    @Test("A beacon's nearness is told in Kumulos' form")
    func form() throws {
        let memory = Memory()
        Kumulos.initialize(config: KSConfigBuilder(apiKey: "key", secretKey: "secret").setEventSink(memory).build())
        let before = Int64(Date().timeIntervalSince1970 * 1000) - 1
        Kumulos.sendiBeaconProximity(beacon: Beacon())
        let event = try #require(memory.events.withLock { $0.first })
        #expect(event.type == "k.engage.beaconEnteredProximity")
        #expect(event.data.type == 1)
        #expect(event.data.uuid == "E2C56DB5-0000-0000-0000-000000000001")
        #expect(event.data.major == "100")
        #expect(event.data.minor == "7")
        #expect(event.data.proximity == 2)
        #expect(event.uuid == event.uuid.lowercased() && UUID(uuidString: event.uuid) != nil)
        #expect(event.timestamp >= before)
        #expect(event.userId == Kumulos.installId)
        #expect(UUID(uuidString: Kumulos.installId) != nil)
    }

    @Test("A user's name takes the place of the installation's, and goes again")
    func user() {
        let memory = Memory()
        Kumulos.initialize(config: KSConfigBuilder(apiKey: "key", secretKey: "secret").setEventSink(memory).build())
        Kumulos.associateUserWithInstall(userIdentifier: "ada")
        Kumulos.sendiBeaconProximity(beacon: Beacon())
        Kumulos.clearUserAssociation()
        Kumulos.sendiBeaconProximity(beacon: Beacon())
        #expect(memory.events.withLock { $0.map(\.userId) } == ["ada", Kumulos.installId])
    }

    @Test("Events are kept as lines of JSON with Kumulos' keys")
    func lines() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())/events.ndjson")
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        Kumulos.initialize(
            config: KSConfigBuilder(apiKey: "key", secretKey: "secret").setEventSink(JSONLinesSink(file: file)).build())
        Kumulos.sendiBeaconProximity(beacon: Beacon())
        Kumulos.sendiBeaconProximity(beacon: Beacon())
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 2)
        let object = try #require(
            JSONSerialization.jsonObject(with: Data(lines[0].utf8)) as? [String: Any])
        #expect(Set(object.keys) == ["type", "uuid", "timestamp", "data", "userId"])
        let data = try #require(object["data"] as? [String: Any])
        #expect(data["major"] as? String == "100")
        #expect(data["proximity"] as? Int == 2)
    }
}
