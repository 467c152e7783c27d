import Foundation

/// SQLite's log of pages that are not in the database yet, as far as finding records in a damaged one needs it.
///
/// The form is that of "The Write-Ahead Log" in SQLite's "Database File Format", section 4.
struct WriteAheadLog {
    /// A page in the log.
    struct Frame {
        var page: Int
        var content: Data
        /// Whether it ends a transaction.
        var isCommit: Bool
    }

    /// The frames that SQLite would take: up to the last whole transaction before the first check that fails.
    private(set) var intact: [Frame] = []

    /// The frames of the same generation behind that: what a crash cut off, or what damage hides.
    private(set) var hidden: [Frame] = []

    private static let headerLength = 32
    private static let frameHeaderLength = 24

    /// Reads a log; nil if there is nothing in it.
    init?(_ data: Data) {
        guard data.count > Self.headerLength + Self.frameHeaderLength else { return nil }
        let magic = Self.word(data, 0)
        var pageSize = Int(Self.word(data, 8))
        var sum = (first: UInt32(0), second: UInt32(0))
        let isBigEndian = magic & 1 == 1
        Self.add(data, 0..<24, isBigEndian, to: &sum)
        let isHeaderIntact = magic & ~1 == 0x377F_0682 && sum == (Self.word(data, 24), Self.word(data, 28))
        if !isHeaderIntact, ![512, 1024, 2048, 4096, 8192, 16384, 32768, 65536].contains(pageSize) { pageSize = 4096 }
        var isIntact = isHeaderIntact
        var open: [Frame] = []
        var offset = Self.headerLength
        while offset + Self.frameHeaderLength + pageSize <= data.count {
            let content = offset + Self.frameHeaderLength..<offset + Self.frameHeaderLength + pageSize
            let frame = Frame(
                page: Int(Self.word(data, offset)), content: Self.slice(data, content),
                isCommit: Self.word(data, offset + 4) != 0)
            // Frames with other salts are leftovers from before the log began anew.
            let isOfGeneration =
                !isHeaderIntact
                || (Self.word(data, offset + 8), Self.word(data, offset + 12)) == (
                    Self.word(data, 16), Self.word(data, 20)
                )
            if isIntact {
                Self.add(data, offset..<offset + 8, isBigEndian, to: &sum)
                Self.add(data, content, isBigEndian, to: &sum)
                isIntact =
                    isOfGeneration && sum == (Self.word(data, offset + 16), Self.word(data, offset + 20))
            }
            if isIntact {
                open.append(frame)
                if frame.isCommit {
                    intact += open
                    open = []
                }
            } else if isOfGeneration {
                hidden.append(frame)
            }
            offset = content.upperBound
        }
        hidden = open + hidden
    }

    private static func slice(_ data: Data, _ range: Range<Int>) -> Data {
        data.dropFirst(range.lowerBound).prefix(range.count)
    }

    private static func word(_ data: Data, _ offset: Int) -> UInt32 {
        slice(data, offset..<offset + 4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The log's check, which goes on from frame to frame (section 4.2).
    private static func add(
        _ data: Data, _ range: Range<Int>, _ isBigEndian: Bool, to sum: inout (first: UInt32, second: UInt32)
    ) {
        slice(data, range).withUnsafeBytes { bytes in
            for offset in stride(from: 0, to: bytes.count - 7, by: 8) {
                let raw = (
                    bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self),
                    bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                )
                let words =
                    isBigEndian
                    ? (UInt32(bigEndian: raw.0), UInt32(bigEndian: raw.1))
                    : (UInt32(littleEndian: raw.0), UInt32(littleEndian: raw.1))
                sum.first = sum.first &+ words.0 &+ sum.second
                sum.second = sum.second &+ words.1 &+ sum.first
            }
        }
    }
}
