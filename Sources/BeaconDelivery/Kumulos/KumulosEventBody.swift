import BeaconEngine
import BeaconModel

/// A notification as Kumulos takes it: the event that `sendiBeaconProximity(beacon:)` of its SDK for Swift 10.0.0 records.
struct KumulosEventBody: Encodable {
    private struct Properties: Encodable {
        let type = 1
        let uuid: String
        let major: String
        let minor: String
        let proximity: Int
    }

    private let type = "k.engage.beaconEnteredProximity"
    private let uuid: String
    private let timestamp: Int64
    private let data: Properties
    private let userId: String

    /// - Returns: nil where it is not about a beacon's nearness, which is all that Kumulos wants to know.
    init?(_ notification: BeaconNotification, installID: String) {
        guard let beacon = notification.beacon, let proximity = notification.proximity else { return nil }
        uuid = notification.id.description
        timestamp = notification.time.milliseconds
        data = Properties(
            uuid: beacon.uuid.description.uppercased(), major: String(beacon.major), minor: String(beacon.minor),
            proximity: Int(proximity.rawValue))
        userId = notification.user ?? installID
    }
}
