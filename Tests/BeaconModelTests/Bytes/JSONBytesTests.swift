import BeaconModel
import Testing

@Suite("JSON as bytes")
struct JSONBytesTests {
    private func text(_ fill: (inout [UInt8]) -> Void) -> String {
        var bytes: [UInt8] = []
        fill(&bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("Whole numbers are written", arguments: [0, 1, -1, 9, 10, 99, 100, -65_536, .max, .min])
    func decimal(number: Int) { #expect(text { $0.append(decimal: number) } == "\(number)") }

    @Test(
        "Numbers are written with decimals",
        arguments: [
            (0, 2, "0.00"), (-1, 2, "-1.00"), (1.005, 1, "1.0"), (2.345, 0, "2"), (-0.04, 1, "0.0"), (-0.06, 1, "-0.1"),
            (12.3456789, 9, "12.345679"), (.infinity, 1, "100000000000000.0"), (-1e300, 0, "-1000000000000000"),
        ] as [(Double, Int, String)])
    func fixed(value: Double, decimals: Int, expected: String) {
        #expect(text { $0.append(fixed: value, decimals: decimals) } == expected)
    }

    @Test("No character of a text controls a terminal or changes the writing direction")
    func texts() {
        for value in UInt32(0)...0x2FFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let json = text { $0.append(jsonText: "a\(Character(scalar))b") }
            let isDangerous =
                scalar.properties.generalCategory == .control
                || [0x061C, 0x200E, 0x200F].contains(value) || (0x2028...0x202E).contains(value)
                || (0x2066...0x2069).contains(value)
            #expect(json.utf8.allSatisfy { $0 < 0x7F && $0 >= 0x20 } || !isDangerous)
            #expect(json == "\"a\(Character(scalar))b\"" || isDangerous || value == 0x22 || value == 0x5C)
        }
        #expect(text { $0.append(jsonText: "\u{202E}\u{9B}é\"\n") } == #""\u202e\u009bé\"\u000a""#)
    }

    @Test("NaN is null")
    func noNumber() { #expect(text { $0.append(fixed: .nan, decimals: 2) } == "null") }
}
