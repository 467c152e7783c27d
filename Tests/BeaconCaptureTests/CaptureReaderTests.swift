import BeaconCapture
import Testing

@Suite("Capture reader")
struct CaptureReaderTests {
    @Test(
        "The error for an unknown format lists the known ones",
        arguments: [
            "x", "hello, world, this is text", "\u{1F}\u{8B}", "name, value, other\n1, 2, 3\n",
            "\u{7F}ELF\0\0\0\0\0\0\0\0\0\0\0\0",
        ])
    func unknown(text: String) throws {
        let reading = try Reading(text.unicodeScalars.map { UInt8($0.value) })
        let error = try #require(reading.error)
        #expect(reading.format == nil)
        #expect(error.code == .unknownFormat || error.code == .truncated)
        if error.code == .unknownFormat {
            for format in CaptureFormat.allCases { #expect(error.message.contains(format.description)) }
        }
    }

    @Test("An empty file is an error")
    func empty() throws {
        #expect(try Reading([]).error?.code == .unknownFormat)
        #expect(try Reading(Gzip.member([])).error?.code == .unknownFormat)
    }

    @Test("Errors for a missing file and for a folder include the path")
    func noFile() throws {
        try withTemporaryFolder { folder in
            let missing = try #require(try Reading(path: folder + "/none").error)
            #expect(missing.code == .cannotOpen)
            #expect(missing.path == folder + "/none")
            #expect(missing.systemError == 2)
            let directory = try #require(try Reading(path: folder).error)
            #expect(directory.code == .cannotRead)
            #expect(directory.path == folder)
        }
    }
}
