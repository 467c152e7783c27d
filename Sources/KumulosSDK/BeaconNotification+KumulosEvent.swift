import BeaconDelivery
import BeaconEngine
import BeaconModel

extension BeaconNotification {
    /// An event as the outbox keeps it, under the event's own name.
    ///
    /// - Returns: nil where it is not about a beacon's nearness, which no event of the SDK's own is.
    init?(_ event: KumulosEvent) {
        guard event.type == KumulosEvent.beaconEnteredProximity, let id = NotificationID(event.uuid),
            let uuid = ProximityUUID(event.data.uuid), let major = UInt16(event.data.major),
            let minor = UInt16(event.data.minor), let raw = UInt8(exactly: event.data.proximity),
            let proximity = Proximity(rawValue: raw)
        else { return nil }
        self.init(
            id: id, kind: .proximity,
            time: Timestamp(nanoseconds: event.timestamp.multipliedReportingOverflow(by: 1_000_000).partialValue))
        beacon = BeaconIdentity(uuid: uuid, major: major, minor: minor)
        self.proximity = proximity
        user = event.userId
    }
}
