import Foundation

/// A search for notifications in a damaged outbox by the marks and checksums of their records, independent of the
/// tables.
///
/// A record that lies in one page and is intact is found. One longer than a page, which only a long heartbeat is, is
/// not.
enum OutboxSalvage {
    /// Returns all notifications in a file and its log, oldest first.
    static func records(of file: URL) -> [BeaconNotification] {
        let log = log(of: file)
        var newest: [Int: Data] = [:]
        for frame in log?.intact ?? [] { newest[frame.page] = frame.content }
        var found: [NotificationID: BeaconNotification] = [:]
        if let data = try? Data(contentsOf: file, options: .mappedIfSafe) {
            let pageSize = log?.intact.first?.content.count ?? 4096
            for (index, offset) in stride(from: 0, to: data.count, by: pageSize).enumerated() {
                // SQLite counts pages from 1.
                let page = newest.removeValue(forKey: index + 1) ?? data.dropFirst(offset).prefix(pageSize)
                collect(page, into: &found)
            }
        }
        for page in newest.values { collect(page, into: &found) }
        for frame in (log?.hidden ?? []) + (log?.unfinished ?? []) { collect(frame.content, into: &found) }
        return sorted(found)
    }

    /// Returns the notifications in the part of a file's log that SQLite does not read, since something before it is
    /// damaged.
    ///
    /// The transaction at the log's end counts only if it is whole. One that is not cannot be told from one that a kill
    /// cut off, which was not acknowledged, so that its notifications are appended again; and later transactions may
    /// have overwritten its beginning, so that those that are left would come before those that are not.
    static func recordsBehindDamage(inLogOf file: URL) -> [BeaconNotification] {
        var found: [NotificationID: BeaconNotification] = [:]
        for frame in log(of: file)?.hidden ?? [] { collect(frame.content, into: &found) }
        return sorted(found)
    }

    private static func log(of file: URL) -> WriteAheadLog? {
        guard let data = try? Data(contentsOf: URL(fileURLWithPath: file.path + "-wal")) else { return nil }
        return WriteAheadLog(data)
    }

    private static func collect(_ page: Data, into found: inout [NotificationID: BeaconNotification]) {
        let starts: [Int] = page.withUnsafeBytes { bytes in
            let mark = OutboxRecord.mark
            guard bytes.count > mark.count else { return [] }
            return (0..<bytes.count - mark.count).filter { offset in
                bytes[offset] == mark[0] && mark.indices.allSatisfy { bytes[offset + $0] == mark[$0] }
            }
        }
        for start in starts {
            guard let notification = OutboxRecord.find(in: page, at: start) else { continue }
            found[notification.id] = notification
        }
    }

    /// Returns notifications in the order of their events; the names of one moment count up.
    private static func sorted(_ found: [NotificationID: BeaconNotification]) -> [BeaconNotification] {
        found.values.sorted { ($0.time, $0.id) < ($1.time, $1.id) }
    }
}

/// SQLite's write-ahead log, as far as the search for records needs it.
///
/// The format is that of "The Write-Ahead Log" in SQLite's "Database File Format", section 4.
struct WriteAheadLog {
    /// A page in the log.
    struct Frame {
        var page: Int
        var content: Data
        /// True for the last frame of a transaction.
        var isCommit: Bool
        /// True where it is as it was written behind the frame before it, whatever became of that one's content.
        var isWhole: Bool
    }

    /// The frames that SQLite would read: up to the last whole transaction before the first checksum that fails.
    private(set) var intact: [Frame] = []

    /// The frames of the same generation behind those, up to the end of the last transaction that is whole there:
    /// hidden by damage.
    private(set) var hidden: [Frame] = []

    /// The frames of the same generation behind those: of a transaction that a kill cut off, or whose end is damaged.
    private(set) var unfinished: [Frame] = []

    private static let headerLength = 32
    private static let frameHeaderLength = 24

    /// Reads a log; nil if it is empty.
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
        var rest: [Frame] = []
        var offset = Self.headerLength
        while offset + Self.frameHeaderLength + pageSize <= data.count {
            let content = offset + Self.frameHeaderLength..<offset + Self.frameHeaderLength + pageSize
            // The sum continues from the one that stands in the frame before, so that damage to that one's content does
            // not reach further.
            Self.add(data, offset..<offset + 8, isBigEndian, to: &sum)
            Self.add(data, content, isBigEndian, to: &sum)
            let written = (first: Self.word(data, offset + 16), second: Self.word(data, offset + 20))
            let frame = Frame(
                page: Int(Self.word(data, offset)), content: Self.slice(data, content),
                isCommit: Self.word(data, offset + 4) != 0, isWhole: sum == written)
            sum = written
            // Frames with other salts remain from before the log was last restarted.
            let isOfGeneration =
                !isHeaderIntact
                || (Self.word(data, offset + 8), Self.word(data, offset + 12)) == (
                    Self.word(data, 16), Self.word(data, 20)
                )
            isIntact = isIntact && isOfGeneration && frame.isWhole
            if isIntact {
                open.append(frame)
                if frame.isCommit {
                    intact += open
                    open = []
                }
            } else if isOfGeneration {
                rest.append(frame)
            }
            offset = content.upperBound
        }
        rest = open + rest
        let end = rest.lastIndex { $0.isCommit && $0.isWhole }.map { $0 + 1 } ?? 0
        hidden = Array(rest[..<end])
        unfinished = Array(rest[end...])
    }

    private static func slice(_ data: Data, _ range: Range<Int>) -> Data {
        data.dropFirst(range.lowerBound).prefix(range.count)
    }

    private static func word(_ data: Data, _ offset: Int) -> UInt32 {
        slice(data, offset..<offset + 4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Adds bytes to the log's checksum, which continues from frame to frame (section 4.2).
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
