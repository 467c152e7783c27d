/// Builds btsnoop: RFC 1761 with the datalinks of BlueZ's `btsnoop.h`.
enum Btsnoop {
    /// The value of a record's time for the beginning of 2000 (BlueZ, `btsnoop.c`), less the microseconds from 1970 to
    /// then.
    private static let epoch: Int64 = 0x00E0_3AB4_4A67_6000 - 946_684_800 * 1_000_000

    static func header(datalink: UInt32) -> [UInt8] {
        join(Array("btsnoop\0".utf8), number(UInt32(1), isBigEndian: true), number(datalink, isBigEndian: true))
    }

    static func record(flags: UInt32, microseconds: Int64, _ packet: [UInt8]) -> [UInt8] {
        let count = number(UInt32(packet.count), isBigEndian: true)
        return join(
            count, count, number(flags, isBigEndian: true), [0, 0, 0, 0],
            number(microseconds + epoch, isBigEndian: true), packet)
    }
}
