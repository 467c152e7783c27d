import BeaconSupport
import Testing

@Suite("Printable text")
struct PrintableTextTests {
    @Test(
        "External text cannot control a terminal, and stays on one line (D16)",
        arguments: [
            ("plain, ümläute, 部屋 👩‍🔬", "plain, ümläute, 部屋 👩‍🔬"),
            ("a\u{1B}[2Jb", #"a\u{1b}[2Jb"#),
            ("\u{9B}31mred", #"\u{9b}31mred"#),
            ("\u{7F}\0\u{8}", #"\u{7f}\u{0}\u{8}"#),
            ("one\ntwo\r\nthree\tfour\u{2028}five", "one two three four five"),
            ("user\u{202E}cod.exe", #"user\u{202e}cod.exe"#),
            ("", ""),
        ])
    func printable(_ text: String, _ expected: String) { #expect(text.printable == expected) }

    @Test(
        "A sentence gets exactly one period at its end",
        arguments: [
            ("it is off", "it is off."), ("it is off.", "it is off."), ("is it off?", "is it off?"),
            ("see: dmesg | grep blue", "see: dmesg | grep blue."), ("and so on…", "and so on…"), ("", ""),
        ])
    func sentence(_ text: String, _ expected: String) { #expect(text.sentence == expected) }

    @Test("Random text has no control characters left")
    func anything() {
        var random = SplitMix64(seed: 1)
        for _ in 0..<2_000 {
            let bytes = (0..<20).map { _ in UInt8.random(in: 0...255, using: &random) }
            let text = String(decoding: bytes, as: UTF8.self).printable
            #expect(text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
        }
    }
}
