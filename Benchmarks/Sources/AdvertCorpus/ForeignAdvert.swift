/// Adverts other than iBeacons, of the kinds that are common in a town.
enum ForeignAdvert: CaseIterable {
    case appleNearby
    case appleFindMy
    case microsoft
    case eddystoneUID
    case eddystoneTLM
    case sensor
    case named
    case heartRate

    /// Returns an advert of this kind with random device-specific parts.
    func bytes(_ chance: inout Chance) -> [UInt8] {
        switch self {
        case .appleNearby:
            [0x02, 0x01, 0x1A, 0x0A, 0xFF, 0x4C, 0x00, 0x10, 0x05] + random(5, &chance)
        case .appleFindMy:
            [0x1E, 0xFF, 0x4C, 0x00, 0x12, 0x19] + random(25, &chance)
        case .microsoft:
            [0x1E, 0xFF, 0x06, 0x00, 0x01, 0x09, 0x20, 0x02] + random(23, &chance)
        case .eddystoneUID:
            [0x02, 0x01, 0x06, 0x03, 0x03, 0xAA, 0xFE, 0x17, 0x16, 0xAA, 0xFE, 0x00, 0xED] + random(16, &chance)
                + [0x00, 0x00]
        case .eddystoneTLM:
            [0x02, 0x01, 0x06, 0x03, 0x03, 0xAA, 0xFE, 0x11, 0x16, 0xAA, 0xFE, 0x20, 0x00] + random(12, &chance)
        case .sensor:
            // A RuuviTag in data format 5.
            [0x02, 0x01, 0x06, 0x1B, 0xFF, 0x99, 0x04, 0x05] + random(23, &chance)
        case .named:
            [0x02, 0x01, 0x06, 0x0B, 0x09] + Array("Speaker".utf8) + random(3, &chance).map { $0 % 26 + 97 }
        case .heartRate:
            [0x02, 0x01, 0x06, 0x03, 0x03, 0x0D, 0x18, 0x03, 0x19, 0x41, 0x03, 0x02, 0x0A, 0x00]
        }
    }

    private func random(_ count: Int, _ chance: inout Chance) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &chance) }
    }
}
