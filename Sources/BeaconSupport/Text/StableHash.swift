/// Hashes that are the same in each process, on each machine and in each version, unlike Swift's own.
package enum StableHash {
    /// Returns the 64-bit FNV-1a hash (draft-eastlake-fnv, with the constants of its section 5). Its bits are mixed
    /// once more, since a remainder uses the lowest ones.
    package static func fnv1a(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash ^ hash >> 32
    }
}
