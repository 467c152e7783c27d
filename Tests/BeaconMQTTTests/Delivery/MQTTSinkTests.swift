import BeaconDelivery
import BeaconEventStore
import BeaconMQTT
import BeaconModel
import BeaconSupport
import BrokerTestSupport
import Foundation
import TestSupport
import Testing

@Suite("A broker as a destination", .fewAtATime)
struct MQTTSinkTests {
    @Test("Notifications arrive as JSON at the topic of their region and kind", arguments: MQTTVersion.allCases)
    func delivery(version: MQTTVersion) async throws {
        let broker = try await Broker()
        let observer = try await Observer(port: broker.port, to: "beacond/hall/event/#", version: version)
        let sink = try MQTTSink(.test(port: broker.port, version: version))
        try await running(sink.run) {
            let entry = try QueuedNotification.enter(1, region: "shop / hall 2")
            #expect(await sink.deliver([entry]) == [.delivered])
            try await eventually("it arrives") { !observer.messages.isEmpty }
            let message = try #require(observer.messages.first)
            #expect(message.topic == "beacond/hall/event/shop%20%2F%20hall%202/enter")
            #expect(!message.isRetained)
            #expect(message.id == (version == .v5 ? entry.notification.id.description : nil))
            let decoded = try JSONDecoder().decode(BeaconNotification.self, from: Data(message.payload))
            #expect(decoded == entry.notification)
        }
    }

    @Test(
        "Every notification arrives in order over kills and restarts, duplicates with the same id",
        arguments: MQTTVersion.allCases, [SIGTERM, SIGKILL])
    func faults(version: MQTTVersion, signal: Int32) async throws {
        // A killed broker forgets messages that it has acknowledged but not forwarded, so let it forward them at once.
        let broker = try await Broker("allow_anonymous true\nmax_queued_messages 0\nmax_inflight_messages 0")
        // The subscriber keeps its session at the broker. If the broker acknowledged a message and was killed before
        // forwarding it, it forwards the message afterwards.
        let log = broker.folder.url.appendingPathComponent("subscriber").path
        let subscriber = try ChildProcess(
            "mosquitto_sub",
            [
                "-h", "127.0.0.1", "-p", "\(broker.port)", "-t", "beacond/hall/event/#", "-q", "1", "-c", "-i",
                "listener",
            ],
            output: log)
        defer { subscriber.end(SIGKILL) }
        let sink = try MQTTSink(.test(port: broker.port, version: version))
        try await running(sink.run) {
            try await eventually("the subscriber is ready") {
                // Only the effect of its subscription is visible.
                _ = await sink.deliver([try QueuedNotification.enter(0)])
                return !Self.ids(in: log).isEmpty
            }
            broker.save()
            let faults = Task {
                for _ in 0..<6 {
                    try await Task.sleep(for: .milliseconds(Int.random(in: 20...200)))
                    if signal == SIGKILL { broker.kill() } else { broker.stop() }
                    let heard = Self.size(of: log)
                    try await Task.sleep(for: .milliseconds(Int.random(in: 0...200)))
                    try await broker.start()
                    // The messages for the subscriber are in the broker's memory and would be lost with the next kill.
                    try await eventually("the subscriber is back") { Self.size(of: log) > heard }
                }
            }
            let isOver = Locked(false)
            let watch = Task {
                defer { isOver.withLock { $0 = true } }
                try await faults.value
            }
            var next = 1
            var retries = 0
            while !isOver.withLock({ $0 }) {
                // Some batches exceed the number of messages that may be unacknowledged.
                let batch = try (next..<next + Int.random(in: 1...60)).map { try QueuedNotification.enter($0) }
                for outcome in await sink.deliver(batch) {
                    if outcome == .delivered {
                        next += 1
                    } else {
                        retries += 1
                        break
                    }
                }
                // At most some thousand messages a second, so that each fault affects some and not too many remain at
                // the end.
                try await Task.sleep(for: .milliseconds(10))
            }
            try await watch.value
            // The last acknowledged messages may be lost with the broker, so wait for one sent after the faults.
            try await eventually("the broker accepts the last one") {
                await sink.deliver([try QueuedNotification.enter(next)]) == [.delivered]
            }
            let count = next
            let last = try QueuedNotification.enter(count).notification.id.description
            try await eventually("the last one arrives") { Self.ids(in: log).contains(last) }
            let ids = Self.ids(in: log)
            var seen: Set<String> = []
            let first = ids.filter { seen.insert($0).inserted }
            let all = try (0...count).map { try QueuedNotification.enter($0).notification.id.description }
            #expect(first == first.sorted(), "they come in order")
            let missing = Set(all).subtracting(seen)
            if signal == SIGKILL {
                // Debian's broker acknowledges a message shortly before it forwards it. A message in between is lost
                // with the broker, and the sender cannot know this.
                #expect(missing.count <= 6, "\(missing.sorted().prefix(20))")
            } else {
                #expect(missing.isEmpty, "\(missing.sorted().prefix(20))")
            }
            #expect(seen.subtracting(all).isEmpty)
            print(
                "MQTT \(version), signal \(signal): \(count) events, \(retries) interruptions, "
                    + "\(ids.count - first.count) duplicates, \(missing.count) lost by the broker")
        }
    }

    @Test("Later messages wait until messages lost with a connection are sent again")
    func orderOverAConnection() async throws {
        let broker = try await Broker()
        let proxy = try BrokerProxy(to: broker.port)
        let observer = try await Observer(port: broker.port, to: "beacond/hall/event/#")
        let sink = try MQTTSink(.test(port: proxy.port))
        try await running(sink.run) {
            #expect(await sink.deliver([try .enter(0)]) == [.delivered])
            for round in 0..<10 {
                let numbers = round * 100 + 1..<round * 100 + 101
                let batch = try numbers.map { try QueuedNotification.enter($0) }
                broker.pause()
                async let first = sink.deliver(batch)
                // The rest of the batch waits for acknowledgements that never come.
                try await Task.sleep(for: .milliseconds(20))
                proxy.cut()
                broker.resume()
                var delivered = await first.count { $0 == .delivered }
                try await eventually("the rest of the batch is delivered") {
                    delivered += await sink.deliver(Array(batch[delivered...])).count { $0 == .delivered }
                    return delivered == batch.count
                }
            }
            let last = try QueuedNotification.enter(1000).notification.id
            func ids() throws -> [EventID] {
                try observer.messages.map {
                    try JSONDecoder().decode(BeaconNotification.self, from: Data($0.payload)).id
                }
            }
            try await eventually("the last one arrives") { try ids().contains(last) }
            var seen: Set<EventID> = []
            let first = try ids().filter { seen.insert($0).inserted }
            #expect(first == first.sorted())
            #expect(first.count == 1001)
        }
    }

    @Test("Without a broker nothing is delivered, and the reason is reported")
    func noBroker() async throws {
        var options = MQTTSettings.test(port: try FreePort.find())
        options.publishTimeout = .milliseconds(200)
        let sink = try MQTTSink(options)
        try await running(sink.run) {
            let outcomes = await sink.deliver([try .enter(1), try .enter(2)])
            #expect(outcomes.count == 1)
            guard case .retry(let reason, nil) = outcomes.first else {
                Issue.record("it was \(outcomes)")
                return
            }
            #expect(reason.contains("127.0.0.1:\(options.effectivePort)"))
        }
    }

    @Test("A message that the broker will never accept becomes a dead letter")
    func tooLarge() async throws {
        let broker = try await Broker("allow_anonymous true\nmax_packet_size 2000")
        let sink = try MQTTSink(.test(port: broker.port, version: .v5))
        try await running(sink.run) {
            let large = try QueuedNotification.enter(1, region: String(repeating: "x", count: 3000))
            let outcomes = await sink.deliver([large, try .enter(2)])
            #expect(outcomes.count == 2)
            guard case .refused = outcomes.first else {
                Issue.record("it was \(outcomes)")
                return
            }
            #expect(outcomes.last == .delivered)
        }
    }

    @Test("Duplicate names are refused, and all mistakes are reported together")
    func mistakes() throws {
        let uuid = try #require(ProximityUUID("e2c56db5-dffb-48d2-b060-d0f5a71096e0"))
        let keys = NamedBeacon(name: "keys", identity: BeaconIdentity(uuid: uuid, major: 1, minor: 2))
        let error = #expect(throws: MQTTError.self) {
            _ = try MQTTSink(
                MQTTSettings(host: ""), regions: ["hall", "hall"], beacons: [keys, keys],
                homeAssistant: HomeAssistantSettings(discoveryPrefix: "", nodeID: "a b"))
        }
        for word in ["host", "region hall", "beacon keys", "identity", "discoveryPrefix", "nodeID"] {
            #expect(error?.message.contains(word) == true, "\(word)")
        }
    }

    private static func size(of log: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: log)[.size] as? Int).flatMap(\.self) ?? 0
    }

    private static func ids(in log: String) -> [String] {
        guard let text = try? String(contentsOfFile: log, encoding: .utf8) else { return [] }
        return text.split(separator: "\n").compactMap { line in
            try? JSONDecoder().decode(BeaconNotification.self, from: Data(line.utf8)).id.description
        }
    }
}
