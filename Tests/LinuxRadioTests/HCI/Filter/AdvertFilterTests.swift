import BeaconModel
import CBluetooth
import Glibc
import Testing

@testable import LinuxRadio

struct AdvertFilterTests {
    private static let wanted = ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
    private static let foreign = ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E1)

    private static func machine(_ uuids: Set<ProximityUUID>?) throws -> FilterMachine {
        FilterMachine(program: try #require(AdvertFilter(uuids)).program)
    }

    @Test("The wanted beacon passes and other adverts do not")
    func theWantedBeaconPassesAndOthersDoNot() throws {
        let machine = try Self.machine([Self.wanted])
        for packet in [{ Packets.legacy($0) }, { Packets.extended($0) }] as [([UInt8]) -> [UInt8]] {
            #expect(try machine.passes(packet(Packets.beacon(Self.wanted))))
            #expect(try !machine.passes(packet(Packets.beacon(Self.foreign))))
            #expect(try !machine.passes(packet([2, 1, 6, 3, 3, 0xAA, 0xFE])))
            // An advert that phones send all the time: Apple's, but no beacon.
            #expect(try !machine.passes(packet([2, 1, 0x1A, 10, 0xFF, 0x4C, 0, 0x10, 5, 1, 2, 3, 4, 5])))
            #expect(try !machine.passes(packet([])))
        }
    }

    @Test("The frame is found at any offset", arguments: 0...173)

    func theFrameIsFoundAtAnyOffset(offset: Int) throws {
        guard offset != 1 else { return }
        let machine = try Self.machine([Self.wanted])
        // Structures of three bytes, and one with the rest.
        var advert: [UInt8] = []
        while offset - advert.count >= 5 { advert += [2, 0x0A, 0] }
        let rest = offset - advert.count
        if rest >= 2 { advert += [UInt8(rest - 1)] + [UInt8](repeating: 0x16, count: rest - 1) }
        if rest == 1 { return }
        advert += Packets.beacon(Self.wanted).dropFirst(3) + [3, 3, 0xAA, 0xFE]
        #expect(try machine.passes(Packets.extended(advert)))
        if advert.count <= 31 { #expect(try machine.passes(Packets.legacy(advert))) }
    }

    @Test("Packets that the session needs pass")
    func packetsThatTheSessionNeedsPass() throws {
        let machine = try Self.machine([Self.wanted])
        let foreign = Packets.beacon(Self.foreign)
        let others: [[UInt8]] = [
            Packets.complete(0x200C), Packets.event(0x0F, [0, 1, 0x0C, 0x20]), Packets.event(0x10, [1]),
            // An LE event without adverts, a command of other software, several adverts in one event, an incomplete
            // advert.
            Packets.event(0x3E, [0x12, 0, 0xEF, 0, 0, 0]), [0x01, 0x0C, 0x20, 2, 0, 0],
            Packets.several([foreign, foreign]),
            Packets.extended([2, 1, 6], type: 0x20), Packets.extended([2, 1, 6], type: 0x40),
            Packets.event(0x3E, []), [0x04], [0x04, 0x3E],
        ]
        for packet in others where packet.count > 1 { #expect(try machine.passes(packet), "\(packet)") }
    }

    @Test("Many UUIDs are distinguished")
    func manyUUIDsAreDistinguished() throws {
        let uuids = Set((0..<300).map { ProximityUUID(high: UInt64($0) << 40, low: 7) })
        let machine = try Self.machine(uuids)
        for uuid in uuids { #expect(try machine.passes(Packets.legacy(Packets.beacon(uuid)))) }
        #expect(try !machine.passes(Packets.legacy(Packets.beacon(Self.wanted))))
    }

    @Test("Too many UUIDs widen the filter to every beacon")
    func tooManyUUIDsWidenTheFilterToEveryBeacon() throws {
        #expect(AdvertFilter(Set((0..<1000).map { ProximityUUID(high: 1, low: $0) })) == nil)
        let machine = try Self.machine(nil)
        #expect(try machine.passes(Packets.legacy(Packets.beacon(Self.foreign))))
        #expect(try !machine.passes(Packets.legacy([2, 1, 6, 3, 3, 0xAA, 0xFE])))
    }

    @Test("Nothing that the decoder accepts is ever dropped")
    func nothingThatTheDecoderAcceptsIsEverDropped() throws {
        let machine = try Self.machine([Self.wanted])
        var random = SystemRandomNumberGenerator()
        var accepted = 0
        var dropped = 0
        for _ in 0..<40_000 {
            let packet = Self.chance(using: &random)
            let passes = try machine.passes(packet)
            if Self.decoderAccepts(packet) {
                accepted += 1
                #expect(passes, "\(packet)")
            } else if !passes {
                dropped += 1
            }
        }
        // Both cases occur often enough to prove something.
        #expect(accepted > 1000)
        #expect(dropped > 1000)
    }

    /// Random structures of all lengths, with or without a beacon, then changed, truncated or extended.
    private static func chance(using random: inout some RandomNumberGenerator) -> [UInt8] {
        var advert: [UInt8] = []
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: advert += Packets.beacon(.random(in: 0..<8, using: &random) == 0 ? foreign : wanted).dropFirst(3)
            case 1: advert += [5, 0xFF, 0x4C, 0, 2, 0x15]
            default:
                let count = Int.random(in: 0...9, using: &random)
                advert += [UInt8(count)] + (0..<count).map { _ in .random(in: 0...255, using: &random) }
            }
        }
        let isExtended = Bool.random(using: &random)
        advert = Array(advert.prefix(isExtended ? 220 : 31))
        var packet = isExtended ? Packets.extended(advert) : Packets.legacy(advert)
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            packet[.random(in: 0..<packet.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
        switch Int.random(in: 0..<8, using: &random) {
        case 0: packet = Array(packet.prefix(.random(in: 1...packet.count, using: &random)))
        case 1: packet += [UInt8](repeating: 0xFF, count: 3)
        default: break
        }
        return packet
    }

    private static func decoderAccepts(_ packet: [UInt8]) -> Bool {
        guard packet.count > 1, packet[0] == 0x04 else { return false }
        let event = packet.span.bytes.extracting(1..<packet.count)
        var cursor = HCIAdvertisingReportCursor(event: event)
        while let report = cursor.next(in: event) {
            let frame = IBeaconFrame(advert: event.extracting(report.offset..<report.offset + report.count))
            if frame?.identity.uuid == wanted { return true }
        }
        return false
    }

    @Test("The kernel accepts the filter", arguments: [1, 100])

    func theKernelAcceptsTheFilter(count: UInt64) throws {
        let uuids = Set((0..<count).map { ProximityUUID(high: Self.wanted.high, low: Self.wanted.low &+ $0) })
        let filter = try #require(AdvertFilter(uuids))
        let ends = try SocketPair()
        let socket = try HCISocket(owning: ends.takeFirst())
        try socket.attach(filter.program)
        let packets = [
            Packets.legacy(Packets.beacon(ProximityUUID(high: 1, low: 1))), Packets.legacy([2, 1, 6]),
            Packets.complete(0x200C), Packets.extended(Packets.beacon(Self.wanted)), Packets.extended([2, 1, 6]),
            Packets.legacy(Packets.beacon(Self.wanted)),
        ]
        for packet in packets { _ = write(ends.second, packet, packet.count) }
        var received: [Int] = []
        _ = try socket.read { packet, _ in received.append(packet.byteCount) }
        #expect(received == [packets[2], packets[3], packets[5]].map(\.count))
        try socket.attach(nil)
        _ = write(ends.second, packets[1], packets[1].count)
        _ = try socket.read { packet, _ in received.append(packet.byteCount) }
        #expect(received.last == packets[1].count)
    }
}
