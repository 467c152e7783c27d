import BeaconPorting
import DelegateCheck
import Testing

/// A source and what the port makes of it.
struct PortExample: CustomTestStringConvertible {
    /// What it shows.
    var testDescription: String

    /// The source.
    var source: String

    /// The source after; the same where the port leaves it alone.
    var expected: String

    /// The reasons of what is left for a human, each by a part of it.
    var decisions: [String] = []

    init(_ testDescription: String, _ source: String, becomes expected: String? = nil, decides decisions: String...) {
        self.testDescription = testDescription
        self.source = source
        self.expected = expected ?? source
        self.decisions = decisions
    }

    /// Ports the source, and compares.
    func check() {
        // A source without a line's end has the one of Linux.
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
        #expect(Self.port(expected).changes == [], "a ported source is ported again")
    }

    static func port(_ text: String) -> PortedFile {
        Porting.port([SourceText(path: "a.swift", text: text)])[0]
    }
}
