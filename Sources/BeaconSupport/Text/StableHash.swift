/// Hashes that are the same in each process, on each machine and in each version, unlike Swift's own.
package enum StableHash {
    /// Returns the hash FNV-1a of 64 bits (draft-eastlake-fnv, with the constants of its section 5), its bits mixed
    /// once more, since a remainder takes the lowest of them.
    package static func fnv1a(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash ^ hash >> 32
    }
}
