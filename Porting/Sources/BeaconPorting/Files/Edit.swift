/// A replacement of bytes in a source.
struct Edit: Hashable {
    /// The bytes to replace; empty for an insertion.
    var range: Range<Int>

    /// The replacement.
    var text: String
}

/// Edits that belong together, with their summary in the report.
struct Change {
    /// The edits.
    var edits: [Edit]

    /// The offset in the source.
    var offset: Int

    /// The summary of the change for the report.
    var summary: String

    /// The bytes that need no other change, because Linux no longer compiles them.
    var hidden = 0..<0
}

/// A place that a rule cannot change without knowing the purpose of the code.
struct Decision {
    /// The offset in the source.
    var offset: Int

    /// The part that does not exist or does not work on Linux.
    var reason: String

    /// The remedy.
    var remedy: String
}

/// A source during porting: its bytes, and the original line of each line.
struct EditedText {
    /// The bytes.
    private(set) var utf8: [UInt8]

    /// The original line number of each line, counted from 1.
    private(set) var lineOrigins: [Int]

    init(_ utf8: [UInt8]) {
        self.utf8 = utf8
        lineOrigins = Array(1...1 + utf8.count { $0 == UInt8(ascii: "\n") })
    }

    /// Returns the original line number of a byte.
    func line(of offset: Int) -> Int {
        let line = utf8.prefix(offset).count { $0 == UInt8(ascii: "\n") }
        return lineOrigins[min(line, lineOrigins.count - 1)]
    }

    /// The line and the summary of each change that only inserted something.
    private var done: Set<String> = []

    /// Returns a change's line in the original, with its summary; nil if the change removes what its rule looks for.
    private func key(_ change: Change) -> String? {
        let inserts = !change.hidden.isEmpty || change.edits.allSatisfy(\.range.isEmpty)
        return inserts ? "\(line(of: change.offset)) \(change.summary)" : nil
    }

    /// Applies the changes that do not overlap an earlier one, and returns them.
    ///
    /// Nothing is inserted twice at a line, so rounds come to an end.
    mutating func make(_ changes: [Change]) -> [Change] {
        let changes = changes.filter { key($0).map { !done.contains($0) } ?? true }
        var made: [Change] = []
        var edits: [Edit] = []
        for change in changes {
            if made.contains(where: { $0.hidden.contains(change.offset) }) { continue }
            let isFree = change.edits.allSatisfy { new in
                !edits.contains {
                    new.range.lowerBound <= $0.range.upperBound && $0.range.lowerBound <= new.range.upperBound
                }
            }
            guard isFree else { continue }
            made.append(change)
            edits += change.edits
        }
        done.formUnion(made.compactMap(key))
        // Insertions of one change at the same offset keep their order.
        let sorted = edits.enumerated().sorted {
            ($0.element.range.lowerBound, $0.offset) < ($1.element.range.lowerBound, $1.offset)
        }
        var result: [UInt8] = []
        var origins = [1]
        var position = 0
        var line = 0
        func copy(_ bytes: some Sequence<UInt8>, isOriginal: Bool) {
            for byte in bytes {
                result.append(byte)
                guard byte == UInt8(ascii: "\n") else { continue }
                if isOriginal { line += 1 }
                origins.append(lineOrigins[min(line, lineOrigins.count - 1)])
            }
        }
        for edit in sorted.map(\.element) where edit.range.lowerBound >= position && edit.range.upperBound <= utf8.count
        {
            copy(utf8[position..<edit.range.lowerBound], isOriginal: true)
            copy(edit.text.utf8, isOriginal: false)
            line += utf8[edit.range].count { $0 == UInt8(ascii: "\n") }
            if let last = origins.indices.last { origins[last] = lineOrigins[min(line, lineOrigins.count - 1)] }
            position = edit.range.upperBound
        }
        copy(utf8[position...], isOriginal: true)
        utf8 = result
        lineOrigins = origins
        return made
    }
}
