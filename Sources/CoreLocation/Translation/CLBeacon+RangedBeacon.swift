internal import BeaconEngine
internal import BeaconModel

extension CLBeacon {
    /// A ranged beacon by Apple's names.
    ///
    /// - Parameter timestamp: the wall time at which it was last heard.
    convenience init(_ beacon: RangedBeacon, timestamp: Date) {
        self.init(
            uuid: UUID(beacon.identity.uuid), major: beacon.identity.major, minor: beacon.identity.minor,
            proximity: CLProximity(beacon.proximity), accuracy: beacon.accuracy, rssi: beacon.rssi,
            timestamp: timestamp)
    }
}
