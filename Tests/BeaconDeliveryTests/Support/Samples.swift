import BeaconDelivery
import BeaconModel
import Foundation
import TestServer

/// Sample notifications.
enum Samples {
    static let uuid = ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
    static let shop = BeaconNotification.Region(name: "shop", constraint: BeaconConstraint(uuid: uuid))

    /// The time of the first sample. Tests' virtual clocks begin at this time.
    static let start = Timestamp(nanoseconds: 1_700_000_000 * Timestamp.nanosecondsPerSecond)

    /// Returns a change of proximity for a beacon's minor value. The value also determines the time in milliseconds and
    /// the id.
    static func proximity(_ minor: UInt16, _ proximity: Proximity = .near) -> BeaconNotification {
        let time = start.advanced(by: Int64(minor) * 1_000_000)
        var notification = BeaconNotification(id: id(minor, at: time), kind: .proximity, time: time)
        notification.region = shop
        notification.beacon = BeaconIdentity(uuid: uuid, major: 1, minor: minor)
        notification.proximity = proximity
        notification.accuracy = 1.5
        notification.rssi = -64
        notification.receiver = "hci0"
        return notification
    }

    static func enter(_ minor: UInt16) -> BeaconNotification {
        let time = start.advanced(by: Int64(minor) * 1_000_000)
        var notification = BeaconNotification(id: id(minor, at: time), kind: .enter, time: time)
        notification.region = shop
        notification.receiver = "hci0"
        return notification
    }

    static func heartbeat(_ number: UInt16) -> BeaconNotification {
        let time = start.advanced(by: Int64(number) * 1_000_000)
        var notification = BeaconNotification(id: id(number, at: time), kind: .heartbeat, time: time)
        notification.presence = [BeaconNotification.Presence(region: shop, state: .inside)]
        return notification
    }

    private static func id(_ number: UInt16, at time: Timestamp) -> EventID {
        EventID(
            ProximityUUID(
                high: UInt64(time.nanoseconds / 1_000_000) << 16 | 0x7000, low: 0x8000_0000_0000_0000 | UInt64(number)))
    }
}

extension ReceivedRequest {
    /// The body as a JSON object.
    var object: [String: Any] { json as? [String: Any] ?? [:] }

    /// The minor value of the beacon in a CloudEvent.
    var minor: Int? {
        let data = object["data"] as? [String: Any]
        return (data?["beacon"] as? [String: Any])?["minor"] as? Int
    }
}
