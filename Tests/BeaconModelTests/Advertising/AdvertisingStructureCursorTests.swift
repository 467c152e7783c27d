import BeaconModel
import Testing

@Suite("AD structures")
struct AdvertisingStructureCursorTests {
    @Test("Each structure has its type and value")
    func walk() throws {
        let advert = try bytes("02 01 06  03 03 AA FE  05 FF 4C 00 10 05")
        #expect(try structures(of: advert) == [bytes("01 06"), bytes("03 AA FE"), bytes("FF 4C 00 10 05")])
    }

    @Test("A structure may have a type without a value")
    func noValue() throws {
        #expect(try structures(of: bytes("01 09 02 01 06")) == [[0x09], [0x01, 0x06]])
    }

    @Test("Empty and truncated adverts have no structures", arguments: ["", "00", "01", "1A", "FF", "00 00"])
    func nothing(hex: String) throws { #expect(try structures(of: bytes(hex)).isEmpty) }

    @Test("A length of zero ends the walk")
    func zeroLength() throws {
        #expect(try structures(of: bytes("02 01 06 00 02 01 05")) == [[0x01, 0x06]])
    }

    @Test("A length beyond the end ends the walk and keeps the structures before", arguments: ["03", "04", "1F", "FF"])
    func lyingLength(length: String) throws {
        #expect(try structures(of: bytes("02 01 06 \(length) FF 4C")) == [[0x01, 0x06]])
    }

    @Test("A byte after the last structure is ignored")
    func trailingByte() throws {
        #expect(try structures(of: bytes("02 01 06 05")) == [[0x01, 0x06]])
    }

    @Test("The end remains the end")
    func end() throws {
        let advert = try bytes("02 01 06")
        var cursor = AdvertisingStructureCursor()
        let first = cursor.next(in: advert.span.bytes)
        #expect(first?.type == AdvertisingStructure.flags)
        for _ in 0..<3 {
            let isOver = cursor.next(in: advert.span.bytes) == nil
            #expect(isOver)
        }
    }

    @Test("A structure of an extended advert may have 255 bytes")
    func longest() {
        let advert = [255, 0xFF] + [UInt8](repeating: 7, count: 254)
        #expect(structures(of: advert).map(\.count) == [255])
        #expect(structures(of: advert.dropLast()).isEmpty)
    }
}
