import BeaconSupport
import CoreLocation
import Foundation
import KumulosSDK
import TestSupport
import Testing

@Suite("KumulosSDK", .serialized, .fewAtATime)
struct KumulosTests {
    final class Memory: KumulosEventSink {
        let events = Locked<[KumulosEvent]>([])
        func record(_ event: KumulosEvent) { events.withLock { $0.append(event) } }
    }

    init() { UserDefaults.standard.removeObject(forKey: "KumulosCurrentUserID") }

    /// A beacon as in a ranging report.
    final class Beacon: CLBeacon, @unchecked Sendable {
        override var uuid: UUID { UUID(uuid: (0xE2, 0xC5, 0x6D, 0xB5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)) }
        override var major: NSNumber { 100 }
        override var minor: NSNumber { 7 }
        override var proximity: CLProximity { .near }
    }

    @Test("A beacon's proximity is sent in Kumulos' format")
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

    @Test("An app that sets up push, messages, links and crash reports compiles, and its beacons are still sent")
    @MainActor
    func unavailable() async {
        let memory = Memory()
        let config = KSConfigBuilder(apiKey: "key", secretKey: "secret")
            .enableCrash()
            .enableInAppMessaging(inAppConsentStrategy: .AutoEnroll)
            .setInAppDeepLinkHandler { press in print(press.messageId) }
            .setPushOpenedHandler { notification in print(notification.aps, notification.inAppDeepLink() ?? [:]) }
            .setPushReceivedInForegroundHandler { _, show in show([.alert, .sound]) }
            .enableDeepLinking { resolution in
                if case .linkMatched(let link) = resolution { print(link.url, link.content.title ?? "", link.data) }
            }
            .setSessionIdleTimeout(seconds: 40)
            .setEventSink(memory)
            .build()
        Kumulos.initialize(config: config)
        let status = await withCheckedContinuation { continuation in
            Kumulos.pushRequestDeviceToken { status, _ in continuation.resume(returning: status) }
        }
        #expect(status == .denied)
        Kumulos.pushRequestDeviceToken()
        Kumulos.pushRegister(Data([1]))
        Kumulos.pushTrackOpen(notification: nil)
        Kumulos.pushUnregister()
        Kumulos.logException(
            name: "Oops", reason: "a test", language: "Swift", lineOfCode: "1", stackTrace: [], logAllThreads: false)
        KumulosInApp.updateConsent(forUser: true)
        KumulosInApp.setOnInboxUpdated {}
        #expect(KumulosInApp.getInboxItems().isEmpty && KumulosInApp.markAllInboxItemsAsRead())
        let summary = await withCheckedContinuation { continuation in
            KumulosInApp.getInboxSummaryAsync { continuation.resume(returning: $0) }
        }
        #expect(summary?.totalCount == 0 && summary?.unreadCount == 0)
        Kumulos.sendiBeaconProximity(beacon: Beacon())
        #expect(memory.events.withLock { $0.map(\.type) } == ["k.engage.beaconEnteredProximity"])
    }

    @Test("A user's identifier replaces the installation's, until it is removed")
    func user() {
        let memory = Memory()
        Kumulos.initialize(config: KSConfigBuilder(apiKey: "key", secretKey: "secret").setEventSink(memory).build())
        Kumulos.associateUserWithInstall(userIdentifier: "ada")
        Kumulos.sendiBeaconProximity(beacon: Beacon())
        Kumulos.clearUserAssociation()
        Kumulos.sendiBeaconProximity(beacon: Beacon())
        Kumulos.clearUserAssociation()
        let events = memory.events.withLock { $0 }
        #expect(events.map(\.userId) == ["ada", "ada", "ada", Kumulos.installId, Kumulos.installId])
        #expect(
            events.filter { $0.type.hasPrefix("k.stats") }.map { "\($0.type) \(json($0) ?? "")" } == [
                #"k.stats.userAssociated {"id":"ada"}"#,
                #"k.stats.userAssociationCleared {"oldUserIdentifier":"ada"}"#,
                #"k.stats.userAssociationCleared {"oldUserIdentifier":null}"#,
            ])
    }

    @Test("The installation and its user are on the disk for the next launch")
    func launches() throws {
        // Where Foundation keeps the defaults of this program.
        let environment = ProcessInfo.processInfo.environment
        let folder = environment["XDG_CONFIG_HOME"] ?? "\(NSHomeDirectory())/.config"
        func kept() throws -> [String: String] {
            let file = URL(fileURLWithPath: "\(folder)/\(ProcessInfo.processInfo.processName).plist")
            let values = try PropertyListSerialization.propertyList(from: Data(contentsOf: file), format: nil)
            return try #require(values as? [String: Any]).compactMapValues { $0 as? String }
        }
        Kumulos.associateUserWithInstall(userIdentifier: "ada")
        #expect(try kept()["KumulosCurrentUserID"] == "ada" && kept()["KumulosUUID"] == Kumulos.installId)
        Kumulos.clearUserAssociation()
        #expect(try kept()["KumulosCurrentUserID"] == nil)
        // A launch finds what an earlier one left.
        UserDefaults.standard.set("tom", forKey: "KumulosCurrentUserID")
        #expect(Kumulos.currentUserIdentifier == "tom")
    }

    @Test("An event has Kumulos' keys as JSON")
    func keys() throws {
        let memory = memory()
        Kumulos.sendiBeaconProximity(beacon: Beacon())
        let event = try #require(memory.events.withLock { $0.first })
        let object = try #require(
            JSONSerialization.jsonObject(with: JSONEncoder().encode(event)) as? [String: Any])
        #expect(Set(object.keys) == ["type", "uuid", "timestamp", "data", "userId"])
        let data = try #require(object["data"] as? [String: Any])
        #expect(data["major"] as? String == "100")
        #expect(data["proximity"] as? Int == 2)
    }

    /// Initializes the SDK with a sink that keeps events in memory.
    private func memory() -> Memory {
        let memory = Memory()
        Kumulos.initialize(config: KSConfigBuilder(apiKey: "key", secretKey: "secret").setEventSink(memory).build())
        return memory
    }

    /// The properties of an event as JSON, with sorted keys.
    private func json(_ event: KumulosEvent) -> String? { event.data.json.map { String(decoding: $0, as: UTF8.self) } }

    @Test("An app's custom events have only values that JSON can represent (C9)")
    func ownEvents() throws {
        let memory = memory()
        Kumulos.trackEvent(
            eventType: "exhibit.opened",
            properties: [
                "name": "Sunflowers", "room": 7, "lit": true, "stay": 1.5, "tags": ["a", "b"], "by": ["x": 1],
            ])
        Kumulos.trackEvent(eventType: "empty", properties: nil)
        Kumulos.trackEventImmediately(eventType: "at.once", properties: [:])
        Kumulos.trackEvent(eventType: "", properties: nil)
        Kumulos.trackEvent(eventType: "no.json", properties: ["when": Date(), "what": Self.self])
        let events = memory.events.withLock { $0 }
        #expect(events.map(\.type) == ["exhibit.opened", "empty", "at.once"])
        try #require(events.count == 3)
        #expect(
            json(events[0])
                == #"{"by":{"x":1},"lit":true,"name":"Sunflowers","room":7,"stay":1.5,"tags":["a","b"]}"#)
        #expect(json(events[1]) == nil)
        #expect(json(events[2]) == "{}")
    }

    @Test("A position is sent in Kumulos' format (C9)")
    func location() throws {
        let memory = memory()
        Kumulos.sendLocationUpdate(location: CLLocation(latitude: 52.5, longitude: -13.25))
        let event = try #require(memory.events.withLock { $0.first })
        #expect(event.type == "k.engage.locationUpdated")
        #expect(json(event) == #"{"lat":52.5,"lng":-13.25}"#)
    }

    @Test("A user's attributes are sent with the association, and the app can read the user (C9)")
    func attributes() throws {
        let memory = memory()
        Kumulos.clearUserAssociation()
        #expect(Kumulos.currentUserIdentifier == Kumulos.installId)
        #expect(Kumulos.apiKey == "key" && Kumulos.secretKey == "secret")
        Kumulos.associateUserWithInstall(
            userIdentifier: "ada", attributes: ["age": NSNumber(value: 36), "name": NSString(string: "Ada")])
        #expect(Kumulos.currentUserIdentifier == "ada")
        Kumulos.associateUserWithInstall(userIdentifier: "", attributes: [:])
        Kumulos.associateUserWithInstall(userIdentifier: "")
        #expect(Kumulos.currentUserIdentifier == "ada")
        Kumulos.clearUserAssociation()
        #expect(Kumulos.currentUserIdentifier == Kumulos.installId)
        let events = memory.events.withLock { $0 }
        #expect(
            events.map(\.type) == [
                "k.stats.userAssociationCleared", "k.stats.userAssociated", "k.stats.userAssociationCleared",
            ])
        let event = events[1]
        #expect(event.userId == "ada")
        #expect(json(event) == #"{"attributes":{"age":36,"name":"Ada"},"id":"ada"}"#)
    }
}
