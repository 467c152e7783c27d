import BeaconModel

/// An iBeacon that a gateway has decoded. Gateways use various names for its fields.
///
/// A number in quotation marks is decimal. It is hexadecimal if it begins with `0x`, or if the format is known to use
/// hexadecimal. The text alone is ambiguous: "1000" can be 4096 or 1000.
struct DecodedBeacon {
    /// True for formats that copy numbers from the advert's bytes, such as Tasmota's "0001".
    var isHexadecimal = false
    var uuid: JSONToken?
    var major: JSONToken?
    var minor: JSONToken?
    /// The measured power.
    var power: JSONToken?
    /// The value of a field that can be either the measured power or the transmit power. It is used if there is no
    /// other.
    private var anyPower: JSONToken?
    /// The identity, if the gateway writes it as one text.
    var identity: BeaconIdentity?

    enum Reading {
        /// The message contains no iBeacon.
        case nothing
        /// The iBeacon.
        case frame(IBeaconFrame)
        /// The field that cannot be read; nil if a field is missing.
        case unreadable(JSONToken?)
    }

    /// Stores a member of a message if it is a field of an iBeacon.
    @inline(__always)
    mutating func take(_ key: JSONToken, _ value: JSONToken, in text: RawSpan) {
        let name = key.range
        // Compare the length first: most members are something else.
        switch name.count {
        case 3 where text.matches(name, "uid"): uuid = value
        case 4 where text.matches(name, "uuid"): uuid = value
        case 5 where text.matches(name, "major"): major = value
        case 5 where text.matches(name, "minor"): minor = value
        case 7 where text.matches(name, "rssi_1m") || text.matches(name, "rssi@1m"): power = value
        case 7 where text.matches(name, "txpower"): anyPower = value
        case 8 where text.matches(name, "tx_power"): anyPower = value
        case 11 where text.matches(name, "ibeaconuuid"): uuid = value
        case 12 where text.matches(name, "ibeaconmajor"): major = value
        case 12 where text.matches(name, "ibeaconminor"): minor = value
        case 13 where text.matches(name, "measuredpower"): power = value
        case 13 where text.matches(name, "proximityuuid"): uuid = value
        case 14 where text.matches(name, "ibeacontxpower") || text.matches(name, "measured_power"): power = value
        default: break
        }
    }

    /// True if the message contains an iBeacon. Services of other devices also have a UUID.
    var isGiven: Bool { identity != nil || (Self.has(uuid) && (Self.has(major) || Self.has(minor))) }

    private static func has(_ value: JSONToken?) -> Bool {
        guard let value else { return false }
        return value.kind == .number || value.kind == .string && !value.range.isEmpty
    }

    /// Reads the fields.
    func reading(in text: RawSpan) -> Reading {
        guard isGiven else { return .nothing }
        if let identity { return .frame(IBeaconFrame(identity: identity, measuredPower: measuredPower(in: text))) }
        guard let uuid, let id = text.uuid(uuid.range) else { return .unreadable(uuid) }
        // Tasmota writes zeros for other devices.
        guard id.high | id.low != 0 else { return .nothing }
        guard let major, let first = number(major, in: text) else { return .unreadable(major) }
        guard let minor, let second = number(minor, in: text) else { return .unreadable(minor) }
        return .frame(
            IBeaconFrame(
                identity: BeaconIdentity(uuid: id, major: first, minor: second),
                measuredPower: measuredPower(in: text)))
    }

    /// Returns the measured power; the value for "unavailable" if it cannot be read.
    private func measuredPower(in text: RawSpan) -> Int8 {
        guard let power = power ?? anyPower, let number = integer(power, digits: 2, in: text) else {
            return IBeaconFrame.unavailableMeasuredPower
        }
        // Some gateways write the byte as unsigned.
        return Int8(exactly: number) ?? UInt8(exactly: number).map { Int8(bitPattern: $0) }
            ?? IBeaconFrame.unavailableMeasuredPower
    }

    private func number(_ value: JSONToken, in text: RawSpan) -> UInt16? {
        integer(value, digits: 4, in: text).flatMap { UInt16(exactly: $0) }
    }

    /// Returns a number.
    ///
    /// - Parameter digits: the most hexadecimal digits that the number may have.
    private func integer(_ value: JSONToken, digits: Int, in text: RawSpan) -> Int? {
        guard value.kind == .string else { return text.integer(value) }
        let range = value.range
        let isMarked = range.count > 2 && text.matches(range.lowerBound..<range.lowerBound + 2, "0x")
        guard isMarked || isHexadecimal else { return text.integer(value) }
        let written = isMarked ? range.lowerBound + 2..<range.upperBound : range
        guard (1...digits).contains(written.count) else { return nil }
        var number = 0
        for position in written {
            guard let digit = Hexadecimal.value(of: text.unsafeLoad(fromByteOffset: position, as: UInt8.self)) else {
                return nil
            }
            number = number << 4 | Int(digit)
        }
        return number
    }
}

extension RawSpan {
    /// Returns true if these bytes equal the text, ignoring case.
    @inline(__always)
    func matches(_ range: Range<Int>, _ text: StaticString) -> Bool {
        guard range.count == text.utf8CodeUnitCount, range.upperBound <= byteCount else { return false }
        for index in 0..<range.count {
            let byte = unsafeLoad(fromByteOffset: range.lowerBound + index, as: UInt8.self)
            // The bit that distinguishes upper case from lower case.
            guard byte | 0x20 == text.utf8Start[index] | 0x20 else { return false }
        }
        return true
    }
}
