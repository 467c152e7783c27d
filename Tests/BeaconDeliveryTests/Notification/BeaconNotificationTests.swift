import BeaconDelivery
import BeaconModel
import Foundation
import Testing

@Suite("Beacon notification")
struct BeaconNotificationTests {
    @Test("Each kind of notification survives encoding as JSON")
    func roundTrip() throws {
        var full = Samples.heartbeat(3)
        full.presence = [
            BeaconNotification.Presence(
                region: Samples.shop, state: .inside,
                beacons: [
                    BeaconNotification.PresentBeacon(
                        identity: BeaconIdentity(uuid: Samples.uuid, major: 1, minor: 2), proximity: .immediate,
                        accuracy: 0.25, rssi: nil, receiver: "hci0")
                ], unlisted: 4)
        ]
        var narrow = Samples.enter(4)
        narrow.region = BeaconNotification.Region(
            name: "till", constraint: BeaconConstraint(uuid: Samples.uuid, major: 7, minor: 9))
        narrow.measuredPower = -59
        narrow.user = "ada"
        for notification in [Samples.proximity(1), Samples.enter(2), full, narrow] {
            let data = try JSONEncoder().encode(notification)
            #expect(try JSONDecoder().decode(BeaconNotification.self, from: data) == notification)
        }
    }

    @Test("The JSON has a beacon's name and its distance in centimeters", arguments: [Double.infinity, .nan, 1e308])
    func namedBeacon(none: Double) throws {
        var notification = Samples.proximity(1)
        notification.beaconName = "Ann's keys"
        notification.accuracy = 50.118723362727216
        let decoded = try JSONDecoder().decode(
            BeaconNotification.self, from: JSONEncoder().encode(notification))
        #expect(decoded.beacon == notification.beacon && decoded.beaconName == "Ann's keys")
        #expect(decoded.accuracy == 50.12)
        let json = try #require(
            try JSONSerialization.jsonObject(with: JSONEncoder().encode(notification)) as? [String: Any])
        #expect((json["beacon"] as? [String: Any])?["name"] as? String == "Ann's keys")
        notification.accuracy = none
        #expect(
            try JSONDecoder().decode(BeaconNotification.self, from: JSONEncoder().encode(notification)).accuracy == -1)
    }

    @Test("The JSON has the keys and values of the command line's JSON")
    func bytes() throws {
        var enter = Samples.enter(2)
        enter.region = BeaconNotification.Region(
            name: "till", constraint: BeaconConstraint(uuid: Samples.uuid, major: 7, minor: 9))
        var heartbeat = Samples.heartbeat(3)
        heartbeat.presence = [
            BeaconNotification.Presence(
                region: Samples.shop, state: .inside,
                beacons: [
                    BeaconNotification.PresentBeacon(
                        identity: BeaconIdentity(uuid: Samples.uuid, major: 1, minor: 2), proximity: .immediate,
                        accuracy: 0.25, rssi: nil, receiver: "hci0")
                ], unlisted: 4)
        ]
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(
            String(decoding: try encoder.encode(enter), as: UTF8.self)
                == #"{"id":"018bcfe5-6802-7000-8000-000000000002","kind":"enter","receiver":"hci0","#
                + #""region":{"major":7,"minor":9,"name":"till","uuid":"e2c56db5-dffb-48d2-b060-d0f5a71096e0"},"#
                + #""time":1700000000.002}"#)
        #expect(
            String(decoding: try encoder.encode(heartbeat), as: UTF8.self)
                == #"{"id":"018bcfe5-6803-7000-8000-000000000003","kind":"heartbeat","presence":[{"beacons":["#
                + #"{"accuracy":0.25,"major":1,"minor":2,"proximity":"immediate","receiver":"hci0","#
                + #""uuid":"e2c56db5-dffb-48d2-b060-d0f5a71096e0"}],"#
                + #""region":{"name":"shop","uuid":"e2c56db5-dffb-48d2-b060-d0f5a71096e0"},"state":"inside","#
                + #""unlisted":4}],"time":1700000000.003}"#)
    }

    @Test("A kind from a newer version is decoded, and unknown keys are ignored")
    func newer() throws {
        let json = #"{"id":"018bcfe5-6807-7000-8000-000000000007","kind":"battery","time":1700000000.5,"level":0.3}"#
        let notification = try JSONDecoder().decode(BeaconNotification.self, from: Data(json.utf8))
        #expect(notification.kind == BeaconNotification.Kind(rawValue: "battery"))
        #expect(notification.time.nanoseconds == 1_700_000_000_500_000_000)
    }

    @Test("Other JSON is refused")
    func refusal() {
        for json in [
            "{}", #"{"id":"x","kind":"enter","time":1}"#,
            #"{"id":"018bcfe5-6807-7000-8000-000000000007","kind":"enter","time":-1}"#,
            #"{"id":"018bcfe5-6807-7000-8000-000000000007","kind":"enter","time":1,"proximity":"close"}"#,
        ] {
            #expect(throws: (any Error).self) {
                try JSONDecoder().decode(BeaconNotification.self, from: Data(json.utf8))
            }
        }
    }

    @Test("A secret is not shown")
    func secret() {
        let secret = Secret("hunter2")
        var dumped = ""
        dump([secret], to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), "\([secret])", "\(Optional(secret) as Any)", dumped] {
            #expect(!text.contains("hunter2"))
        }
        #expect(secret.reveal() == "hunter2")
    }
}
