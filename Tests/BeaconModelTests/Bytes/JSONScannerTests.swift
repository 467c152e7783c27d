import BeaconModel
import BeaconSupport
import Testing

/// Tests of the scanner of JSON text.
struct JSONScannerTests {
    private static func string(_ json: [UInt8], isStrict: Bool) throws(JSONScanner.Fault) -> String {
        var scanner = JSONScanner(isStrict: isStrict)
        let string = try scanner.string(json.span.bytes)
        guard scanner.position == json.count else {
            throw JSONScanner.Fault(kind: .refused("there is more"), offset: scanner.position)
        }
        return string
    }

    @Test(
        "Strings are read with their escapes, strictly or not",
        arguments: [
            (#""""#, ""), ("\"é\u{1F4E1}\"", "é\u{1F4E1}"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
            (#""a\u00E9b""#, "aéb"), (#""\uD83D\uDCE1!""#, "\u{1F4E1}!"), (#""x\\""#, #"x\"#),
        ])
    func strings(json: String, expected: String) throws {
        for isStrict in [false, true] {
            #expect(try Self.string(Array(json.utf8), isStrict: isStrict) == expected)
        }
    }

    @Test(
        "A fault in a string has its kind and place",
        arguments: [
            ("x", .missing("\""), 0), (#""abc"#, .unclosedString, 4), (#""a\n"#, .unclosedString, 4),
            (#""a\x""#, .unknownEscape, 3), (#""a\u12G4""#, .missingDigits, 6), (#""a\u12"#, .missingDigits, 6),
        ] as [(String, JSONScanner.Fault.Kind, Int)])
    func faults(json: String, kind: JSONScanner.Fault.Kind, offset: Int) {
        for isStrict in [false, true] {
            let error = #expect(throws: JSONScanner.Fault.self) {
                try Self.string(Array(json.utf8), isStrict: isStrict)
            }
            #expect(error == JSONScanner.Fault(kind: kind, offset: offset))
        }
    }

    @Test(
        "A strict scanner refuses faults that another scanner repairs",
        arguments: [
            (Array("\"a\tb\"".utf8), "a\tb", .controlCharacter, 2), ([0x22, 0xC3, 0x22], "\u{FFFD}", .notUTF8, 3),
            (Array(#""\uDC00""#.utf8), "\u{FFFD}", .loneSurrogate, 7),
            (Array(#""\uD800x""#.utf8), "\u{FFFD}x", .loneSurrogate, 7),
            (Array(#""\uD800\u0041""#.utf8), "\u{FFFD}A", .loneSurrogate, 13),
        ] as [([UInt8], String, JSONScanner.Fault.Kind, Int)])
    func strictness(json: [UInt8], repaired: String, kind: JSONScanner.Fault.Kind, offset: Int) throws {
        #expect(try Self.string(json, isStrict: false) == repaired)
        let error = #expect(throws: JSONScanner.Fault.self) { try Self.string(json, isStrict: true) }
        #expect(error == JSONScanner.Fault(kind: kind, offset: offset))
    }

    @Test("Values of every kind are skipped up to their end")
    func skipping() throws {
        for json in ["1", "-2.5e3", "true", "null", #""a\"}""#, "[]", "{ }", #"[1, {"a": [null]} , "]"]"#] {
            let text = Array((json + ",").utf8)
            var scanner = JSONScanner(isStrict: false)
            try scanner.skipValue(text.span.bytes)
            #expect(scanner.position == text.count - 1, "\(json)")
        }
    }

    @Test("Nesting is bounded")
    func depth() throws {
        for (depth, isRead) in [(JSONScanner.deepest - 1, true), (JSONScanner.deepest, false), (100_000, false)] {
            let text =
                [UInt8](repeating: UInt8(ascii: "["), count: depth) + Array("1".utf8)
                + [UInt8](repeating: UInt8(ascii: "]"), count: depth)
            var scanner = JSONScanner(isStrict: false)
            do throws(JSONScanner.Fault) {
                try scanner.skipValue(text.span.bytes)
                #expect(isRead)
            } catch {
                #expect(!isRead)
                #expect(error == JSONScanner.Fault(kind: .tooDeep, offset: JSONScanner.deepest))
            }
        }
    }

    @Test("A scanner ends within any text")
    func mutations() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        let alphabet = Array("{}[]\",:\\u0aDtrue \u{7}é".utf8)
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...24, using: &random)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
            }
            for isStrict in [false, true] {
                var scanner = JSONScanner(isStrict: isStrict)
                do throws(JSONScanner.Fault) {
                    try scanner.skipValue(text.span.bytes)
                    #expect(scanner.position <= text.count, "seed \(seed)")
                } catch {
                    #expect((0...text.count).contains(error.offset), "seed \(seed), \(error)")
                }
            }
        }
    }
}
