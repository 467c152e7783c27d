// The part of protocol buffers that ESPHome uses (protobuf.dev, encoding): numbered fields whose value is a number,
// eight or four bytes, or a byte string.

/// A value of a field.
package enum ProtobufValue {
    /// A number. For a signed one of the type `sint`, see ``Swift/Int64/init(zigzag:)``.
    case number(UInt64)
    /// The range of the bytes, text or message.
    case bytes(Range<Int>)
}

extension RawSpan {
    /// Calls a function with each field of a message, in order, until it returns false.
    ///
    /// - Parameter range: the range of the message.
    /// - Returns: false if the message is damaged, or if the function returned false.
    @inline(__always)
    @discardableResult
    package func forEachField(
        in range: Range<Int>, _ body: (_ field: Int, _ value: ProtobufValue) throws -> Bool
    ) rethrows -> Bool {
        var position = range.lowerBound
        while position < range.upperBound {
            guard let tag = variable(at: &position, before: range.upperBound) else { return false }
            let field = Int(truncatingIfNeeded: tag >> 3)
            switch tag & 7 {
            case 0:
                guard let number = variable(at: &position, before: range.upperBound) else { return false }
                if try !body(field, .number(number)) { return false }
            case 1, 5:
                let count = tag & 7 == 1 ? 8 : 4
                guard range.upperBound - position >= count else { return false }
                var number: UInt64 = 0
                for index in 0..<count {
                    number |= UInt64(unsafeLoad(fromByteOffset: position + index, as: UInt8.self)) << UInt64(8 * index)
                }
                position += count
                if try !body(field, .number(number)) { return false }
            case 2:
                guard let count = variable(at: &position, before: range.upperBound),
                    count <= UInt64(range.upperBound - position)
                else { return false }
                let end = position + Int(count)
                if try !body(field, .bytes(position..<end)) { return false }
                position = end
            default: return false
            }
        }
        return true
    }

    /// Reads a number of variable length, and advances the position.
    ///
    /// - Returns: nil if it is not complete before `end`.
    @inline(__always)
    package func variable(at position: inout Int, before end: Int) -> UInt64? {
        // Most numbers have one byte.
        guard position < end else { return nil }
        let first = unsafeLoad(fromByteOffset: position, as: UInt8.self)
        position &+= 1
        if first < 0x80 { return UInt64(first) }
        var number = UInt64(first & 0x7F)
        var shift: UInt64 = 7
        while position < end, shift < 64 {
            let byte = unsafeLoad(fromByteOffset: position, as: UInt8.self)
            position &+= 1
            number |= UInt64(byte & 0x7F) &<< shift
            if byte < 0x80 { return number }
            shift &+= 7
        }
        return nil
    }
}

extension [UInt8] {
    /// Appends a number of variable length: seven bits a byte, the lowest first.
    package mutating func append(variable number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }

    /// Appends a field with a number, unless the number is zero.
    package mutating func append(field: Int, _ number: UInt64) {
        guard number != 0 else { return }
        append(variable: UInt64(field) << 3)
        append(variable: number)
    }

    /// Appends a field with bytes, unless they are empty.
    package mutating func append(field: Int, bytes: some Collection<UInt8>) {
        guard !bytes.isEmpty else { return }
        append(variable: UInt64(field) << 3 | 2)
        append(variable: UInt64(bytes.count))
        append(contentsOf: bytes)
    }

    /// Appends a field with text, unless it is empty.
    package mutating func append(field: Int, _ text: String) { append(field: field, bytes: text.utf8) }
}

extension Int64 {
    /// The zigzag encoding of a signed number. Small numbers stay small, whatever their sign.
    package var zigzag: UInt64 { UInt64(bitPattern: self << 1 ^ self >> 63) }

    /// Decodes a zigzag-encoded number.
    @inline(__always)
    package init(zigzag number: UInt64) { self = Int64(number >> 1) ^ -Int64(number & 1) }
}
