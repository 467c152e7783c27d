/// Adverts of things that are no iBeacons, as the air of any town is full of them.
///
/// The layouts are those that the makers publish or that are commonly seen; what follows the heads is chance. None is
/// an iBeacon: a decoder has to tell that from the type, the length or the company.
enum ForeignAdvert: CaseIterable, Sendable {
    /// Apple's company identifier with another type than iBeacon's.
    case appleNearby
    /// Apple's company identifier and iBeacon's type with a length that no iBeacon has.
    case appleLookalike
    /// Microsoft's company identifier.
    case microsoft
    /// Google's Eddystone-UID, service data of 0xFEAA.
    case eddystone
    /// Exposure notification, service data of 0xFD6F.
    case exposure
    /// A name, as headphones have.
    case name

    /// An advert of this kind, of at most 31 bytes.
    func advert(random: inout SplitMix64) -> [UInt8] {
        let flags: [UInt8] = [0x02, 0x01, 0x1A]
        switch self {
        case .appleNearby: return flags + [0x0A, 0xFF, 0x4C, 0x00, 0x10, 0x05] + Self.bytes(5, random: &random)
        case .appleLookalike: return flags + [0x09, 0xFF, 0x4C, 0x00, 0x02, 0x04] + Self.bytes(4, random: &random)
        case .microsoft: return flags + [0x1B, 0xFF, 0x06, 0x00, 0x01, 0x09] + Self.bytes(22, random: &random)
        case .eddystone:
            return [0x02, 0x01, 0x06, 0x03, 0x03, 0xAA, 0xFE, 0x17, 0x16, 0xAA, 0xFE, 0x00, 0xE7]
                + Self.bytes(16, random: &random) + [0x00, 0x00]
        case .exposure:
            return flags + [0x03, 0x03, 0x6F, 0xFD, 0x17, 0x16, 0x6F, 0xFD] + Self.bytes(20, random: &random)
        case .name:
            // Complete local name: "Phones" and four digits.
            return flags + [0x0B, 0x09, 0x50, 0x68, 0x6F, 0x6E, 0x65, 0x73]
                + (0..<4).map { _ in UInt8(0x30 + random.below(10)) }
        }
    }

    private static func bytes(_ count: Int, random: inout SplitMix64) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }
}
