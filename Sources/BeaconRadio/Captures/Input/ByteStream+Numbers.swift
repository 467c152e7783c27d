extension ByteStream {
    /// The 16-bit number `place` bytes into the window, which need to be at hand.
    func number16(at place: Int, isBigEndian: Bool) -> UInt16 {
        let raw = buffer.span.bytes.unsafeLoadUnaligned(fromByteOffset: start + place, as: UInt16.self)
        return isBigEndian ? UInt16(bigEndian: raw) : UInt16(littleEndian: raw)
    }

    /// The 32-bit number `place` bytes into the window, which need to be at hand.
    func number32(at place: Int, isBigEndian: Bool) -> UInt32 {
        let raw = buffer.span.bytes.unsafeLoadUnaligned(fromByteOffset: start + place, as: UInt32.self)
        return isBigEndian ? UInt32(bigEndian: raw) : UInt32(littleEndian: raw)
    }

    /// The 64-bit number `place` bytes into the window, which need to be at hand.
    func number64(at place: Int, isBigEndian: Bool) -> UInt64 {
        let raw = buffer.span.bytes.unsafeLoadUnaligned(fromByteOffset: start + place, as: UInt64.self)
        return isBigEndian ? UInt64(bigEndian: raw) : UInt64(littleEndian: raw)
    }

    /// Makes `count` bytes of one record available.
    ///
    /// - Parameter record: what the bytes belong to, for the error.
    /// - Returns: false at the end of the content, where nothing more is at hand.
    mutating func fillRecord(_ count: Int, of record: String) throws(CaptureError) -> Bool {
        if fill(atLeast: count) { return true }
        if let failure { throw failure }
        if available == 0 { return false }
        throw CaptureError(
            .truncated,
            "the file ends inside \(record), which has \(count) bytes and only \(available) of them here; "
                + "what came before was read",
            offset: offset)
    }

    /// Makes `count` bytes available of a record whose beginning has been read.
    mutating func fillRest(_ count: Int, of record: String) throws(CaptureError) {
        if fill(atLeast: count) { return }
        if let failure { throw failure }
        throw CaptureError(
            .truncated,
            "the file ends inside \(record), which has \(count) bytes and only \(available) of them here; "
                + "what came before was read",
            offset: offset)
    }
}
