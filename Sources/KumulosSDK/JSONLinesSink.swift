import BeaconRadio
import BeaconService
public import Foundation

/// Writes each event as a line of JSON at the end of a file.
public final class JSONLinesSink: KumulosEventSink {
    private let file: URL
    private let isWriting = Locked(())

    /// A sink that writes to a file, which is made where it is not there.
    public init(file: URL) { self.file = file }

    /// Writes an event.
    ///
    /// - Throws: Foundation's error if the file cannot be made or written.
    public func record(_ event: KumulosEvent) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let line = try encoder.encode(event) + Data("\n".utf8)
        try isWriting.withLock { _ in
            if !FileManager.default.fileExists(atPath: file.path) {
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data().write(to: file)
            }
            let handle = try FileHandle(forWritingTo: file)
            defer { try? handle.close() }
            try handle.seekToEnd()
            try handle.write(contentsOf: line)
            try handle.synchronize()
        }
    }
}
