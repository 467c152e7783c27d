import BeaconModel

/// A reader of a command's parameters, least significant byte first.
struct ParameterReader {
    private var rest: ArraySlice<UInt8>

    init(_ parameters: ArraySlice<UInt8>) { rest = parameters }

    mutating func byte() throws(Status) -> UInt8 {
        guard let byte = rest.popFirst() else { throw .invalidParameters }
        return byte
    }

    mutating func number(bytes count: Int) throws(Status) -> UInt64 {
        var number: UInt64 = 0
        for index in 0..<count { number |= UInt64(try byte()) << (8 * index) }
        return number
    }

    mutating func number16() throws(Status) -> UInt16 { UInt16(truncatingIfNeeded: try number(bytes: 2)) }

    mutating func address(_ kind: DeviceAddress.Kind) throws(Status) -> DeviceAddress {
        DeviceAddress(bits: try number(bytes: 6), kind: kind)
    }

    /// Reads a switch, which must be 0 or 1.
    mutating func flag() throws(Status) -> Bool {
        switch try byte() {
        case 0: return false
        case 1: return true
        default: throw .invalidParameters
        }
    }

    mutating func bytes(_ count: Int) throws(Status) -> [UInt8] {
        guard rest.count >= count else { throw .invalidParameters }
        let bytes = Array(rest.prefix(count))
        rest = rest.dropFirst(count)
        return bytes
    }
}
