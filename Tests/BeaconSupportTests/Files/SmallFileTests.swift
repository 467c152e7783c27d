import Foundation
import Glibc
import Testing

@testable import BeaconSupport

@Suite("Small files")
struct SmallFileTests {
    @Test("A pipe without a writer is an error and no wait, and a pipe with one is read whole")
    func pipes() throws {
        let path = NSTemporaryDirectory() + "/\(UUID())"
        defer { unlink(path) }
        #expect(mkfifo(path, 0o600) == 0)
        let error = #expect(throws: StateError.self) { try SmallFile.contents(path: path, limit: 100) }
        #expect(error?.message.contains("no program writes to it") == true)
        let writer = open(path, O_RDWR | O_NONBLOCK)
        #expect(write(writer, "text", 4) == 4)
        // The writer ends once the reader has begun.
        let end = Thread {
            usleep(100_000)
            _ = write(writer, " and more", 9)
            close(writer)
        }
        end.start()
        #expect(try SmallFile.contents(path: path, limit: 100) == Array("text and more".utf8))
    }

    @Test("An empty file is empty")
    func empty() throws { #expect(try SmallFile.contents(path: "/dev/null", limit: 1) == []) }
}
