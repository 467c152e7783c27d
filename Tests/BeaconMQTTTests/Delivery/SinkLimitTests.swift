import BeaconDelivery
import BeaconEventStore
import BeaconMQTT
import BeaconModel
import BeaconSupport
import BrokerTestSupport
import Foundation
import Logging
import TestSupport
import Testing

@Suite("Destinations at brokers with limits", .fewAtATime)
struct SinkLimitTests {
    @Test(
        "A broker without retained messages receives everything else",
        arguments: [(nil, true), (.v5, true), (nil, false), (.v5, false), (.v3_1_1, false)] as [(MQTTVersion?, Bool)])
    func noRetained(version: MQTTVersion?, retains: Bool) async throws {
        let broker = try await Broker("allow_anonymous true\nretain_available false")
        let observer = try await Observer(port: broker.port, version: version ?? .v5)
        var options = MQTTSettings.test(port: broker.port, version: version)
        options.retainsMessages = retains
        let lines = LogLines()
        let sink = try MQTTSink(
            options, regions: ["shop"],
            homeAssistant: HomeAssistantSettings(announcementDelay: .zero), logger: lines.logger)
        sink.receive(.region("shop", .inside))
        try await running(sink.run) {
            #expect(await sink.deliver([try .enter(1)]) == [.delivered])
            let topics: Set = [
                "beacond/hall/status", "beacond/hall/region/shop/state", "beacond/hall/event/shop/enter",
                "homeassistant/device/\(("shop" as NamedRegion).device)/config",
            ]
            try await eventually("all messages arrive") { topics.isSubset(of: observer.messages.map(\.topic)) }
            // The broker has nothing for Home Assistant when it starts.
            let before = observer.messages.count
            try await observer.publish(MQTTMessage(topic: "homeassistant/status", text: "online"))
            try await eventually("all messages arrive again") {
                topics.subtracting(observer.messages.dropFirst(before).map(\.topic))
                    == ["beacond/hall/event/shop/enter"]
            }
        }
        let warnings = lines.all.filter { $0.contains("keeps no retained messages") }
        #expect(warnings.count == (retains ? 1 : 0), "\(lines.all)")
    }

    @Test("A broker that cannot refuse a message loses several connections, then the message is skipped")
    func suspect() async throws {
        let broker = try await Broker("allow_anonymous true\nmax_packet_size 1024")
        let lines = LogLines()
        let sink = try MQTTSink(.test(port: broker.port, version: .v3_1_1), logger: lines.logger)
        let connections = Locked(0)
        try await running({ await sink.run { connections.withLock { $0 += 1 } } }) {
            let large = try QueuedNotification.enter(2, region: String(repeating: "x", count: 800))
            var batch = [try QueuedNotification.enter(1), large, try .enter(3), try .enter(4)]
            var refusals: [String] = []
            try await eventually("all have an outcome") {
                for outcome in await sink.deliver(batch) {
                    if case .retry = outcome { break }
                    if case .refused(let reason) = outcome { refusals.append(reason) }
                    batch.removeFirst()
                }
                return batch.isEmpty
            }
            #expect(refusals.count == 1)
            #expect(refusals.first?.contains("5 times in a row") == true, "\(refusals)")
            #expect(refusals.first?.contains("event/xxx") == true && refusals.first?.contains("limit") == true)
            // It is known from now on, and breaks no further connection.
            let count = connections.withLock { $0 }
            guard case .refused? = await sink.deliver([large]).first else {
                Issue.record("it was sent again")
                return
            }
            #expect(await sink.deliver([try .enter(5)]) == [.delivered])
            #expect(connections.withLock { $0 } == count)
        }
        #expect(lines.all.contains { $0.contains("Not yet acknowledged: the message at beacond/hall/event/xxx") })
    }
}
