import BeaconModel

extension YAMLDocument {
    /// The reason why items cannot be removed from a text.
    package struct RemovalFailure: Error, CustomStringConvertible {
        /// The cause and the remedy.
        package var description: String
    }

    /// Removes items of a list, and keeps all other lines of the text. Of a list of words in one line, it keeps the
    /// other words.
    ///
    /// Comment lines directly above an item, with its indentation, go with it. Those above the first item stay, since
    /// they may be about the list.
    ///
    /// - Parameters:
    ///   - numbers: the numbers of the items, from zero.
    ///   - list: the keys that lead to the list.
    ///   - dropsEmpty: true to remove the key of a list that becomes empty; false to write `[]`.
    ///   - text: the text.
    /// - Throws: ``RemovalFailure`` if the list is not written with a line for each item, or if any other value would
    ///   change.
    package static func removing(
        _ numbers: Set<Int>, of list: [String], dropsEmpty: Bool, from text: String
    ) throws(RemovalFailure) -> String {
        let document = YAMLDocument(text)
        let steps = list.map(Step.key)
        let name = list.joined(separator: ".")
        var lines = Lines(text)
        let isInOneLine = lines.removeWords(numbers, after: document.location(of: steps, isKey: true))
        // From the end, so that earlier locations stay right.
        for number in isInOneLine ? [] : numbers.sorted(by: >) {
            let location = document.location(of: steps + [.item(number)])
            guard let item = lines.item(at: location, isFirst: number == 0) else {
                throw RemovalFailure(
                    description:
                        "line \(location.line) has an item of \"\(name)\" that does not begin with \"- \" on its own line; write each item of the list that way"
                )
            }
            lines.remove(item)
        }
        guard let content = document.content else { return text }
        let (expected, isEmpty) = content.removing(numbers, of: list[...], dropsEmpty: dropsEmpty)
        if isEmpty, !isInOneLine { lines.empty(document.location(of: steps, isKey: true), drops: dropsEmpty) }
        let result = lines.text
        let after = YAMLDocument(result)
        guard after.diagnostics.isEmpty, (after.content ?? .object([:])) == expected else {
            throw RemovalFailure(
                description:
                    "removing it would change other values of the file; it may have an anchor (&name) that others use"
            )
        }
        return result
    }

    /// The lines of a text, as bytes.
    private struct Lines {
        private var lines: [[UInt8]]

        init(_ text: String) {
            lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
        }

        var text: String { String(decoding: Array(lines.joined(separator: [UInt8(ascii: "\n")])), as: UTF8.self) }

        private func indentation(_ row: Int) -> Int { lines[row].prefix { $0 == UInt8(ascii: " ") }.count }

        private func isBlank(_ row: Int) -> Bool { lines[row].allSatisfy(Self.isSpace) }

        private func isComment(_ row: Int) -> Bool {
            lines[row].first { !Self.isSpace($0) } == UInt8(ascii: "#")
        }

        private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0D].contains(byte) }

        /// Returns the lines of the item whose value begins at a location; nil if its "-" is not the first character
        /// of a line.
        func item(at location: SourceLocation, isFirst: Bool) -> Range<Int>? {
            var row = location.line - 1
            guard lines.indices.contains(row), location.column - 1 <= lines[row].count else { return nil }
            var before = lines[row][..<(location.column - 1)]
            if before.allSatisfy(Self.isSpace) {
                // The "-" is on an earlier line.
                repeat { row -= 1 } while row >= 0 && (isBlank(row) || isComment(row))
                guard row >= 0 else { return nil }
                before = lines[row].prefix { $0 != UInt8(ascii: "#") }
            }
            let dash = indentation(row)
            guard before.dropFirst(dash).first == UInt8(ascii: "-"), before.dropFirst(dash + 1).allSatisfy(Self.isSpace)
            else { return nil }
            var start = row
            if !isFirst { while start > 0, isComment(start - 1), indentation(start - 1) == dash { start -= 1 } }
            var (end, next) = (row + 1, row + 1)
            while next < lines.count {
                let isInside = !isBlank(next) && indentation(next) > dash
                guard isInside || isBlank(next) || isComment(next) else { break }
                next += 1
                if isInside { end = next }
            }
            return start..<end
        }

        /// Removes words of a list that is in the line of its key: `[auto, hci0]`, or a word that is alone. The caller
        /// checks the result, since this does not know quotes.
        ///
        /// - Returns: false if the line has no such list.
        mutating func removeWords(_ numbers: Set<Int>, after key: SourceLocation) -> Bool {
            guard lines.indices.contains(key.line - 1) else { return false }
            let line = String(decoding: lines[key.line - 1], as: UTF8.self)
            let pattern = /([^:]*:\s*)(?:\[([^\[\]{}]*)\]|([^\s#&*!|>\[\]{}][^#]*?))(\s*(?:\s#.*)?)/
            guard let match = line.wholeMatch(of: pattern) else { return false }
            let words = (match.2 ?? match.3 ?? "").split(separator: ",", omittingEmptySubsequences: false)
            let rest = words.enumerated().filter { !numbers.contains($0.offset) }.map(\.element)
            let text = rest.joined(separator: ",").drop { $0 == " " }
            lines[key.line - 1] = Array("\(match.1)[\(text)]\(match.4)".utf8)
            return true
        }

        /// Removes lines, and one of two blank lines that would follow each other.
        mutating func remove(_ range: Range<Int>) {
            let isSurrounded =
                range.lowerBound > 0 && range.upperBound < lines.count - 1 && isBlank(range.lowerBound - 1)
                && isBlank(range.upperBound)
            lines.removeSubrange(range.lowerBound..<(range.upperBound + (isSurrounded ? 1 : 0)))
        }

        /// Writes that the list of a key is empty, or removes the line of the key.
        mutating func empty(_ key: SourceLocation, drops: Bool) {
            let row = key.line - 1
            guard lines.indices.contains(row), let colon = lines[row].firstIndex(of: UInt8(ascii: ":")) else { return }
            if drops {
                lines.remove(at: row)
            } else {
                lines[row].insert(contentsOf: Array(" []".utf8), at: colon + 1)
            }
        }
    }
}

extension JSONValue {
    /// Returns the value without some items of a list inside it, and whether the list is empty then.
    fileprivate func removing(
        _ numbers: Set<Int>, of list: ArraySlice<String>, dropsEmpty: Bool
    ) -> (value: JSONValue, isEmpty: Bool) {
        guard let key = list.first else {
            if scalarText != nil { return (.array([]), true) }
            guard case .array(let items) = self else { return (self, false) }
            let rest = items.indices.filter { !numbers.contains($0) }.map { items[$0] }
            return (.array(rest), rest.isEmpty)
        }
        guard case .object(var values) = self, let inner = values[key] else { return (self, false) }
        let (value, isEmpty) = inner.removing(numbers, of: list.dropFirst(), dropsEmpty: dropsEmpty)
        // JSONValue has a null literal, so that "nil" would not remove the key.
        if isEmpty, dropsEmpty, list.count == 1 {
            values.removeValue(forKey: key)
        } else {
            values[key] = value
        }
        return (.object(values), isEmpty)
    }
}
