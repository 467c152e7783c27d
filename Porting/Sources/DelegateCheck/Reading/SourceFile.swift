internal import SwiftParser
package import SwiftSyntax

/// A source with its syntax tree.
package struct SourceFile {
    /// The content.
    package let utf8: [UInt8]

    /// The syntax tree, which exists for any content. It ends where the nesting exceeds the limit.
    package let tree: SourceFileSyntax

    private let lineStarts: [Int]

    /// Parses a source.
    package init(_ utf8: [UInt8]) {
        self.utf8 = utf8
        tree = utf8.prefix(Nesting.readableLength(of: utf8)).withUnsafeBufferPointer {
            Parser.parse(source: $0, maximumNestingLevel: 128)
        }
        var lineStarts = [0]
        for index in utf8.indices {
            let byte = utf8[index]
            let isLoneReturn =
                byte == UInt8(ascii: "\r") && (index + 1 == utf8.count || utf8[index + 1] != UInt8(ascii: "\n"))
            if byte == UInt8(ascii: "\n") || isLoneReturn { lineStarts.append(index + 1) }
        }
        self.lineStarts = lineStarts
    }

    /// Returns the text of a node without surrounding spaces and comments.
    package func text(of node: some SyntaxProtocol) -> String {
        text(node.trimmedOffsets)
    }

    /// Returns the text between two offsets.
    package func text(_ range: Range<Int>) -> String {
        String(decoding: utf8[range.clamped(to: utf8.indices)], as: UTF8.self)
    }

    /// Returns the text of a node on one line, with single spaces.
    package func line(of node: some SyntaxProtocol) -> String {
        text(of: node).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Returns the line and column of a byte, both counted from 1. Columns count bytes, like the compiler's.
    package func place(of offset: Int) -> (line: Int, column: Int) {
        var low = 0
        var high = lineStarts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        return (low + 1, offset - lineStarts[low] + 1)
    }
}

extension SyntaxProtocol {
    /// The offsets of its bytes in the source, without surrounding spaces and comments.
    package var trimmedOffsets: Range<Int> {
        let start = positionAfterSkippingLeadingTrivia.utf8Offset
        return start..<max(start, endPositionBeforeTrailingTrivia.utf8Offset)
    }
}
