/// Builds the format of Apple's PacketLogger, as Wireshark's `wiretap/packetlogger.c` describes it.
enum PacketLogger {
    static func record(microseconds: Int64, type: UInt8, _ packet: [UInt8], isBigEndian: Bool) -> [UInt8] {
        join(
            number(UInt32(packet.count + 9), isBigEndian: isBigEndian),
            number(UInt32(microseconds / 1_000_000), isBigEndian: isBigEndian),
            number(UInt32(microseconds % 1_000_000), isBigEndian: isBigEndian), [type], packet)
    }
}
