import TestSupport
import Testing

@Suite("beacon decode", .fewAtATime)
struct DecodeTests {
    private static let advert = "0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010002c5"
    private static let line =
        #"{"uuid":"e2c56db5-dffb-48d2-b060-d0f5a71096e0","major":1,"minor":2,"measuredPower":-59}"#

    @Test(
        "Hexadecimal is read as people write it",
        arguments: [
            advert, advert.uppercased(), "0x" + advert,
            "02:01:06 1a-ff-4c 0002 15e2c56db5dffb48d2b060d0f5a71096e000010002c5",
        ])
    func spellings(hex: String) async throws {
        let outcome = try await BeaconProgram.run("decode", hex, "--json")
        #expect(outcome.lines == [Self.line])
        #expect(outcome.status == 0)
    }

    @Test("Single bytes as words are one advert; several adverts give a line each")
    func words() async throws {
        var bytes: [String] = []
        var rest = Self.advert[...]
        while !rest.isEmpty {
            bytes.append(String(rest.prefix(2)))
            rest = rest.dropFirst(2)
        }
        let asBytes = try await BeaconProgram.run("decode", "--json", bytes.joined(separator: " "))
        #expect(asBytes.lines == [Self.line])
        let twice = try await BeaconProgram.run("decode", Self.advert, Self.advert, "--json")
        #expect(twice.lines == [Self.line, Self.line])
    }

    @Test(
        "What is no iBeacon gives a reason and status 1",
        arguments: [
            ("02011a020a0c0aff4c001005441cbd08c5", "another kind"),
            ("02011a1bff1801beac2f234454cf6d4a0fadf2f4911ba9ffa600010002c509", "0x0118"),
            ("0201061aff4c000215e2c56d", "claims 26 bytes"),
            ("020106", "no manufacturer specific data"),
            ("043e2a02010001433ea2c96b6a1e02011a1aff4c000215e2c56db5dffb48d2b060d0f5a71096e000640000c5b3", "HCI event"),
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
