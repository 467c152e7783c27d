/// Bytes put behind one another.
func join(_ parts: [UInt8]...) -> [UInt8] { Array(parts.joined()) }

/// A number as bytes in the wanted order.
func number(_ value: some FixedWidthInteger, isBigEndian: Bool) -> [UInt8] {
    withUnsafeBytes(of: isBigEndian ? value.bigEndian : value.littleEndian) { Array($0) }
}

/// The bytes of a device address as they travel: the last printed one first.
func addressBytes(_ bits: UInt64) -> [UInt8] { Array(number(bits, isBigEndian: false).prefix(6)) }
