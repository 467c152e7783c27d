package import BeaconModel
import BeaconSupport

extension EventID {
    /// Creates an id that is always the same for a text: a UUID of version 8, whose content is up to its creator (RFC
    /// 9562, 5.8).
    package init(hashing text: String) {
        let words = SHA256.hash(text.utf8).prefix(16).map { UInt64($0) }
        let high = words[..<8].reduce(0) { $0 << 8 | $1 }
        let low = words[8...].reduce(0) { $0 << 8 | $1 }
        self.init(
            ProximityUUID(
                high: high & ~0xF000 | 0x8000, low: low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000))
    }
}
