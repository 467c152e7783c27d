import BeaconModel
import BeaconRadio

/// A reader of the records of one format from a stream.
protocol FormatReader {
    /// The lines that were ignored because they do not belong to the format.
    var foreignLines: ForeignLines { get }

    /// Reads one record and adds the adverts in it to `batch`.
    ///
    /// - Returns: the record, or nil at the end.
    /// - Throws: ``CaptureError`` if the content is truncated or damaged.
    mutating func next(
        _ stream: inout ByteStream,
        _ interpreter: inout PacketInterpreter,
        _ batch: inout AdvertBatch
    ) throws -> SourceRecord?
}

extension FormatReader {
    var foreignLines: ForeignLines { ForeignLines() }
}

/// The lines of a text that do not belong to its format, for instance another program's remarks.
public struct ForeignLines: Hashable, Sendable {
    /// The number of lines.
    public internal(set) var count = 0

    /// The offset of the first line in the content, in bytes, after decompression.
    public internal(set) var first: Int?

    /// Creates an empty count.
    public init() {}

    mutating func add(at offset: Int) {
        count += 1
        first = first ?? offset
    }
}

/// A reader that splits a stream into lines.
struct LineReader {
    /// Lines of a text format are much shorter; a longer one is not text.
    private static let longest = 1 << 20

    /// The number of bytes of the window that were searched and have no end of line.
    private var searched = 0

    /// Finds the next line.
    ///
    /// - Returns: its number of bytes without its end, and with it; nil at the end of the content. The bytes after the
    ///   last end of line count as a line.
    mutating func next(in stream: inout ByteStream) throws(CaptureError) -> (content: Int, whole: Int)? {
        while true {
            let window = stream.start + searched..<stream.end
            if let end = stream.buffer[window].firstIndex(of: UInt8(ascii: "\n")) {
                searched = 0
                let whole = end - stream.start + 1
                let isCRLF = whole >= 2 && stream.buffer[end - 1] == UInt8(ascii: "\r")
                return (isCRLF ? whole - 2 : whole - 1, whole)
            }
            searched = stream.available
            guard searched <= Self.longest else {
                throw CaptureError(
                    .damaged, "a line is longer than \(Self.longest) bytes; everything before it was read",
                    offset: stream.offset)
            }
            if !stream.fill(atLeast: searched + 1) {
                if let failure = stream.failure { throw failure }
                guard searched > 0 else { return nil }
                let count = searched
                searched = 0
                // An end of line that was truncated in its middle.
                let isCut = stream.buffer[stream.end - 1] == UInt8(ascii: "\r")
                return (isCut ? count - 1 : count, count)
            }
        }
    }
}
