import BeaconCapture
import Testing

@Suite("Writing of files")
struct FileOutputTests {
    private let content = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 3) }

    private func write(_ path: String) throws -> [UInt8] {
        var output = try FileOutput(path: path)
        for start in stride(from: 0, to: content.count, by: 999) {
            try output.append { $0 += content[start..<min(start + 999, content.count)] }
        }
        try output.finish()
        return try FileInput.contents(path: path, limit: 1 << 20)
    }

    @Test("The file contains the appended bytes")
    func plain() throws {
        let written = try withTemporaryFolder { try write($0 + "/file") }
        #expect(written == content)
    }

    @Test("A name that ends in .gz creates a gzipped file, which is read like any other")
    func gzipped() throws {
        let written = try withTemporaryFolder { try write($0 + "/file.gz") }
        #expect(written.starts(with: [0x1F, 0x8B, 8]))
        #expect(written.count < content.count / 4)
        for file in [SampleFile.pcap(linkType: 187), .sightingLog(), .btsnoop(datalink: 2001)] {
            try withTemporaryFolder { folder in
                let path = folder + "/file.gz"
                var output = try FileOutput(path: path)
                try output.append { $0 += file.bytes }
                try output.finish()
                let reading = try Reading(path: path)
                #expect(reading.heard.count == Advert.samples.count)
                #expect(reading.error == nil)
            }
        }
    }

    @Test("Errors of creating and writing include path and reason")
    func failures() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/none/file"
            let error = #expect(throws: CaptureError.self) { _ = try FileOutput(path: path) }
            #expect(error?.code == .cannotWrite)
            #expect(error?.path == path)
        }
        // The device that is always full.
        let full = #expect(throws: CaptureError.self) { _ = try write("/dev/full") }
        #expect(full?.code == .cannotWrite)
        #expect(full?.systemError == 28)
    }

    @Test("A file beyond its limit is an error")
    func limit() throws {
        try withTemporaryFolder { folder in
            _ = try write(folder + "/file")
            let error = #expect(throws: CaptureError.self) {
                _ = try FileInput.contents(path: folder + "/file", limit: content.count - 1)
            }
            #expect(error?.code == .cannotRead)
        }
    }
}
