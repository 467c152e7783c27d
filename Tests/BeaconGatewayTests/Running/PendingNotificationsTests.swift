import BeaconDelivery
import BeaconModel
import Testing

@testable import BeaconGateway

@Suite("Notifications that the outbox cannot take")
struct PendingNotificationsTests {
    private func make(_ kinds: [BeaconNotification.Kind]) -> [BeaconNotification] {
        var ids = EventIDs()
        return kinds.map { BeaconNotification(id: ids.next(at: .zero), kind: $0, time: .zero) }
    }

    @Test("So many wait in memory, and of more the oldest are lost and counted")
    func bound() {
        let made = make(Array(repeating: .enter, count: PendingNotifications.most + 3))
        var pending = PendingNotifications()
        pending.add(Array(made.prefix(5)))
        pending.add(Array(made.dropFirst(5)))
        #expect(pending.lost == 0)
        #expect(pending.enforceBound() == 3)
        #expect(pending.lost == 3)
        #expect(pending.notifications == Array(made.suffix(PendingNotifications.most)))
        pending.removeFirst(pending.notifications.count)
        #expect(pending.lost == 3 && pending.enforceBound() == 0)
        pending.add(Array(made.prefix(2)))
        pending.loseFirst()
        pending.loseAll()
        #expect(pending.lost == 5)
    }

    @Test("Changes of proximity and heartbeats go first, so that they push out no enter and no exit (D8)")
    func kinds() {
        let made = make(
            [.enter, .proximity, .exit, .gone, .heartbeat]
                + Array(repeating: .proximity, count: PendingNotifications.most))
        var pending = PendingNotifications()
        pending.add(made)
        #expect(pending.enforceBound() == 5)
        #expect(pending.notifications.prefix(2).map(\.kind) == [.enter, .exit])
        #expect(pending.notifications == [made[0], made[2]] + made.suffix(PendingNotifications.most - 2))
    }
}
