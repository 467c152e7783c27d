/// Returns the concatenated bytes.
func join(_ parts: [UInt8]...) -> [UInt8] { Array(parts.joined()) }

/// Returns a number as bytes in the given order.
func number(_ value: some FixedWidthInteger, isBigEndian: Bool) -> [UInt8] {
    withUnsafeBytes(of: isBigEndian ? value.bigEndian : value.littleEndian) { Array($0) }
}

/// Returns the bytes of a device address in the order on the air: the last printed byte first.
func addressBytes(_ bits: UInt64) -> [UInt8] { Array(number(bits, isBigEndian: false).prefix(6)) }
