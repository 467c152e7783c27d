import BeaconDelivery
import BeaconMonitoring
import BeaconSupport
import CLibrary
import CZlib
import Foundation

/// The first part of a segment: where it stands in its run, and the core's settings.
struct JournalHead: Codable, Sendable {
    /// The program that wrote it.
    var software = ProgramVersion.current
    /// The run of beacond.
    var run: String
    /// The place in the run; zero for its first segment.
    var place: Int
    var calibrations: CalibrationSet
    /// The calls that begin again here; nil for the start of the core, which needs none.
    var checkpoint: [CoreInput]?
}

/// A segment of the journal: a file with a mark, and blocks that each can be read alone.
///
/// A block has the length of its content in the file, that length unpacked, a checksum of the rest, and the wall time
/// of its end in milliseconds, each in 4 bytes but the time in 8, with the lowest byte first. zlib packs the content.
/// It has parts: a byte for the kind, the length in 4 bytes, and the part. A damaged block ends the segment.
struct JournalSegment: Sendable {
    /// A part of a block.
    enum Part: Sendable {
        case head(JournalHead)
        case traffic([UInt8])
        case input(CoreInput)
    }

    /// A block, packed.
    struct Block: Sendable {
        /// The wall time of its end.
        var end: Double
        var unpackedCount: Int
        var packed: ArraySlice<UInt8>
    }

    /// The first bytes of the file. A later form has another number.
    static let mark = Array("swift-beacon journal 1\n".utf8)
    private static let name = Array("swift-beacon journal ".utf8)

    /// Returns whether a file is a journal of a form that only a later version reads.
    static func isNewer(_ path: String) -> Bool {
        guard let file = FileHandle(forReadingAtPath: path) else { return false }
        defer { try? file.close() }
        let begin = Array((try? file.read(upToCount: mark.count)) ?? Data())
        return begin.starts(with: name) && begin != mark
    }

    /// The largest unpacked block. A greater length is damage.
    private static let largest = 64 << 20
    private static let headCount = 20

    // MARK: - Writing

    /// Returns a block of parts.
    ///
    /// - Parameter end: the wall time.
    static func block(_ parts: [Part], end: Double) throws -> [UInt8] {
        var content: [UInt8] = []
        for part in parts {
            let (kind, bytes): (UInt8, [UInt8]) =
                switch part {
                case .head(let head): (0, Array(try JSONEncoder.sorted.encode(head)))
                case .traffic(let bytes): (1, bytes)
                case .input(let input): (2, Array(try JSONEncoder.sorted.encode(input)))
                }
            content.append(kind)
            content.append(number: UInt64(bytes.count), count: 4)
            content += bytes
        }
        var count = compressBound(UInt(content.count))
        let packed = [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, length in
            // The buffer has the length that zlib asks for, and memory is its only other need.
            let status = compress2(buffer.baseAddress, &count, content, UInt(content.count), 6)
            length = status == Z_OK ? Int(count) : 0
        }
        guard !packed.isEmpty else {
            throw StateError(.cannotWrite, "there is no memory to pack a block of the journal")
        }
        var block: [UInt8] = []
        block.append(number: UInt64(packed.count), count: 4)
        block.append(number: UInt64(content.count), count: 4)
        var rest: [UInt8] = []
        rest.append(number: UInt64(max(0, end * 1000)), count: 8)
        rest += packed
        block.append(number: UInt64(checksum(rest[...])), count: 4)
        return block + rest
    }

    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.withUnsafeBytes { UInt32(truncatingIfNeeded: crc32(0, $0.baseAddress, UInt32($0.count))) }
    }

    // MARK: - Reading

    /// The whole blocks of a file's content, in order. What follows a damaged or an unfinished block is left out.
    static func blocks(in content: [UInt8]) -> [Block] {
        guard content.starts(with: mark) else { return [] }
        var blocks: [Block] = []
        var place = mark.count
        while content.count - place >= headCount {
            func number(at offset: Int, _ count: Int) -> UInt64 {
                (0..<count).reduce(0) { $0 | UInt64(content[place + offset + $1]) << (8 * UInt64($1)) }
            }
            let (packed, unpacked) = (Int(number(at: 0, 4)), Int(number(at: 4, 4)))
            let (sum, end) = (UInt32(number(at: 8, 4)), number(at: 12, 8))
            let begin = place + headCount
            guard packed > 0, unpacked > 0, unpacked <= largest, packed <= content.count - begin else { break }
            let bytes = content[begin..<begin + packed]
            guard checksum(content[place + 12..<place + headCount] + bytes) == sum else { break }
            blocks.append(Block(end: Double(end) / 1000, unpackedCount: unpacked, packed: bytes))
            place = begin + packed
        }
        return blocks
    }

    /// Returns whether a file has nothing after its whole blocks, so that the next segment may continue it.
    static func isWhole(_ content: [UInt8], _ blocks: [Block]) -> Bool {
        content.count == mark.count + blocks.reduce(0) { $0 + headCount + $1.packed.count }
    }

    /// Returns the parts of a block; nil if it is damaged.
    static func parts(of block: Block) -> [Part]? {
        var count = UInt(block.unpackedCount)
        let content = [UInt8](unsafeUninitializedCapacity: block.unpackedCount) { buffer, length in
            let status = block.packed.withUnsafeBufferPointer {
                uncompress(buffer.baseAddress, &count, $0.baseAddress, UInt($0.count))
            }
            length = status == Z_OK ? Int(count) : 0
        }
        guard content.count == block.unpackedCount else { return nil }
        var parts: [Part] = []
        var place = 0
        while place < content.count {
            guard content.count - place >= 5 else { return nil }
            let count = (1...4).reduce(0) { $0 | Int(content[place + $1]) << (8 * ($1 - 1)) }
            let begin = place + 5
            guard count <= content.count - begin else { return nil }
            let bytes = content[begin..<begin + count]
            switch content[place] {
            case 0:
                guard let head = try? JSONDecoder().decode(JournalHead.self, from: Data(bytes)) else { return nil }
                parts.append(.head(head))
            case 1: parts.append(.traffic(Array(bytes)))
            case 2:
                guard let input = try? JSONDecoder().decode(CoreInput.self, from: Data(bytes)) else { return nil }
                parts.append(.input(input))
            default: return nil
            }
            place = begin + count
        }
        return parts
    }
}

/// The blocks of a segment's file.
final class JournalContent {
    let blocks: [JournalSegment.Block]
    /// True if the next segment may continue it.
    let isWhole: Bool
    private var kept: [Int: [JournalSegment.Part]] = [:]

    /// Reads a file; nil if it is missing.
    init?(_ file: JournalFolder.File) {
        guard let content = FileManager.default.contents(atPath: file.path) else { return nil }
        let bytes = Array(content)
        blocks = JournalSegment.blocks(in: bytes)
        isWhole = JournalSegment.isWhole(bytes, blocks)
    }

    /// Returns the parts of a block; nil if it is damaged.
    ///
    /// - Parameter isKept: whether to keep them for the next call.
    func parts(of number: Int, isKept: Bool) -> [JournalSegment.Part]? {
        if let parts = kept[number] { return parts }
        let parts = JournalSegment.parts(of: blocks[number])
        if isKept { kept[number] = parts }
        return parts
    }
}

extension [UInt8] {
    /// Appends a number, with its lowest byte first.
    fileprivate mutating func append(number: UInt64, count: Int) {
        for place in 0..<count { append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(place)))) }
    }
}
