/// The difference of two texts, in the form that `git apply` and `patch -p1` read.
public enum UnifiedDiff {
    /// The number of unchanged lines around a change.
    private static let context = 3

    /// Returns the difference, which is empty for equal texts.
    ///
    /// - Parameter path: the path of the file, relative to the directory in which the patch is applied.
    public static func between(_ old: [UInt8], _ new: [UInt8], path: String) -> [UInt8] {
        let (oldLines, newLines) = (lines(of: old), lines(of: new))
        let difference = newLines.difference(from: oldLines)
        if difference.isEmpty { return [] }
        var removed: Set<Int> = []
        var inserted: Set<Int> = []
        for change in difference {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        // Each row is a line of the old text, of the new text or of both.
        var rows: [(mark: UInt8, line: ArraySlice<UInt8>)] = []
        var (left, right) = (0, 0)
        while left < oldLines.count || right < newLines.count {
            if left < oldLines.count, removed.contains(left) {
                rows.append((UInt8(ascii: "-"), oldLines[left]))
                left += 1
            } else if right < newLines.count, inserted.contains(right) {
                rows.append((UInt8(ascii: "+"), newLines[right]))
                right += 1
            } else {
                rows.append((UInt8(ascii: " "), oldLines[left]))
                left += 1
                right += 1
            }
        }
        return Array("--- a/\(path)\n+++ b/\(path)\n".utf8) + hunks(of: rows)
    }

    private static func hunks(of rows: [(mark: UInt8, line: ArraySlice<UInt8>)]) -> [UInt8] {
        let space = UInt8(ascii: " ")
        var result: [UInt8] = []
        var index = 0
        var (oldLine, newLine) = (1, 1)
        while let first = rows[index...].firstIndex(where: { $0.mark != space }) {
            var last = first
            while let next = rows[(last + 1)...].prefix(2 * context + 1).firstIndex(where: { $0.mark != space }) {
                last = next
            }
            let start = max(index, first - context)
            let end = min(rows.count, last + context + 1)
            oldLine += start - index
            newLine += start - index
            let oldCount = rows[start..<end].count { $0.mark != UInt8(ascii: "+") }
            let newCount = rows[start..<end].count { $0.mark != UInt8(ascii: "-") }
            // An empty range is numbered by the line before it.
            let (from, to) = (oldCount == 0 ? oldLine - 1 : oldLine, newCount == 0 ? newLine - 1 : newLine)
            result += Array("@@ -\(from),\(oldCount) +\(to),\(newCount) @@\n".utf8)
            for row in rows[start..<end] {
                result.append(row.mark)
                result += row.line
                if row.line.last != UInt8(ascii: "\n") { result += Array("\n\\ No newline at end of file\n".utf8) }
            }
            oldLine += oldCount
            newLine += newCount
            index = end
        }
        return result
    }

    /// Returns the lines of a text, each with its line ending.
    private static func lines(of text: [UInt8]) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var start = 0
        while start < text.count {
            let end = text[start...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? text.count
            lines.append(text[start..<end])
            start = end
        }
        return lines
    }
}
