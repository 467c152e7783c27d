import BeaconPorting
import DelegateCheck
import Testing

/// A source and the expected result of porting it.
struct PortExample: CustomTestStringConvertible {
    /// The description of the example.
    var testDescription: String

    /// The source.
    var source: String

    /// The expected source; the same if nothing is ported.
    var expected: String

    /// A part of the reason of each expected decision.
    var decisions: [String] = []

    init(_ testDescription: String, _ source: String, becomes expected: String? = nil, decides decisions: String...) {
        self.testDescription = testDescription
        self.source = source
        self.expected = expected ?? source
        self.decisions = decisions
    }

    /// Ports the source, and compares.
    func check() {
        // A source without line endings uses Linux's.
        for newline in source.contains("\n") ? ["\n", "\r\n"] : ["\n"] {
            for start in ["", "\u{FEFF}"] {
                let text = start + source.replacing("\n", with: newline)
                let file = Self.port(text)
                let expected = start + expected.replacing("\n", with: newline)
                #expect(String(decoding: file.ported, as: UTF8.self) == expected)
                #expect(file.decisions.count == decisions.count, "\(file.decisions)")
                for (decision, reason) in zip(file.decisions, decisions) {
                    #expect("\(decision.line): \(decision.text)".contains(reason))
                }
                #expect(file.changes.isEmpty == (source == self.expected))
            }
        }
        #expect(Self.port(expected).changes == [], "porting a ported source again changed it")
    }

    static func port(_ text: String) -> PortedFile {
        Porting.port([SourceText(path: "a.swift", text: text)])[0]
    }
}
