import BeaconDelivery
import BeaconModel

/// Notifications with a number, which determines their id.
enum Numbered {
    static func notification(_ number: Int) -> BeaconNotification {
        let milliseconds = Int64(1_700_000_000_000) + Int64(number)
        let id = EventID(
            ProximityUUID(
                high: UInt64(milliseconds) << 16 | 0x7000, low: 0x8000_0000_0000_0000 | UInt64(number)))
        var notification = BeaconNotification(
            id: id, kind: .proximity, time: Timestamp(nanoseconds: milliseconds * 1_000_000))
        let uuid = ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
        notification.region = BeaconNotification.Region(name: "shop", constraint: BeaconConstraint(uuid: uuid))
        notification.beacon = BeaconIdentity(
            uuid: uuid, major: UInt16(truncatingIfNeeded: number >> 16), minor: UInt16(truncatingIfNeeded: number))
        notification.proximity = number.isMultiple(of: 2) ? .near : .far
        notification.accuracy = 1.5
        notification.rssi = -64
        notification.receiver = "hci0"
        return notification
    }
}
