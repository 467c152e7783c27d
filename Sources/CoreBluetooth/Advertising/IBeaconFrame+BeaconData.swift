internal import BeaconModel

extension IBeaconFrame {
    /// The frame of the 21 bytes that Core Location hands to Core Bluetooth: UUID, major and minor value, most significant
    /// byte first, and the measured power.
    ///
    /// - Returns: nil for any other number of bytes.
    init?(beaconData: Data) {
        guard beaconData.count == BeaconAdvertisementData.count else { return nil }
        let bytes = [UInt8](beaconData)
        func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(
            identity: BeaconIdentity(
                uuid: ProximityUUID(high: number(0..<8), low: number(8..<16)),
                major: UInt16(number(16..<18)), minor: UInt16(number(18..<20))),
            measuredPower: Int8(bitPattern: bytes[20]))
    }
}
