import BeaconModel
import BeaconRadio
import Testing

@Suite("Fragmented extended adverts")
struct ExtendedAdvertTests {
    private static let frame = Advert.samples[0].frame

    /// An extended report with this event type.
    private func report(
        _ type: UInt16, address: UInt64 = 1, set: UInt8 = 0, _ piece: [UInt8], controller: UInt32 = 0
    ) -> [UInt8] {
        let report = join(
            number(type, isBigEndian: false), [1], addressBytes(address), [1, 0, set, 127, 0xC5],
            [UInt8](repeating: 0, count: 9), [UInt8(piece.count)], piece)
        let event = [0x3E, UInt8(report.count + 2), 0x0D, 1] + report
        return Btsnoop.record(flags: controller << 16 | 3, microseconds: 1, event)
    }

    private func reading(_ records: [UInt8]...) throws -> Reading {
        try Reading(Btsnoop.header(datalink: 2001) + records.joined())
    }

    private let more: UInt16 = 0x20
    private let truncated: UInt16 = 0x40

    @Test("Fragments of any length are reassembled", arguments: 0...30)
    func cuts(place: Int) throws {
        let advert = Self.frame.advert
        let reading = try reading(report(more, Array(advert[..<place])), report(0, Array(advert[place...])))
        #expect(reading.heard.map(\.advert) == [advert])
        #expect(reading.heard.first?.kind == .extended)
        #expect(reading.heard.first?.frame == Self.frame)
        #expect(reading.records.count == 2)
    }

    @Test("Interleaved adverts are distinguished by receiver, address and set")
    func interleaved() throws {
        let pieces: [(UInt64, UInt8, UInt32)] = [(1, 0, 0), (2, 0, 0), (1, 1, 0), (1, 0, 1)]
        let first = pieces.enumerated().map { index, key in
            report(more, address: key.0, set: key.1, [UInt8(index)], controller: key.2)
        }
        let second = pieces.enumerated().map { index, key in
            report(0, address: key.0, set: key.1, [UInt8(index) | 0x80], controller: key.2)
        }
        let reading = try reading(Array(first.joined()), Array(second.joined()))
        #expect(reading.heard.map(\.advert) == [[0, 0x80], [1, 0x81], [2, 0x82], [3, 0x83]])
        #expect(reading.heard.map(\.receiver) == ["hci0", "hci0", "hci0", "hci1"])
    }

    @Test("Adverts whose rest the controller lost are delivered up to the loss")
    func lost() throws {
        let advert = Self.frame.advert
        let reading = try reading(
            report(more, Array(advert[..<3])), report(truncated, Array(advert[3...])), report(truncated, [1, 9]),
            report(0, advert))
        #expect(reading.heard.map(\.advert) == [advert, [1, 9], advert])
    }

    @Test("Legacy adverts are always complete, regardless of their status")
    func legacy() throws {
        let reading = try reading(report(0x10 | more, [1, 9]), report(0x10, [1, 8]))
        #expect(reading.heard.map(\.advert) == [[1, 9], [1, 8]])
    }

    @Test("Endless adverts are limited to 1650 bytes, the maximum of an advert")
    func endless() throws {
        let piece = [UInt8](repeating: 7, count: 229)
        let pieces = (0..<40).map { _ in report(more, piece) }
        let reading = try reading(Array(pieces.joined()), report(0, [1]))
        #expect(reading.heard.map(\.advert.count) == [1650])
    }

    @Test("Incomplete adverts give way to newer ones")
    func abandoned() throws {
        let open = (0..<1000).map { report(more, address: $0, [1]) }
        let reading = try reading(Array(open.joined()), report(0, address: 999, [2]), report(0, address: 0, [3]))
        #expect(reading.heard.map(\.advert) == [[1, 2], [3]])
    }
}
