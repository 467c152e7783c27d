import BeaconCapture
import BeaconModel

/// A table of what was true while a recording was made: comma-separated values with a heading, gzipped or not.
struct TruthTable {
    /// The names of the columns, in lower case.
    let columns: [String]
    private(set) var rows: [[Substring]] = []
    let path: String

    /// The largest table, in bytes.
    private static let limit = 256 << 20

    /// Reads a file.
    ///
    /// - Throws: `CaptureError` where it cannot be read, and `CommandError` where it is no table.
    init(path: String) throws {
        self.path = path
        let text = String(decoding: try UnpackedFile.contents(path: path, limit: Self.limit), as: UTF8.self)
        // Spreadsheets put a mark of the byte order first.
        let content = text.hasPrefix("\u{FEFF}") ? text.dropFirst() : text[...]
        var lines = content.split(whereSeparator: \.isNewline).makeIterator()
        guard let heading = lines.next() else { throw CommandError("\(path) is empty") }
        columns = Self.fields(heading).map { $0.lowercased() }
        var number = 1
        while let line = lines.next() {
            number += 1
            let fields = Self.fields(line)
            guard fields.count == columns.count else {
                throw CommandError(
                    "\(path), line \(number): there are \(fields.count) values, and \(columns.count) columns")
            }
            rows.append(fields)
        }
    }

    /// Returns the fields of a line. A field in double quotes may have commas in it.
    private static func fields(_ line: Substring) -> [Substring] {
        var fields: [Substring] = []
        var rest = line
        while true {
            if rest.first == "\"", let end = rest.dropFirst().firstIndex(of: "\"") {
                fields.append(rest[rest.index(after: rest.startIndex)..<end])
                rest = rest[rest.index(after: end)...]
                guard rest.first == "," else { return fields }
                rest = rest.dropFirst()
            } else if let comma = rest.firstIndex(of: ",") {
                fields.append(rest[..<comma])
                rest = rest[rest.index(after: comma)...]
            } else {
                fields.append(rest)
                return fields
            }
        }
    }

    /// Returns true where there are all of these columns.
    func has(_ names: String...) -> Bool { names.allSatisfy(columns.contains) }

    /// Returns a column's place.
    ///
    /// - Throws: `CommandError` where there is none.
    func column(_ name: String) throws -> Int {
        guard let place = columns.firstIndex(of: name) else {
            throw CommandError("\(path) has no column \"\(name)\"; it has \(columns.joined(separator: ", "))")
        }
        return place
    }

    /// Returns the numbers in a column.
    ///
    /// - Throws: `CommandError` where something else is in it.
    func numbers(_ name: String) throws -> [Double] {
        let place = try column(name)
        return try rows.enumerated().map { index, row in
            guard let number = Double(row[place].trimmed), number.isFinite else {
                throw CommandError("\(path), line \(index + 2): \"\(row[place])\" in \"\(name)\" is no number")
            }
            return number
        }
    }

    /// Returns the texts in a column.
    ///
    /// - Throws: `CommandError` where there is no such column.
    func texts(_ name: String) throws -> [String] {
        let place = try column(name)
        return rows.map { String($0[place].trimmed) }
    }
}

extension Substring {
    var trimmed: Substring {
        guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace })
        else { return Substring() }
        return self[first...last]
    }
}

/// The room that a beacon was in at each time of a recording.
struct RoomTruth {
    private let times: [Double]
    private let rooms: [String]

    /// The seconds for which a row holds.
    private static let lifetime = 2.0

    /// Reads a table with the columns `time`, in seconds since 1970, and `room`.
    init(path: String) throws { try self.init(TruthTable(path: path)) }

    init(_ table: TruthTable) throws {
        let rows = zip(try table.numbers("time"), try table.texts("room")).sorted { $0.0 < $1.0 }
        times = rows.map(\.0)
        rooms = rows.map(\.1)
    }

    /// The rows: a time and the room at it.
    var rows: [(time: Double, room: String)] { zip(times, rooms).map { ($0, $1) } }

    /// Returns the room at a time; nil where it is not known.
    func room(at time: Timestamp) -> String? {
        let seconds = Double(time.nanoseconds) / 1e9
        var (low, high) = (0, times.count)
        while low < high {
            let middle = (low + high) / 2
            if times[middle] <= seconds { low = middle + 1 } else { high = middle }
        }
        guard low > 0, seconds - times[low - 1] <= Self.lifetime else { return nil }
        return rooms[low - 1]
    }
}
