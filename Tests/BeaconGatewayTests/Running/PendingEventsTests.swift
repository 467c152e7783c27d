import BeaconDelivery
import BeaconModel
import Testing

@testable import BeaconGateway

@Suite("Events that the store cannot take")
struct PendingEventsTests {
    private func make(_ kinds: [BeaconNotification.Kind]) -> [GatewayEvent] {
        var ids = EventIDs()
        return kinds.map { GatewayEvent(BeaconNotification(id: ids.next(at: .zero), kind: $0, time: .zero)) }
    }

    private func shown(_ count: Int) -> [GatewayEvent] {
        var ids = EventIDs()
        return (0..<count).map { number in
            GatewayEvent(
                HistoryEvent(receiver: "r\(number)", isHearing: true, because: nil, at: .zero), id: ids.next(at: .zero))
        }
    }

    @Test("So many wait in memory, and of more the oldest are lost and counted")
    func bound() {
        let made = make(Array(repeating: .enter, count: PendingEvents.most + 3))
        var pending = PendingEvents()
        pending.add(Array(made.prefix(5)))
        pending.add(Array(made.dropFirst(5)))
        #expect(pending.lost == 0)
        #expect(pending.enforceBound() == 3)
        #expect(pending.lost == 3)
        #expect(pending.events.map(\.id) == made.suffix(PendingEvents.most).map(\.id))
        pending.removeFirst(pending.events.count)
        #expect(pending.lost == 3 && pending.enforceBound() == 0)
        pending.add(Array(made.prefix(2)))
        pending.loseFirst()
        pending.loseAll()
        #expect(pending.lost == 5)
    }

    @Test("Changes of proximity and heartbeats go first, so that they push out no enter and no exit (D8)")
    func kinds() {
        let made = make(
            [.enter, .proximity, .exit, .gone, .heartbeat] + Array(repeating: .proximity, count: PendingEvents.most))
        var pending = PendingEvents()
        pending.add(made)
        #expect(pending.enforceBound() == 5)
        #expect(pending.events.map(\.id) == ([made[0], made[2]] + made.suffix(PendingEvents.most - 2)).map(\.id))
    }

    @Test("What is only shown goes like a change of place, is told once, and is no notification that is lost")
    func history() {
        var pending = PendingEvents()
        pending.add(make([.enter]) + shown(PendingEvents.most))
        #expect(pending.tell().count == PendingEvents.most + 1 && pending.tell().isEmpty)
        #expect(pending.enforceBound() == 0 && pending.lost == 0 && pending.notifications == 1)
        pending.add(shown(2))
        #expect(pending.tell().count == 2)
        pending.removeFirst(PendingEvents.most)
        pending.add(shown(1))
        #expect(pending.tell().count == 1)
        pending.loseFirst()
        #expect(pending.lost == 0)
    }
}
