package import BeaconModel
package import BeaconRadio

/// The driver of a capture, which plays like a recording.
package final class CaptureDriver: ReceiverDriver {
    package let name: String
    package let isRecording = true
    private var reader: CaptureReader
    private var hasReportedForeignLines = false

    /// Opens a file or a pipe. Another thread can end the reading.
    ///
    /// - Parameters:
    ///   - path: the file; `-` is standard input.
    ///   - interruption: a descriptor that ends all reading, as at the end of the file, once it is readable.
    /// - Throws: ``CaptureError`` if it cannot be opened, or its format is unknown.
    package init(path: String, interruption: Int32 = -1) throws(CaptureError) {
        name = path
        reader = try CaptureReader(path: path, interruption: interruption)
    }

    package var receiverNames: [String] { reader.receiverNames }

    package func process(at now: Timestamp, into batch: inout AdvertBatch) throws {
        defer { batch.counts = reader.counts }
        if let record = try reader.next(into: &batch) {
            batch.time = record.time
            if !hasReportedForeignLines { reportForeignLines(isAtEnd: false, &batch) }
        } else {
            reportForeignLines(isAtEnd: true, &batch)
            batch.end()
        }
    }

    /// Reports the first foreign line at once, and their number at the end.
    private func reportForeignLines(isAtEnd: Bool, _ batch: inout AdvertBatch) {
        let lines = reader.foreignLines
        guard let first = lines.first else { return }
        if !hasReportedForeignLines {
            hasReportedForeignLines = true
            report(
                "at byte \(first): a line is neither a packet nor part of one; this line and similar ones "
                    + "are ignored.", &batch)
        }
        if isAtEnd, lines.count > 1 { report("\(lines.count) lines were ignored in total.", &batch) }
    }

    private func report(_ message: String, _ batch: inout AdvertBatch) {
        batch.report(.notice(RadioNotice(.foreignLine, adapter: "capture", message)))
    }
}
