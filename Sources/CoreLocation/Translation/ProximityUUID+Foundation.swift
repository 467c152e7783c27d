internal import BeaconModel

extension ProximityUUID {
    /// Foundation's UUID as the lower rooms keep it.
    init(_ uuid: UUID) {
        self.init(
            high: withUnsafeBytes(of: uuid.uuid) { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) },
            low: withUnsafeBytes(of: uuid.uuid) {
                UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            })
    }
}

extension UUID {
    /// A lower room's UUID as Foundation has it.
    init(_ uuid: ProximityUUID) {
        var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &bytes) { buffer in
            buffer.storeBytes(of: uuid.high.bigEndian, as: UInt64.self)
            buffer.storeBytes(of: uuid.low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        self.init(uuid: bytes)
    }

    /// All bytes zero.
    static var zero: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
}
