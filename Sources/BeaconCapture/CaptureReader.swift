public import BeaconRadio

/// A reader of captures: recorded adverts in any format of ``CaptureFormat``, gzipped or not, from a file or a pipe.
///
/// It detects the format from the content. A large file needs no more memory than a small one. From a damaged or
/// truncated file, it returns everything that is readable, then one ``CaptureError`` with the place of the damage.
public struct CaptureReader: ~Copyable {
    /// The format of the content.
    public let format: CaptureFormat

    private let path: String?
    private var stream: ByteStream
    private var reader: any FormatReader
    private var interpreter: PacketInterpreter
    private var isFinished: Bool

    /// Opens a file or a pipe.
    ///
    /// - Parameter path: the file; `-` is standard input.
    /// - Throws: ``CaptureError`` if it cannot be opened, or its format is unknown.
    public init(path: String) throws(CaptureError) {
        try self.init(stream: ByteStream(path: path), path: path)
    }

    /// Opens a file or a pipe. Another thread can end the reading.
    ///
    /// - Parameters:
    ///   - path: the file; `-` is standard input.
    ///   - interruption: a descriptor that ends all reading, as at the end of the file, once it is readable.
    /// - Throws: ``CaptureError`` if it cannot be opened, or its format is unknown.
    package init(path: String, interruption: Int32) throws(CaptureError) {
        try self.init(stream: ByteStream(path: path, interruption: interruption), path: path)
    }

    /// Reads bytes in memory.
    ///
    /// - Throws: ``CaptureError`` if their format is unknown.
    public init(bytes: [UInt8]) throws(CaptureError) {
        try self.init(stream: ByteStream(bytes: bytes), path: nil)
    }

    private init(stream: consuming ByteStream, path: String?) throws(CaptureError) {
        var stream = stream
        do {
            (format, reader) = try Self.open(&stream)
        } catch {
            var error = error
            error.path = error.path ?? path
            error.isUnpacked = stream.isUnpacked
            throw error
        }
        self.stream = stream
        self.path = path
        // With a default value, `open` would throw after its initialization, and Swift 6.2 then destroys it twice.
        interpreter = PacketInterpreter()
        isFinished = false
    }

    /// The receivers in the content read until now.
    public var receiverNames: [String] { interpreter.receivers.names }

    /// The numbers of packets and adverts read until now.
    public var counts: SourceCounts { interpreter.counts }

    /// The lines ignored until now because they do not belong to the format. The lines between them were read.
    public var foreignLines: ForeignLines { reader.foreignLines }

    /// The number of bytes of the content read until now, after decompression.
    public var offset: Int { stream.offset }

    /// Reads one record and adds the adverts in it to `batch`. The caller begins the batch before each record.
    ///
    /// - Returns: the record, or nil at the end.
    /// - Throws: ``CaptureError`` if the content is truncated or damaged. After an error, the reader is at its end.
    public mutating func next(into batch: inout AdvertBatch) throws -> SourceRecord? {
        guard !isFinished else { return nil }
        do {
            let record = try reader.next(&stream, &interpreter, &batch)
            if record == nil { isFinished = true }
            return record
        } catch var error as CaptureError {
            isFinished = true
            error.path = path
            error.isUnpacked = stream.isUnpacked
            throw error
        }
    }

    private static func open(_ stream: inout ByteStream) throws(CaptureError) -> (CaptureFormat, any FormatReader) {
        // The longest magic has eight bytes, and a record of the format without a magic has at least thirteen.
        stream.fill(atLeast: 13)
        guard stream.available > 0 else {
            throw stream.failure
                ?? CaptureError(.unknownFormat, "the file is empty: no capture has been written to it yet")
        }
        if stream.available >= 4 {
            let magic = stream.number32(at: 0, isBigEndian: true)
            if stream.buffer[stream.start..<stream.end].starts(with: BtsnoopReader.magic) {
                return (.btsnoop, try BtsnoopReader(&stream))
            }
            if magic == PcapngReader.sectionHeader { return (.pcapng, PcapngReader()) }
            if PcapReader.isMagic(magic) { return (.pcap, try PcapReader(&stream)) }
        }
        if SightingLogReader.detect(stream) { return (.sightingLog, SightingLogReader()) }
        if HcidumpReader.mayBeginWithDate(stream) { stream.fill(atLeast: HcidumpReader.datedOpeningCount) }
        if HcidumpReader.detect(stream) { return (.hcidump, HcidumpReader()) }
        if let isBigEndian = PacketLoggerReader.detect(stream) {
            return (.packetLogger, PacketLoggerReader(isBigEndian: isBigEndian))
        }
        if let other = OtherFormat(stream) { throw other.error }
        let names = CaptureFormat.allCases.map(\.description).joined(separator: ", ")
        throw CaptureError(
            .unknownFormat,
            "this is not a readable capture. Known formats, each also gzipped: \(names)", offset: 0)
    }
}

/// The readable formats of captures, detected from the content.
@nonexhaustive
public enum CaptureFormat: Hashable, Sendable, CaseIterable {
    /// The format of BlueZ's `btmon -w` and of Android's HCI log.
    case btsnoop
    /// The older format of tcpdump and Wireshark.
    case pcap
    /// The newer format of Wireshark.
    case pcapng
    /// The format of Apple's PacketLogger, `.pklg`.
    case packetLogger
    /// The text that `hcidump -R` prints.
    case hcidump
    /// One JSON object per line, as `beacon scan --json` prints it.
    case sightingLog
}

extension CaptureFormat: CustomStringConvertible {
    /// The common name of the format.
    public var description: String {
        switch self {
        case .btsnoop: "btsnoop"
        case .pcap: "pcap"
        case .pcapng: "pcapng"
        case .packetLogger: "PacketLogger"
        case .hcidump: "hcidump text"
        case .sightingLog: "sighting log"
        }
    }
}
