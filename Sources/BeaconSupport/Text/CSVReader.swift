/// A parser of tables in text form (CSV, RFC 4180). Double quotes enclose a field that contains a separator, a quote or
/// a line break.
package enum CSVReader {
    /// A row of a table. Empty lines are not rows.
    package struct Record: Hashable, Sendable {
        /// The number of its first line, from 1.
        package var line: Int
        package var fields: [String]
    }

    /// The error for a quote that is not closed.
    package struct UnclosedQuote: Error {
        /// The number of the record's first line, from 1.
        package var line: Int
    }

    /// Returns the separator in the first line. Spreadsheets of many countries use semicolons.
    ///
    /// - Returns: a comma, a semicolon or a tab; a comma if it contains none.
    package static func separator(of table: [UInt8]) -> UInt8 {
        let first = table.prefix { !isNewline($0) }
        return ",;\t".utf8.first(where: first.contains) ?? UInt8(ascii: ",")
    }

    /// Parses a table in UTF-8, with or without a byte order mark.
    ///
    /// - Throws: ``UnclosedQuote``.
    package static func records(of table: [UInt8], separator: UInt8) throws(UnclosedQuote) -> [Record] {
        var records: [Record] = []
        var (fields, field) = ([String](), [UInt8]())
        var (isQuoted, wasQuoted) = (false, false)
        var (line, begin) = (1, 1)
        var position = table.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        func endField() {
            fields.append(String(decoding: field, as: UTF8.self))
            field.removeAll(keepingCapacity: true)
        }
        func endRecord() {
            endField()
            if fields != [""] || wasQuoted { records.append(Record(line: begin, fields: fields)) }
            (fields, wasQuoted) = ([], false)
        }
        while position < table.count {
            let byte = table[position]
            position += 1
            let next = position < table.count ? table[position] : 0
            // Count a line break of two characters at the second one.
            let isFirstOfTwo = byte == UInt8(ascii: "\r") && next == UInt8(ascii: "\n")
            if isNewline(byte), !isFirstOfTwo { line += 1 }
            switch byte {
            case UInt8(ascii: "\"") where isQuoted && next == byte:
                field.append(byte)
                position += 1
            case UInt8(ascii: "\"") where isQuoted:
                isQuoted = false
            case _ where isQuoted:
                field.append(byte)
            case UInt8(ascii: "\"") where field.isEmpty:
                (isQuoted, wasQuoted) = (true, true)
            case separator:
                endField()
            case _ where isNewline(byte):
                if isFirstOfTwo { continue }
                endRecord()
                begin = line
            default:
                field.append(byte)
            }
        }
        guard !isQuoted else { throw UnclosedQuote(line: begin) }
        if !field.isEmpty || !fields.isEmpty { endRecord() }
        return records
    }

    private static func isNewline(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }
}
