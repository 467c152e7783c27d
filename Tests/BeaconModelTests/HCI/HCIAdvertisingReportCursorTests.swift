import BeaconModel
import BeaconSupport
import Testing

@Suite("HCI advertising reports")
struct HCIAdvertisingReportCursorTests {
    private static let advert = "02 01 06 03 FF 4C 00"

    /// Returns an event with code, length, subevent, count and these reports.
    private func event(_ subevent: String, count: Int, _ reports: String...) throws -> [UInt8] {
        let body = try bytes(subevent) + [UInt8(count)] + bytes(reports.joined())
        return [0x3E, UInt8(body.count)] + body
    }

    private let address = DeviceAddress(bits: 0x6A6B_C9A2_3E43, kind: .random)

    @Test("A legacy report is read", arguments: 0..<5)
    func legacy(type: UInt8) throws {
        let found = try reports(of: event("02", count: 1, "0\(type) 01 433EA2C96B6A 07 \(Self.advert) C5"))
        let heard = try #require(found.first)
        #expect(found.count == 1)
        #expect(heard.report.kind.rawValue == type)
        #expect(heard.report.address == address)
        #expect(heard.report.rssi.dBm == -59)
        #expect(try heard.advert == bytes(Self.advert))
        #expect(heard.completeness == .complete)
        #expect(heard.advertisingSet == 0xFF)
    }

    @Test("Reserved bits of a legacy report's type are ignored", arguments: ["10", "20", "13", "84", "F3"])
    func reservedBits(type: String) throws {
        let kind = try #require(UInt8(type, radix: 16)) & 0x0F
        let found = try reports(of: event("02", count: 1, "\(type) 01 433EA2C96B6A 07 \(Self.advert) C5"))
        #expect(found.map(\.report.kind.rawValue) == [kind])
    }

    @Test("A legacy report of an unknown type is ignored", arguments: ["05", "06", "15", "FF"])
    func unknownLegacyType(type: String) throws {
        #expect(try reports(of: event("02", count: 1, "\(type) 01 433EA2C96B6A 00 C5")).isEmpty)
    }

    @Test("An event may have several legacy reports, in order")
    func severalLegacy() throws {
        let found = try reports(
            of: event(
                "02", count: 3, "00 01 433EA2C96B6A 07 \(Self.advert) C5", "04 00 433EA2C96B6A 00 7F",
                "03 01 443EA2C96B6A 02 01 09 80"))
        #expect(found.map(\.report.kind) == [.connectable, .scanResponse, .nonConnectable])
        #expect(found.map(\.report.rssi.rawValue) == [-59, 127, -128])
        #expect(found.map(\.advert.count) == [7, 0, 2])
        #expect(found.map(\.report.address.kind) == [.random, .public, .random])
    }

    @Test(
        "Address types are read",
        arguments: [
            ("00", DeviceAddress.Kind.public), ("01", .random), ("02", .publicIdentity), ("03", .randomIdentity),
            ("FE", .unspecified), ("FF", .anonymous), ("04", .unspecified),
        ])
    func addressTypes(type: String, kind: DeviceAddress.Kind) throws {
        let found = try reports(of: event("02", count: 1, "03 \(type) 433EA2C96B6A 00 C5"))
        #expect(found.map(\.report.address.kind) == [kind])
    }

    private func extendedReport(type: String = "0000", set: String = "03", _ advert: String = advert) throws -> String {
        let count = String(try bytes(advert).count, radix: 16)
        return "\(type) 01 433EA2C96B6A 01 00 \(set) 7F C5 0000 00 000000000000 \(count.count < 2 ? "0" : "")\(count)"
            + advert
    }

    @Test(
        "Extended reports contain legacy and extended adverts",
        arguments: [
            ("0000", AdvertisingReport.Kind.extended), ("0100", .extended), ("1300", .connectable),
            ("1500", .directed), ("1200", .scannable), ("1000", .nonConnectable), ("1B00", .scanResponse),
            ("1A00", .scanResponse),
        ])
    func extendedKinds(type: String, kind: AdvertisingReport.Kind) throws {
        let found = try reports(of: event("0D", count: 1, extendedReport(type: type)))
        let heard = try #require(found.first)
        #expect(heard.report == AdvertisingReport(kind: kind, address: address, rssi: SignalStrength(rawValue: -59)))
        #expect(heard.advertisingSet == 3)
        #expect(heard.completeness == .complete)
        #expect(try heard.advert == bytes(Self.advert))
    }

    @Test(
        "An extended report has the completeness of its advert",
        arguments: [
            ("0000", HCIAdvertisingReport.Completeness.complete), ("2000", .moreToCome), ("4000", .truncated),
            // Reserved: no more data can be expected.
            ("6000", .truncated),
        ])
    func completeness(type: String, completeness: HCIAdvertisingReport.Completeness) throws {
        let found = try reports(of: event("0D", count: 1, extendedReport(type: type)))
        #expect(found.map(\.completeness) == [completeness])
    }

    @Test("An event may have several extended reports")
    func severalExtended() throws {
        let found = try reports(
            of: event("0D", count: 2, extendedReport(set: "01"), extendedReport(type: "1000", set: "FF", "")))
        #expect(found.map(\.advertisingSet) == [1, 0xFF])
        #expect(found.map(\.report.kind) == [.extended, .nonConnectable])
        #expect(found.map(\.advert.count) == [7, 0])
    }

    @Test("Directed reports have no advert")
    func directed() throws {
        let one = "01 01 433EA2C96B6A 01 112233445566 C5"
        let found = try reports(of: event("0B", count: 2, one, one))
        let report = AdvertisingReport(kind: .directed, address: address, rssi: SignalStrength(rawValue: -59))
        #expect(found.map(\.report) == [report, report])
        #expect(found.allSatisfy { $0.advert.isEmpty && $0.completeness == .complete })
    }

    @Test(
        "Other events have no reports",
        arguments: [
            "", "3E", "3E 00", "3E 01 02", "3E 02 02 01", "0E 04 01 05 10 00",
            "3E 13 01 01 00 01 433EA2C96B6A 07 02 01 06 03 FF 4C 00 C5",
            "3F 13 02 01 00 01 433EA2C96B6A 07 02 01 06 03 FF 4C 00 C5",
            "3E 13 02 00 00 01 433EA2C96B6A 07 02 01 06 03 FF 4C 00 C5",
        ])
    func others(hex: String) throws { #expect(try reports(of: bytes(hex)).isEmpty) }

    @Test("A truncated event gives its complete reports", arguments: ["02", "0D", "0B"])
    func cut(subevent: String) throws {
        let one =
            switch subevent {
            case "02": "00 01 433EA2C96B6A 07 \(Self.advert) C5"
            case "0D": try extendedReport()
            default: "01 01 433EA2C96B6A 01 112233445566 C5"
            }
        let size = try bytes(one).count
        let whole = try event(subevent, count: 3, one, one, one)
        for end in 0...whole.count {
            #expect(reports(of: Array(whole[..<end])).count == max(0, end - 4) / size, "\(end)")
            // The same if the event's own length is shorter.
            var shorter = whole
            shorter[1] = UInt8(max(0, end - 2))
            #expect(reports(of: shorter).count == max(0, end - 4) / size, "\(end)")
        }
    }

    @Test("A count may claim more reports than the event has", arguments: ["02", "0D", "0B"])
    func lyingCount(subevent: String) throws {
        let one =
            switch subevent {
            case "02": "00 01 433EA2C96B6A 07 \(Self.advert) C5"
            case "0D": try extendedReport()
            default: "01 01 433EA2C96B6A 01 112233445566 C5"
            }
        #expect(try reports(of: event(subevent, count: 255, one, one)).count == 2)
        // A lower count is used.
        #expect(try reports(of: event(subevent, count: 1, one, one)).count == 1)
    }

    @Test("Bytes after the event's own length are not part of it")
    func bytesBehind() throws {
        let one = "00 01 433EA2C96B6A 07 \(Self.advert) C5"
        let event = try event("02", count: 2, one)
        #expect(try reports(of: event + bytes(one)).count == 1)
    }

    @Test("Random events never give bytes from outside of them", arguments: 0..<8)
    func randomEvents(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var found = 0
        for _ in 0..<2000 {
            let count = Int.random(in: 5..<200, using: &random)
            var event = random.bytes(count)
            event[0] = 0x3E
            event[1] = Bool.random(using: &random) ? UInt8(count - 2) : event[1]
            event[2] = [0x02, 0x0B, 0x0D].randomElement(using: &random) ?? 0
            if event[2] == 2 {
                event[4] &= 7
                if count > 12 { event[12] &= 31 }
            } else if event[2] == 0x0D, count > 27 {
                event[27] &= 63
            }
            // Copying the advert traps if its bounds are wrong.
            found += reports(of: event).count
        }
        #expect(found > 500, "the events are too random to test anything")
    }
}
