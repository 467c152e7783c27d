import BeaconDelivery
import BeaconModel
import Testing

@testable import BeaconGateway

@Suite("Notifications that the outbox cannot take")
struct PendingNotificationsTests {
    @Test("So many wait in memory, and of more the oldest are lost and counted")
    func bound() {
        var ids = NotificationIDs(seed: 1)
        let made = (0..<PendingNotifications.most + 3).map { _ in
            BeaconNotification(id: ids.next(at: .zero), kind: .enter, time: .zero)
        }
        var pending = PendingNotifications()
        pending.add(Array(made.prefix(5)))
        pending.add(Array(made.dropFirst(5)))
        #expect(pending.lost == 3)
        #expect(pending.notifications == Array(made.suffix(PendingNotifications.most)))
        pending.clear()
        #expect(pending.lost == 3 && pending.notifications.isEmpty)
        pending.add(Array(made.prefix(2)))
        pending.loseAll()
        #expect(pending.lost == 5)
    }
}
