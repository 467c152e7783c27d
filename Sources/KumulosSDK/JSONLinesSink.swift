import BeaconSupport
public import Foundation

/// A sink that writes each event as a line of JSON at the end of a file.
public final class JSONLinesSink: KumulosEventSink {
    private let file: URL
    private let isWriting = Locked(())

    /// Creates a sink that writes to a file, which is made where it is not there.
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

    /// Passes the events of the file to `keep`, and removes them from the file once it has returned.
    ///
    /// A line of another form is skipped. What another process writes meanwhile stays.
    ///
    /// - Throws: what `keep` throws; the events are then passed again by the next call.
    func drain(_ keep: ([KumulosEvent]) throws -> Void) throws {
        let taken = file.appendingPathExtension("taken")
        try isWriting.withLock { _ in
            // The file of an earlier attempt comes first.
            if !FileManager.default.fileExists(atPath: taken.path) {
                guard FileManager.default.fileExists(atPath: file.path) else { return }
                try FileManager.default.moveItem(at: file, to: taken)
            }
            let lines = try Data(contentsOf: taken).split(separator: UInt8(ascii: "\n"))
            try keep(lines.compactMap { try? JSONDecoder().decode(KumulosEvent.self, from: $0) })
            try FileManager.default.removeItem(at: taken)
        }
    }
}
