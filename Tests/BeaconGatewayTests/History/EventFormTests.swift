import BeaconDelivery
import BeaconEventStore
import BeaconModel
import Foundation
import GatewayTestSupport
import TestSupport
import Testing

@testable import BeaconGateway

@Suite("The forms of an event")
struct EventFormTests {
    private static let keys = BeaconIdentity(uuid: GatewayBench.constraint.uuid, major: 1, minor: 2)

    /// An event of a kind with everything that an event can have.
    private static func event(_ kind: BeaconNotification.Kind, time: Timestamp = .zero) -> BeaconNotification {
        var event = BeaconNotification.shown(
            kind, at: time, "a \"summary\"", receiver: "hall", region: "house", beacon: keys, proximity: .near)
        (event.beaconName, event.beaconAttributes) = ("Ann's } \"keys\"", ["owner": "Ann"])
        (event.state, event.place, event.before, event.level, event.margin) = (.inside, "hall", "attic", -60.04, 3.26)
        (event.sender, event.install, event.person) = ("museum", "i", "mia")
        event.data = ["secret": .string("data of the app"), "type": .string("t")]
        event.suspicion = SuspicionEvidence(reason: .speed, receivers: ["a"], addresses: ["b"], seconds: 2)
        return event
    }

    private static func object(_ json: some Sequence<UInt8>) throws -> [String: JSONValue] {
        guard case .object(let values) = try JSONDecoder().decode(JSONValue.self, from: Data(json)) else { return [:] }
        return values
    }

    @Test("Destinations get the body; the summary, the sender, the user and the app's data are only in the history")
    func outputs() throws {
        for kind in BeaconNotification.Kind.shown {
            let event = try Self.event(kind).event()
            let body = try Self.object(event.json)
            let secrets = ["summary", "sender", "install", "user", "data", "address"]
            #expect(secrets.allSatisfy { body[$0] == nil }, "\(kind)")
            #expect(!String(decoding: event.json, as: UTF8.self).contains("data of the app"))
            var head = try Self.object(event.head(7))
            #expect(head["detail"] == .object(body) && head["beacon"] == body["beacon"])
            #expect(head["summary"] == .string("a \"summary\"") && head["user"] == .string("mia"))
            #expect(head["data"] == .object(Self.event(kind).data ?? [:]) && head["id"] == .integer(7))
            head = try Self.object(event.head(nil))
            #expect(head["id"] == .null && head["sender"] == .string("museum"))
            #expect(event.private.text(of: "summary") == "a \"summary\"")
            let decoded = try #require(BeaconNotification(decoding: event))
            #expect((decoded.person, decoded.install) == ("mia", "i") && decoded.data == Self.event(kind).data)
            let line = try Self.object(event.line(of: decoded))
            #expect(line["event"] == .string(kind.rawValue) && line["beacon"] == body["beacon"])
            #expect(line["sender"] == .string("museum") && line["user"] == .string("mia") && line["data"] == nil)
            #expect(line["reason"] == .string("speed") && line["distance"] == .null)
        }
    }

    @Test("A program gets null for what an event of this machine does not have")
    func missing() throws {
        var left = BeaconNotification.shown(.place, region: "house", beacon: Self.keys)
        left.state = .outside
        let line = try Self.object(left.event().line(of: left))
        for key in ["place", "before", "level", "margin", "runnerUp", "receiver"] { #expect(line[key] == .null) }
        guard case .object(let region)? = line["region"] else { Issue.record("no region"); return }
        #expect(region["minor"] == .null && region["name"] == .string("house"))
    }

    @Test(
        "Each form has the event's time, which the store corrects, in seconds with at most three decimals",
        arguments: [
            (1_700_000_000_081_999_800, "1700000000.082"), (1_700_000_000_249_999_800, "1700000000.25"),
            (1_700_000_001_000_000_400, "1700000001"), (0, "0"), (1_000_000, "0.001"),
        ])
    func time(nanoseconds: Int64, text: String) throws {
        var event = try Self.event(.enter, time: Timestamp(nanoseconds: 65_000_000_000)).event()
        event.time = Timestamp(nanoseconds: nanoseconds)
        #expect(String(decoding: event.json, as: UTF8.self).hasPrefix("{\"time\":\(text),"))
        let times = "\"time\":\(text),"
        #expect(String(decoding: event.head(1), as: UTF8.self).components(separatedBy: times).count == 3)
        let decoded = try #require(BeaconNotification(decoding: event))
        let line = String(decoding: event.line(of: decoded), as: UTF8.self)
        #expect(line.contains("\"time\":\(text)"))
        #expect(try Self.object(JSONEncoder().encode(decoded))["time"] == Self.object(event.json)["time"])
    }
}
