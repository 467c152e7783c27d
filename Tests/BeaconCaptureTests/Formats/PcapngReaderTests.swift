import BeaconCapture
import BeaconModel
import BeaconRadio
import Testing

@Suite("pcapng")
struct PcapngReaderTests {
    private let advert = Advert.samples[0]
    private var packet: [UInt8] { advert.packet(linkType: 187) }

    @Test("Interfaces may have names, and have separate link types", arguments: [false, true])
    func interfaces(isBigEndian: Bool) throws {
        let pcapng = Pcapng(isBigEndian: isBigEndian)
        let reading = try Reading(
            join(
                pcapng.section(), pcapng.interface(linkType: 187, options: [(2, Array("left".utf8))]),
                pcapng.interface(linkType: 1), pcapng.interface(linkType: 272),
                pcapng.interface(linkType: 256, options: [(3, [1, 2, 3]), (2, Array("right\0".utf8))]),
                pcapng.packet(interface: 3, units: 1, advert.packet(linkType: 256)),
                pcapng.packet(interface: 1, units: 2, [1, 2, 3]),
                pcapng.packet(interface: 0, units: 3, packet),
                pcapng.packet(interface: 2, units: 4, advert.packet(linkType: 272))))
        #expect(reading.heard.map(\.receiver) == ["right", "left", "sniffer2"])
        #expect(reading.records == [1000, 3000, 4000])
        #expect(reading.counts.packets == 3, "packets that are not Bluetooth are not counted")
        #expect(reading.error == nil)
    }

    @Test(
        "Times have the interface's unit",
        arguments: [
            // Decimal: seconds, milliseconds, nanoseconds, picoseconds, and a unit that is far too small.
            (0, 5, 5_000_000_000), (3, 1_700_000_000_123, 1_700_000_000_123_000_000), (9, 123_456_789, 123_456_789),
            (12, 1_999, 1), (127, .max, 0), (28, .max, 1),
            // Binary: seconds, 1/1024 s, 2^-32 s, and a unit that is far too small.
            (0x80, 5, 5_000_000_000), (0x8A, 1536, 1_500_000_000), (0xA0, 3 << 31, 1_500_000_000), (0xFF, .max, 0),
            // Beyond the latest time.
            (0, .max, .max / 2), (0x80, .max, .max / 2),
        ] as [(UInt8, UInt64, Int64)])
    func resolution(resolution: UInt8, units: UInt64, nanoseconds: Int64) throws {
        let pcapng = Pcapng()
        let reading = try Reading(
            join(
                pcapng.section(), pcapng.interface(linkType: 187, options: [(9, [resolution])]),
                pcapng.packet(units: units, packet)))
        #expect(reading.records == [nanoseconds])
    }

    @Test(
        "Times have the interface's offset",
        arguments: [
            (0, 7_000_000_000), (1_700_000_000, 1_700_000_007_000_000_000), (-3, 4_000_000_000), (-8, 0), (.min, 0),
            (.max, .max / 2),
        ] as [(Int64, Int64)])
    func offset(seconds: Int64, nanoseconds: Int64) throws {
        for isBigEndian in [false, true] {
            let pcapng = Pcapng(isBigEndian: isBigEndian)
            let options: [(UInt16, [UInt8])] = [(14, number(seconds, isBigEndian: isBigEndian)), (9, [6])]
            let reading = try Reading(
                join(
                    pcapng.section(), pcapng.interface(linkType: 187, options: options),
                    pcapng.packet(units: 7_000_000, packet)))
            #expect(reading.records == [nanoseconds])
        }
    }

    @Test("Simple packets belong to the first interface and have no time")
    func simplePackets() throws {
        let pcapng = Pcapng()
        let reading = try Reading(
            join(
                pcapng.section(), pcapng.interface(linkType: 187, options: [(2, Array("first".utf8))]),
                pcapng.interface(linkType: 1), pcapng.simplePacket(packet)))
        #expect(reading.records == [nil])
        #expect(reading.heard.map(\.receiver) == ["first"])
        #expect(reading.heard.first?.frame == advert.frame)
    }

    @Test("Obsolete packet blocks are read")
    func obsoletePackets() throws {
        let pcapng = Pcapng()
        let count = number(UInt32(packet.count), isBigEndian: false)
        let block = pcapng.block(2, join([0, 0, 0xFF, 0xFF], [0, 0, 0, 0], [9, 0, 0, 0], count, count, packet))
        let reading = try Reading(join(pcapng.section(), pcapng.interface(linkType: 187), block))
        #expect(reading.records == [9000])
        #expect(reading.heard.count == 1)
    }

    @Test("A section may have another byte order, and its interfaces replace the previous ones")
    func sections() throws {
        let little = Pcapng()
        let big = Pcapng(isBigEndian: true)
        let first = join(
            little.section(), little.interface(linkType: 187, options: [(2, Array("one".utf8))]),
            little.packet(units: 1, packet))
        let second = join(
            big.section(), big.interface(linkType: 272, options: [(2, Array("two".utf8)), (9, [9])]),
            big.packet(units: 2, advert.packet(linkType: 272)))
        let reading = try Reading(join(first, second, first))
        #expect(reading.heard.map(\.receiver) == ["one", "two", "one"])
        #expect(reading.records == [1000, 2, 1000])
        // The second section describes only one interface.
        let lost = try Reading(join(first, big.section(), big.packet(units: 1, packet)))
        #expect(lost.error?.code == .damaged)
        #expect(lost.error?.offset == first.count + big.section().count)
        #expect(lost.heard.count == 1)
    }

    @Test("A file without Bluetooth packets is unsupported, but an empty file is not")
    func unsupported() throws {
        let pcapng = Pcapng()
        let other = try Reading(
            join(pcapng.section(), pcapng.interface(linkType: 1), pcapng.packet(units: 1, packet)))
        #expect(other.error?.code == .unsupported)
        #expect(other.error?.message.contains("type 1 ") == true)
        #expect(try Reading(pcapng.section()).error == nil)
    }

    @Test("Damage is an error, and everything before it is delivered")
    func damage() throws {
        let pcapng = Pcapng()
        let before = join(pcapng.section(), pcapng.interface(linkType: 187), pcapng.packet(units: 1, packet))
        var lengths = pcapng.packet(units: 1, packet)
        lengths[lengths.count - 4] ^= 4
        var odd = pcapng.packet(units: 1, packet)
        odd[4] ^= 1
        var count = pcapng.packet(units: 1, packet)
        count[20] = 0xFF
        for (name, block) in [
            ("two lengths", lengths), ("odd length", odd), ("packet longer than its block", count),
            ("interface", pcapng.packet(interface: 1, units: 1, packet)), ("short packet block", pcapng.block(6, [0])),
            ("short interface block", pcapng.block(1, [])), ("section", pcapng.block(0x0A0D_0D0A, [1, 2, 3, 4])),
        ] {
            let reading = try Reading(before + block)
            #expect(reading.heard.count == 1, "\(name)")
            #expect(reading.error?.code == .damaged, "\(name)")
            #expect(reading.error?.offset == before.count, "\(name)")
        }
    }
}
