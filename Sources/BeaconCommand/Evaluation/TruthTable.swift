import BeaconCapture
import BeaconModel
import BeaconSupport

/// A table of the truth of a recording: comma-separated values with a heading, gzipped or not.
struct TruthTable {
    /// The names of the columns, in lower case.
    let columns: [String]
    let rows: [CSVReader.Record]
    let path: String

    /// The largest table, in bytes.
    private static let limit = 256 << 20

    /// Reads a file.
    ///
    /// - Throws: `CaptureError` if the file cannot be read, and `CommandError` if it is not a table.
    init(path: String) throws {
        self.path = path
        let content = try UnpackedFile.contents(path: path, limit: Self.limit)
        let records: [CSVReader.Record]
        do throws(CSVReader.UnclosedQuote) {
            records = try CSVReader.records(of: content, separator: UInt8(ascii: ","))
        } catch {
            throw CommandError("\(path), line \(error.line): a quote is not closed")
        }
        guard let heading = records.first else { throw CommandError("\(path) is empty") }
        columns = heading.fields.map { $0.lowercased() }
        for record in records.dropFirst() where record.fields.count != columns.count {
            throw CommandError(
                "\(path), line \(record.line): \(record.fields.count) values for \(columns.count) columns")
        }
        rows = Array(records.dropFirst())
    }

    /// Returns true if the table has all of these columns.
    func has(_ names: String...) -> Bool { names.allSatisfy(columns.contains) }

    /// Returns the index of a column.
    ///
    /// - Throws: `CommandError` if there is no such column.
    func column(_ name: String) throws -> Int {
        guard let place = columns.firstIndex(of: name) else {
            throw CommandError("\(path) has no column \"\(name)\"; it has \(columns.joined(separator: ", "))")
        }
        return place
    }

    /// Returns the numbers in a column.
    ///
    /// - Throws: `CommandError` if a value is not a number.
    func numbers(_ name: String) throws -> [Double] {
        let place = try column(name)
        return try rows.map { row in
            let field = row.fields[place]
            guard let number = Double(field.trimmed), number.isFinite else {
                throw CommandError("\(path), line \(row.line): \"\(field)\" in \"\(name)\" is not a number")
            }
            return number
        }
    }

    /// Returns the texts in a column.
    ///
    /// - Throws: `CommandError` if there is no such column.
    func texts(_ name: String) throws -> [String] {
        let place = try column(name)
        return rows.map { String($0.fields[place].trimmed) }
    }
}

extension StringProtocol where SubSequence == Substring {
    /// The text without surrounding blanks.
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

    /// How long a row is valid, in seconds.
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

    /// Returns the room at a time; nil if it is unknown.
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
