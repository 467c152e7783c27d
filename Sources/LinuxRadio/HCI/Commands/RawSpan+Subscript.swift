extension RawSpan {
    /// The byte at `offset`. The span checks the bound.
    subscript(offset: Int) -> UInt8 { unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}
