/// Builds pcapng: draft-ietf-opsawg-pcapng.
struct Pcapng {
    var isBigEndian = false

    private func number32(_ value: UInt32) -> [UInt8] { number(value, isBigEndian: isBigEndian) }
    private func number16(_ value: UInt16) -> [UInt8] { number(value, isBigEndian: isBigEndian) }

    func block(_ type: UInt32, _ body: [UInt8]) -> [UInt8] {
        let padding = [UInt8](repeating: 0, count: (4 - body.count % 4) % 4)
        let count = number32(UInt32(body.count + padding.count + 12))
        return join(number32(type), count, body, padding, count)
    }

    func section() -> [UInt8] {
        block(
            0x0A0D_0D0A,
            join(number32(0x1A2B_3C4D), number16(1), number16(0), [UInt8](repeating: 0xFF, count: 8)))
    }

    func interface(linkType: UInt16, options: [(UInt16, [UInt8])] = []) -> [UInt8] {
        let list = options.map { code, value in
            join(
                number16(code), number16(UInt16(value.count)), value,
                [UInt8](repeating: 0, count: (4 - value.count % 4) % 4))
        }
        return block(1, join(number16(linkType), [0, 0], number32(0), Array(list.joined()), number32(0)))
    }

    /// An enhanced packet block.
    func packet(interface: UInt32 = 0, units: UInt64, _ packet: [UInt8]) -> [UInt8] {
        let count = number32(UInt32(packet.count))
        return block(
            6,
            join(
                number32(interface), number32(UInt32(units >> 32)), number32(UInt32(units & 0xFFFF_FFFF)), count, count,
                packet))
    }

    /// Returns a simple packet block, which has no time and belongs to the first interface.
    func simplePacket(_ packet: [UInt8]) -> [UInt8] { block(3, join(number32(UInt32(packet.count)), packet)) }
}
