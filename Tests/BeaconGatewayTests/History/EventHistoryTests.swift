import BeaconDelivery
import BeaconEventStore
import BeaconGateway
import BeaconModel
import BeaconSupport
import Foundation
import GatewayTestSupport
import TestSupport
import Testing

@Suite("The history of events")
struct EventHistoryTests {
    private static func event(
        _ number: Int, kind: BeaconNotification.Kind = .enter, region: String = "hall"
    ) -> BeaconNotification {
        var event = BeaconNotification.shown(
            kind, at: Timestamp(nanoseconds: Int64(number) * Timestamp.nanosecondsPerSecond), "\(number)",
            receiver: "hci0", region: region,
            beacon: BeaconIdentity(uuid: GatewayBench.constraint.uuid, major: 1, minor: UInt16(number % 10)))
        event.place = "floor"
        return event
    }

    private func history(_ bench: GatewayBench) throws -> EventHistory { try EventHistory(#require(bench.store)) }

    private func summaries(
        _ history: EventHistory, _ change: (inout EventQuery) -> Void
    ) async throws -> [String] {
        var query = EventHistory.everything
        change(&query)
        return try await history.page(query).events.compactMap { $0.event.private.text(of: "summary") }
    }

    @Test("Events are returned as they were added, newest first, from every sender")
    func keeping() async throws {
        let bench = try GatewayBench()
        defer { withExtendedLifetime(bench) {} }
        let history = try history(bench)
        var sent = Self.event(2)
        (sent.sender, sent.install, sent.person) = ("app", "i", "mia")
        try await history.append([Self.event(1), sent])
        let all = try await history.all
        #expect(all.map(\.stored.number) == [2, 1])
        let (first, second) = (try #require(all.last?.notification), try #require(all.first?.notification))
        #expect(
            first.kind == .enter && first.region?.name == "hall" && first.place == "floor" && first.receiver == "hci0")
        #expect(first.beacon == Self.event(1).beacon && first.time.seconds == 1)
        #expect(first.sender == nil && first.install == nil && first.person == nil)
        #expect(second.sender == "app" && second.install == "i" && second.person == "mia")
    }

    @Test("A query selects by kind, region, time and number")
    func queries() async throws {
        let bench = try GatewayBench()
        defer { withExtendedLifetime(bench) {} }
        let history = try history(bench)
        try await history.append([
            Self.event(1), Self.event(2, kind: .exit), Self.event(3, region: "attic"), Self.event(4, kind: .exit),
        ])
        #expect(try await summaries(history) { $0.kinds = ["exit"] } == ["4", "2"])
        #expect(try await summaries(history) { $0.kinds = ["exit", "enter"] } == ["4", "3", "2", "1"])
        #expect(try await summaries(history) { $0.region = "attic" } == ["3"])
        #expect(try await summaries(history) { $0.before = 3 } == ["2", "1"])
        #expect(try await summaries(history) { $0.limit = 1 } == ["4"])
        #expect(
            try await summaries(history) {
                $0.from = Timestamp(seconds: 2); $0.to = Timestamp(seconds: 3)
            } == ["3", "2"])
        // Names are values and never part of the SQL.
        #expect(try await summaries(history) { $0.region = "' OR 1=1 --" } == [])
    }

    @Test("Heartbeats and what rules notify of are not shown, and pages stay full")
    func notifications() async throws {
        let bench = try GatewayBench()
        defer { withExtendedLifetime(bench) {} }
        let history = try history(bench)
        let kinds: [BeaconNotification.Kind] = [.enter, .heartbeat, .application]
        let events = (0..<60).map { Self.event($0, kind: kinds[$0 % 3]) }
        try await history.store.append(Step(events.map { try $0.event() }))
        #expect(
            try await history.all.map(\.notification.id) == events.filter { $0.kind == .enter }.map(\.id).reversed())
        #expect(try await summaries(history) { $0.limit = 15 }.count == 15)
        let page = try await history.page(EventHistory.everything)
        #expect(page.events.count == 20 && page.next == nil)
    }

    @Test("A slow listener is ended without affecting the others")
    func slowListener() async throws {
        let broadcast = EventBroadcast(nil)
        let (slow, fast) = (broadcast.messages(), broadcast.messages())
        let reader = Task { () -> Int in
            var count = 0
            for await case .heartbeat in fast { count += 1 }
            return count
        }
        for _ in 0..<600 {
            broadcast.send(.heartbeat)
            await Task.yield()
        }
        var held = 0
        for await case .heartbeat in slow { held += 1 }
        #expect(held == 512)
        broadcast.finish()
        _ = await reader.value
        #expect(broadcast.count == 0)
    }
}
