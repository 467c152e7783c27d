import BeaconDelivery
import BeaconModel
import Foundation
import Testing

extension OutboxEntry {
    /// An event of the region `shop`.
    static func enter(_ number: Int, region: String = "shop") throws -> OutboxEntry {
        let uuid = try #require(ProximityUUID("e2c56db5-dffb-48d2-b060-d0f5a71096e0"))
        let time = Timestamp(nanoseconds: 1_700_000_000_000_000_000 + Int64(number) * 1_000_000)
        let id = try #require(NotificationID("018bcfe5-6800-7000-8000-\(String(format: "%012d", number))"))
        var notification = BeaconNotification(id: id, kind: .enter, time: time)
        notification.region = BeaconNotification.Region(name: region, constraint: BeaconConstraint(uuid: uuid))
        return OutboxEntry(sequence: Int64(number), notification: notification)
    }
}
