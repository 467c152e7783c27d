/// Builds pcap: draft-ietf-opsawg-pcap.
struct Pcap {
    var isBigEndian = false
    var isNanoseconds = false

    func header(linkType: UInt32) -> [UInt8] {
        join(
            number(isNanoseconds ? 0xA1B2_3C4D : 0xA1B2_C3D4 as UInt32, isBigEndian: isBigEndian),
            number(UInt16(2), isBigEndian: isBigEndian), number(UInt16(4), isBigEndian: isBigEndian),
            [0, 0, 0, 0, 0, 0, 0, 0], number(UInt32(65_535), isBigEndian: isBigEndian),
            number(linkType, isBigEndian: isBigEndian))
    }

    func record(microseconds: Int64, _ packet: [UInt8]) -> [UInt8] {
        let count = number(UInt32(packet.count), isBigEndian: isBigEndian)
        let fraction = UInt32(microseconds % 1_000_000) * (isNanoseconds ? 1000 : 1)
        return join(
            number(UInt32(microseconds / 1_000_000), isBigEndian: isBigEndian),
            number(fraction, isBigEndian: isBigEndian), count, count, packet)
    }
}
