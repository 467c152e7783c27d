import BeaconModel

/// Reads the records of one format from a stream.
protocol FormatReader {
    /// Reads one record and delivers the adverts in it.
    ///
    /// - Returns: the record, or nil at the end.
    /// - Throws: ``CaptureError`` where the content is cut or damaged, and what `deliver` throws.
    mutating func next(
        _ stream: inout ByteStream,
        _ interpreter: inout PacketInterpreter,
        _ deliver: (Reception, RawSpan) throws -> Void
    ) throws -> SourceRecord?
}
