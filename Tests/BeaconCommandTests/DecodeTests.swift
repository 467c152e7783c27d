import TestSupport
import Testing

@Suite("beacon decode", .fewAtATime)
struct DecodeTests {
    private static let advert = "0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010002c5"
    private static let line =
        #"{"uuid":"e2c56db5-dffb-48d2-b060-d0f5a71096e0","major":1,"minor":2,"measuredPower":-59}"#

    @Test(
        "Hexadecimal digits are read in all usual spellings",
        arguments: [
            advert, advert.uppercased(), "0x" + advert,
            "02:01:06 1a-ff-4c 0002 15e2c56db5dffb48d2b060d0f5a71096e000010002c5",
            "02 15 e2 c5 6d b5 df fb 48 d2 b0 60 d0 f5 a7 10 96 e0 00 01 00 02 c5",
            "1E 02 01 06 1A FF 4C 00 02 15 E2 C5 6D B5 DF FB 48 D2 B0 60 D0 F5 A7 10 96 E0 00 01 00 02 C5 00",
            "043e2a02010001433ea2c96b6a1e02011a1aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010002c5b3",
        ])
    func spellings(hex: String) async throws {
        let outcome = try await BeaconProgram.run("decode", hex, "--json")
        #expect(outcome.lines == [Self.line])
        #expect(outcome.status == 0)
    }

    @Test(
        "The arguments that a shell makes of an advert are one advert",
        arguments: [
            "0x08 0x0008 1E 02 01 06 1A FF 4C 00 02 15 E2 C5 6D B5 DF FB 48 D2 B0 60 D0 F5 A7 10 96 E0 00 01 00 02 C5 00",
            "4c000215 e2c56db5 dffb48d2 b060d0f5 a71096e0 00010002 c5",
        ])
    func arguments(text: String) async throws {
        let outcome = try await BeaconProgram.run(["decode", "--json"] + text.split(separator: " ").map(String.init))
        #expect(outcome.lines == [Self.line])
        #expect(outcome.status == 0)
    }

    private static let hall = "[15:29:14][VV][esp32_ble_tracker:570]:   "
    @Test(
        "An identity that a tool has decoded is named as such",
        arguments: [
            "\(hall)iBeacon data:\n\(hall)  UUID: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0\n\(hall)  Major: 1\n\(hall)  Minor: 2\n\(hall)  TXPower: -59",
            "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0-10-7", "e2c56db5dffb48d2b060d0f5a71096e0_10_7",
            "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/10/7",
        ])
    func identity(text: String) async throws {
        let outcome = try await BeaconProgram.run("decode", text)
        #expect(outcome.status == 1 && outcome.errors.contains("a beacon's identity"), "\(outcome.errors)")
    }

    @Test("An impossible power is reported as such", arguments: ["00", "fd", "7f", "80", "e3"])
    func impossiblePower(byte: String) async throws {
        let outcome = try await BeaconProgram.run("decode", "\(Self.advert.dropLast(2))\(byte)")
        #expect(outcome.lines.last?.contains("is impossible: the beacon") == true && outcome.status == 0)
        let usual = try await BeaconProgram.run("decode", Self.advert)
        #expect(usual.lines.count == 4)
    }

    @Test("Single bytes as arguments are one advert; several adverts give a line each")
    func words() async throws {
        var bytes: [String] = []
        var rest = Self.advert[...]
        while !rest.isEmpty {
            bytes.append(String(rest.prefix(2)))
            rest = rest.dropFirst(2)
        }
        let asBytes = try await BeaconProgram.run("decode", "--json", bytes.joined(separator: " "))
        #expect(asBytes.lines == [Self.line])
        let apart = try await BeaconProgram.run(["decode", "--json"] + bytes)
        #expect(apart.lines == [Self.line])
        let twice = try await BeaconProgram.run("decode", Self.advert, Self.advert, "--json")
        #expect(twice.lines == [Self.line, Self.line])
        let mixed = try await BeaconProgram.run("decode", Self.advert, "020106", "0x" + Self.advert, "--json")
        #expect(mixed.lines.count == 3 && mixed.lines.first == Self.line && mixed.lines.last == Self.line)
        #expect(mixed.status == 1)
    }

    @Test(
        "Bytes that are not an iBeacon give a reason and status 1",
        arguments: [
            ("02011a020a0c0aff4c001005441cbd08c5", "not an iBeacon"),
            ("02011a1bff1801beac2f234454cf6d4a0fadf2f4911ba9ffa600010002c509", "0x0118"),
            ("0201061aff4c000215e2c56d", "18 bytes are missing"),
            ("020106", "no manufacturer specific data"),
            ("043e0a03004000060000002a00", "not an advertising report"),
            ("0201041aff590002150112233445566778899aabbccddeeff001020304c3", "Nordic Semiconductor"),
            ("02010", "odd number"), ("0201zz", "not a hexadecimal byte"), ("-", "no bytes"),
        ])
    func reasons(hex: String, reason: String) async throws {
        let json = try await BeaconProgram.run("decode", "--json", "--", hex)
        #expect(json.status == 1)
        #expect(json.output.hasPrefix(#"{"error":"#))
        #expect(json.output.contains(reason), "\(json.output)")
        let text = try await BeaconProgram.run("decode", "--", hex)
        #expect(text.status == 1)
        #expect(text.output.isEmpty)
        #expect(text.errors.contains(reason))
    }
}
