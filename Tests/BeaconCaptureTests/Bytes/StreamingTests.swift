import BeaconCapture
import BeaconModel
import BeaconRadio
import Foundation
import Testing

/// Each test measures the memory of a separate process.
@Suite("Streaming")
struct StreamingTests {
    private static let megabyte = 1 << 20

    /// The peak memory of the process in bytes.
    private static func peakMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        let kilobytes = try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
        return kilobytes * 1024
    }

    /// 96 MB of copies of `piece` after `header`.
    private static func stream(_ header: [UInt8], _ piece: [UInt8]) -> some Sequence<[UInt8]> & Sendable {
        [[header], Array(repeating: piece, count: 96 * megabyte / piece.count)].joined()
    }

    private static func records(_ pieces: some Sequence<[UInt8]> & Sendable) throws -> (records: Int, growth: Int) {
        var records = 0
        let before = try peakMemory()
        try withPipe(pieces) { path in
            var reader = try CaptureReader(path: path)
            var batch = AdvertBatch()
            while try reader.next(into: &batch) != nil {
                records += 1
                batch.begin()
            }
        }
        return (records, try peakMemory() - before)
    }

    @Test("A long pcap through a pipe needs no more memory than a short one")
    func pcap() async {
        await #expect(processExitsWith: .success) {
            let record = Pcap().record(microseconds: 1, [UInt8](repeating: 2, count: 200_000))
            let piece = Array(repeatElement(record, count: 4).joined())
            let (records, growth) = try StreamingTests.records(
                StreamingTests.stream(Pcap().header(linkType: 187), piece))
            #expect(records == 96 * StreamingTests.megabyte / piece.count * 4)
            #expect(growth < 32 * StreamingTests.megabyte, "grew by \(growth) bytes")
        }
    }

    @Test("A huge block of pcapng is skipped without being stored")
    func pcapng() async {
        await #expect(processExitsWith: .success) {
            let pcapng = Pcapng()
            let advert = Advert.samples[0]
            let count = 96 * StreamingTests.megabyte
            let head = join(
                pcapng.section(), pcapng.interface(linkType: 187), number(UInt32(0xBAD), isBigEndian: false),
                number(UInt32(count + 12), isBigEndian: false))
            let tail = join(
                number(UInt32(count + 12), isBigEndian: false), pcapng.packet(units: 1, advert.packet(linkType: 187)))
            let zeros = [UInt8](repeating: 0, count: StreamingTests.megabyte)
            let (records, growth) = try StreamingTests.records(
                [[head], Array(repeating: zeros, count: 96), [tail]].joined())
            #expect(records == 1)
            #expect(growth < 32 * StreamingTests.megabyte, "grew by \(growth) bytes")
        }
    }

    @Test("A gzipped file that unpacks to a thousand times its size is also streamed")
    func gzip() async {
        await #expect(processExitsWith: .success) {
            try withTemporaryFolder { folder in
                let path = folder + "/long.pcap.gz"
                var file = try FileOutput(path: path)
                let record = Pcap().record(microseconds: 1, [UInt8](repeating: 2, count: 200_000))
                try file.append { $0 += Pcap().header(linkType: 187) }
                for _ in 0..<200 { try file.append { $0 += record } }
                try file.finish()
                let before = try StreamingTests.peakMemory()
                var reader = try CaptureReader(path: path)
                var batch = AdvertBatch()
                var records = 0
                while try reader.next(into: &batch) != nil {
                    records += 1
                    batch.begin()
                }
                #expect(records == 200)
                #expect(reader.offset == 24 + 200 * record.count)
                let growth = try StreamingTests.peakMemory() - before
                #expect(growth < 20 * StreamingTests.megabyte, "grew by \(growth) bytes")
            }
        }
    }
}
