import BeaconSupport
import Testing

/// Tests of tables in text form (RFC 4180).
struct CSVReaderTests {
    private static func fields(_ text: String) throws -> [[String]] {
        let bytes = Array(text.utf8)
        return try CSVReader.records(of: bytes, separator: CSVReader.separator(of: bytes)).map(\.fields)
    }

    @Test(
        "Tables are split into records and fields",
        arguments: [
            ("", []), ("\n\r\n", []), ("a", [["a"]]), ("a,b\r\n1,2\r\n", [["a", "b"], ["1", "2"]]),
            ("\u{FEFF}a;b\n1;2", [["a", "b"], ["1", "2"]]), ("a\tb,c", [["a\tb", "c"]]), ("a\tb", [["a", "b"]]),
            ("a,\n,b\n,\n", [["a", ""], ["", "b"], ["", ""]]), ("\"a,b\",c", [["a,b", "c"]]),
            ("\"a\"\"b\"", [["a\"b"]]), ("\"a\r\nb\",c", [["a\r\nb", "c"]]), ("a\"b,c", [["a\"b", "c"]]),
            ("\"\"\n", [[""]]), ("\"a\"b,c", [["ab", "c"]]), ("é,\u{1F4E1}\r", [["é", "\u{1F4E1}"]]),
        ] as [(String, [[String]])])
    func records(text: String, expected: [[String]]) throws {
        #expect(try Self.fields(text) == expected)
    }

    @Test("A record has the number of its first line, despite blank lines and line breaks in quotes")
    func lines() throws {
        for end in ["\n", "\r\n", "\r"] {
            let text = ["a,b", "", "1,\"2", "3\"", "4,5"].joined(separator: end)
            #expect(try CSVReader.records(of: Array(text.utf8), separator: UInt8(ascii: ",")).map(\.line) == [1, 3, 5])
        }
    }

    @Test("An unclosed quote is an error with its record's line")
    func unclosed() {
        let error = #expect(throws: CSVReader.UnclosedQuote.self) { try Self.fields("a,b\n1,\"2\n3") }
        #expect(error?.line == 2)
    }

    @Test("Quoted fields are parsed as they were written")
    func roundTrip() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        for _ in 0..<2000 {
            let rows = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                (0..<3).map { _ in
                    String(
                        (0..<Int.random(in: 0...4, using: &random)).map { _ in
                            "a,;\"\n\té".randomElement(using: &random)!
                        })
                }
            }
            let text = rows.map { row in
                row.map {
                    "\"" + $0.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
                }
                .joined(separator: ",")
            }.joined(separator: "\n")
            let read = try CSVReader.records(of: Array(text.utf8), separator: UInt8(ascii: ",")).map(\.fields)
            #expect(read == rows, "seed \(seed)")
        }
    }
}
