extension RawSpan {
    /// The byte at `offset`. The span checks the bound.
    @inlinable
    func byte(at offset: Int) -> UInt8 { unsafeLoad(fromByteOffset: offset, as: UInt8.self) }

    /// The 16-bit number at `offset`, least significant byte first.
    @inlinable
    func littleEndian16(at offset: Int) -> UInt16 {
        UInt16(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    /// The 32-bit number at `offset`, least significant byte first.
    @inlinable
    func littleEndian32(at offset: Int) -> UInt32 {
        UInt32(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    /// The 64-bit number at `offset`, least significant byte first.
    @inlinable
    func littleEndian64(at offset: Int) -> UInt64 {
        UInt64(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The 16-bit number at `offset`, most significant byte first.
    @inlinable
    func bigEndian16(at offset: Int) -> UInt16 {
        UInt16(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    /// The 64-bit number at `offset`, most significant byte first.
    @inlinable
    func bigEndian64(at offset: Int) -> UInt64 {
        UInt64(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The six bytes of a device address at `offset`, which travel with the last printed byte first.
    @inlinable
    func addressBits(at offset: Int) -> UInt64 {
        UInt64(littleEndian32(at: offset)) | UInt64(littleEndian16(at: offset + 4)) &<< 32
    }
}
