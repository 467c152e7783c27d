import BeaconCapture
import BeaconModel
import BeaconSupport

/// The room that a beacon was in at each time of a recording.
struct RoomTruth {
    private let times: [Double]
    private let rooms: [String]

    /// How long a row is valid, in seconds.
    private static let lifetime = 2.0

    /// The largest table, in bytes.
    private static let limit = 256 << 20

    /// Reads a table with the columns `time`, in seconds since 1970, and `room`: comma-separated values with a heading,
    /// gzipped or not.
    ///
    /// - Throws: `CaptureError` if the file cannot be read, and `CommandError` if it is not such a table.
    init(path: String) throws {
        let content = try UnpackedFile.contents(path: path, limit: Self.limit)
        let records: [CSVReader.Record]
        do throws(CSVReader.UnclosedQuote) {
            records = try CSVReader.records(of: content, separator: UInt8(ascii: ","))
        } catch {
            throw CommandError("\(path), line \(error.line): a quote is not closed")
        }
        guard let heading = records.first else { throw CommandError("\(path) is empty") }
        let columns = heading.fields.map { $0.lowercased() }
        func column(_ name: String) throws -> Int {
            guard let place = columns.firstIndex(of: name) else {
                throw CommandError("\(path) has no column \"\(name)\"; it has \(columns.joined(separator: ", "))")
            }
            return place
        }
        let (time, room) = (try column("time"), try column("room"))
        let rows = try records.dropFirst().map { record in
            guard record.fields.count == columns.count else {
                throw CommandError(
                    "\(path), line \(record.line): \(record.fields.count) values for \(columns.count) columns")
            }
            let text = Self.trimmed(record.fields[time])
            guard let number = Double(text), number.isFinite else {
                throw CommandError("\(path), line \(record.line): \"\(text)\" in \"time\" is not a number")
            }
            return (time: number, room: Self.trimmed(record.fields[room]))
        }.sorted { $0.time < $1.time }
        times = rows.map(\.time)
        rooms = rows.map(\.room)
    }

    private static func trimmed(_ text: String) -> String {
        String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }

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
