import BeaconModel

extension Timestamp {
    /// Returns a time in seconds after the origin of a test's time.
    static func at(_ seconds: Double) -> Timestamp {
        Timestamp(nanoseconds: Int64((seconds * 1e9).rounded()))
    }
}

extension ProximityUUID {
    /// The default UUID of tests.
    static let test = ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
}

extension Sighting {
    /// Returns a sighting with defaults for all parts that do not matter to a test.
    static func of(
        minor: UInt16 = 1,
        major: UInt16 = 1,
        uuid: ProximityUUID = .test,
        at seconds: Double,
        rssi: Int8 = -60,
        power: Int8 = -59,
        address: UInt64 = 0xC000_0000_0001,
        receiver: UInt16 = 0
    ) -> Sighting {
        Sighting(
            time: .at(seconds), receiver: ReceiverID(receiver), address: DeviceAddress(bits: address, kind: .random),
            identity: BeaconIdentity(uuid: uuid, major: major, minor: minor), measuredPower: power,
            rssi: SignalStrength(rawValue: rssi))
    }
}
