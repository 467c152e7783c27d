import BeaconEngine
import BeaconModel
import BeaconService

/// The beacons of the tests.
enum TestBeacon {
    static let uuid = ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
    static let keys = BeaconIdentity(uuid: uuid, major: 1, minor: 2)
    static let bag = BeaconIdentity(uuid: uuid, major: 1, minor: 3)
}

extension Timestamp {
    /// So many seconds after the start.
    static func at(_ seconds: Double) -> Timestamp { Timestamp(nanoseconds: Int64(seconds * 1_000_000_000)) }
}

extension SessionEvent {
    /// The state of a region with a name.
    static func region(_ name: String, _ state: RegionState, at seconds: Double = 0) -> SessionEvent {
        .region(
            .state,
            RegionEvent(
                name: name, constraint: BeaconConstraint(uuid: TestBeacon.uuid), time: .at(seconds), receiver: nil,
                state: state, before: .unknown))
    }

    /// The state of a beacon's own region.
    static func presence(
        _ state: RegionState, of identity: BeaconIdentity = TestBeacon.keys, at seconds: Double = 0
    ) -> SessionEvent {
        .region(
            .state,
            RegionEvent(
                name: "any", constraint: BeaconConstraint(identity), time: .at(seconds), receiver: nil, state: state,
                before: .unknown))
    }

    /// A report of one beacon, or of none.
    static func ranged(
        _ accuracy: Double?, rssi: Int = -60, proximity: Proximity = .near, identity: BeaconIdentity = TestBeacon.keys,
        receiver: String = "hci0", of constraint: BeaconConstraint? = nil, at seconds: Double
    ) -> SessionEvent {
        let beacons = accuracy.map { accuracy in
            [
                RangedBeacon(
                    address: DeviceAddress(bits: 0xC0FF_EE00_0001, kind: .unspecified), identity: identity,
                    proximity: proximity, accuracy: accuracy, rssi: rssi, lastHeard: .at(seconds))
            ]
        }
        return .ranged(
            RangingEvent(time: .at(seconds), receiver: receiver, constraint: constraint, beacons: beacons ?? []))
    }
}
