extension RawSpan {
    /// Returns the byte at `offset`. The span checks the bound.
    @inlinable
    func byte(at offset: Int) -> UInt8 { unsafeLoad(fromByteOffset: offset, as: UInt8.self) }

    /// Returns the 16-bit number at `offset`, least significant byte first.
    @inlinable
    func littleEndian16(at offset: Int) -> UInt16 {
        UInt16(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    /// Returns the 32-bit number at `offset`, least significant byte first.
    @inlinable
    func littleEndian32(at offset: Int) -> UInt32 {
        UInt32(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    /// Returns the 64-bit number at `offset`, least significant byte first.
    @inlinable
    func littleEndian64(at offset: Int) -> UInt64 {
        UInt64(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Returns the 16-bit number at `offset`, most significant byte first.
    @inlinable
    func bigEndian16(at offset: Int) -> UInt16 {
        UInt16(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    /// Returns the 64-bit number at `offset`, most significant byte first.
    @inlinable
    func bigEndian64(at offset: Int) -> UInt64 {
        UInt64(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Returns the six bytes of a device address at `offset`. On the air, the last printed byte is first.
    @inlinable
    func addressBits(at offset: Int) -> UInt64 {
        UInt64(littleEndian32(at: offset)) | UInt64(littleEndian16(at: offset + 4)) &<< 32
    }
}

/// The reading and writing of hexadecimal digits without Foundation.
public enum Hexadecimal {
    /// Returns the value of one ASCII hexadecimal digit, either case, or nil.
    @inlinable
    public static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit &- UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit &- UInt8(ascii: "a") &+ 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit &- UInt8(ascii: "A") &+ 10
        default: nil
        }
    }

    /// Returns the lower-case ASCII digit for the low four bits of `value`.
    @inlinable
    public static func digit(_ value: UInt8) -> UInt8 {
        let nibble = value & 0x0F
        return nibble < 10 ? UInt8(ascii: "0") &+ nibble : UInt8(ascii: "a") &- 10 &+ nibble
    }
}
