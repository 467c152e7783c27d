/// A file that is read as a whole, decompressed if it is gzipped.
package enum UnpackedFile {
    /// Returns the content.
    ///
    /// - Parameters:
    ///   - path: the file; `-` is standard input.
    ///   - limit: the maximum number of decompressed bytes.
    package static func contents(path: String, limit: Int) throws(CaptureError) -> [UInt8] {
        do throws(CaptureError) {
            var stream = try ByteStream(path: path)
            var bytes: [UInt8] = []
            while stream.available > 0 || stream.fill(atLeast: 1) {
                bytes += stream.buffer[stream.start..<stream.end]
                guard bytes.count <= limit else {
                    throw CaptureError(.cannotRead, "is larger than the limit of \(limit) bytes")
                }
                stream.consume(stream.available)
            }
            if let failure = stream.failure { throw failure }
            return bytes
        } catch {
            var error = error
            error.path = error.path ?? path
            throw error
        }
    }
}
