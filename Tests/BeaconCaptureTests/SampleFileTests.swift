import BeaconCapture
import BeaconModel
import BeaconRadio
import Testing

/// The same three adverts in every format, intact and broken in every way that fits into a small file.
@Suite("Captures of every format")
struct SampleFileTests {
    /// The adverts that the file contains.
    private func expected(_ file: SampleFile) -> [Reading.Heard] {
        Advert.samples.map { advert in
            Reading.Heard(
                time: file.hasTimes ? advert.microseconds * 1000 : nil, receiver: file.receiver, kind: .nonConnectable,
                address: DeviceAddress(
                    bits: advert.address, kind: file.format == .sightingLog ? .unspecified : .random),
                rssi: file.hasSignal ? advert.rssi : nil, advert: advert.frame.advert)
        }
    }

    private func check(_ reading: Reading, _ file: SampleFile, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(reading.format == file.format, sourceLocation: sourceLocation)
        #expect(reading.heard == expected(file), sourceLocation: sourceLocation)
        #expect(reading.error == nil, sourceLocation: sourceLocation)
        #expect(reading.counts.packets == file.records(in: file.bytes.count), sourceLocation: sourceLocation)
        #expect(reading.records.count == reading.counts.packets, sourceLocation: sourceLocation)
        #expect(reading.counts.reports == Advert.samples.count, sourceLocation: sourceLocation)
        #expect(reading.counts.badCRC == 0, sourceLocation: sourceLocation)
    }

    @Test("Every format gives the same adverts", arguments: SampleFile.all)
    func adverts(file: SampleFile) throws { check(try Reading(file.bytes), file) }

    @Test("Gzipped files may have one member or several", arguments: SampleFile.all)
    func gzipped(file: SampleFile) throws {
        check(try Reading(Gzip.member(file.bytes)), file)
        let members = [0..<1, 1..<1, 1..<40, 40..<file.bytes.count].map { Gzip.member(Array(file.bytes[$0])) }
        check(try Reading(Array(members.joined())), file)
        // Tools that write to tapes fill the last block with zeros.
        check(try Reading(Gzip.member(file.bytes) + [UInt8](repeating: 0, count: 600)), file)
    }

    @Test("A pipe may deliver a few bytes at a time, gzipped or not", arguments: SampleFile.all)
    func pipe(file: SampleFile) throws {
        for bytes in [file.bytes, Gzip.member(file.bytes)] {
            let pieces = stride(from: 0, to: bytes.count, by: 7).map { Array(bytes[$0..<min(bytes.count, $0 + 7)]) }
            try withPipe(pieces) { check(try Reading(path: $0), file) }
        }
    }

    @Test(
        "A truncated file gives everything before its end, and an error if a record is incomplete",
        arguments: SampleFile.all)
    func cut(file: SampleFile) throws {
        let whole = expected(file)
        for count in 0...file.bytes.count {
            let reading = try Reading(Array(file.bytes[..<count]))
            let records = file.records(in: count)
            #expect(reading.counts.packets == records, "cut at \(count)")
            #expect(reading.heard == Array(whole.prefix(reading.heard.count)), "cut at \(count)")
            #expect((reading.error == nil) == (file.borders[count] != nil), "cut at \(count): \(reading.error as Any)")
            if let error = reading.error {
                #expect(count == 0 || (0...count).contains(error.offset ?? -1), "cut at \(count): \(error)")
                #expect(error.code == .truncated || error.code == .unknownFormat || error.code == .damaged)
            }
        }
    }

    @Test("A gzipped file may be truncated at any byte", arguments: SampleFile.all)
    func cutGzip(file: SampleFile) throws {
        let packed = Gzip.member(file.bytes)
        var records = 0
        for count in 0..<packed.count {
            let reading = try Reading(Array(packed[..<count]))
            let error = try #require(reading.error, "cut at \(count)")
            #expect(count < 2 || (0...file.bytes.count).contains(error.offset ?? -1), "cut at \(count): \(error)")
            #expect(count < 2 || "\(error)".contains("of the unpacked data: "), "cut at \(count): \(error)")
            #expect(reading.counts.packets >= records)
            records = reading.counts.packets
        }
        #expect(records == file.records(in: file.bytes.count))
    }

    @Test(
        "Flipped bits in the gzip checksums are damage, and everything before is delivered",
        arguments: SampleFile.all)
    func flippedSums(file: SampleFile) throws {
        let packed = Gzip.member(file.bytes)
        for bit in (packed.count - 8) * 8..<packed.count * 8 {
            var bytes = packed
            bytes[bit / 8] ^= 1 << (bit % 8)
            let reading = try Reading(bytes)
            #expect(reading.error?.code == .damaged, "bit \(bit)")
            #expect(reading.error?.offset == file.bytes.count, "bit \(bit)")
            #expect(reading.heard == expected(file), "bit \(bit)")
        }
    }

    @Test("Any flipped bit gives adverts, then the end or one error", arguments: SampleFile.all)
    func flips(file: SampleFile) throws {
        for bit in 0..<file.bytes.count * 8 {
            var bytes = file.bytes
            bytes[bit / 8] ^= 1 << (bit % 8)
            let reading = try Reading(bytes)
            if let error = reading.error {
                #expect((0...bytes.count).contains(error.offset ?? -1), "bit \(bit): \(error)")
            }
            #expect(reading.records.count <= bytes.count / 8, "bit \(bit)")
        }
    }
}
