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

    @Test("NaN is null")
    func noNumber() { #expect(text { $0.append(fixed: .nan, decimals: 2) } == "null") }
}
