import BeaconModel

/// An iBeacon that a gateway has decoded. Gateways use various names for its fields.
///
/// A number in quotation marks is decimal. It is hexadecimal if it begins with `0x`, or if the format is known to use
/// hexadecimal. The text alone is ambiguous: "1000" can be 4096 or 1000.
struct DecodedBeacon {
    /// True for formats that copy numbers from the advert's bytes, such as Tasmota's "0001".
    var isHexadecimal = false
    /// The UUID, or the whole identity as one text, such as `UUID-10-7`.
    var uuid: JSONToken?
    var major: JSONToken?
    var minor: JSONToken?
    /// The measured power.
    var power: JSONToken?
    /// The value of a field that can be either the measured power or the transmit power. It is used if there is no
    /// other.
    private var anyPower: JSONToken?

    enum Reading {
        /// The message contains no iBeacon.
        case nothing
        /// The iBeacon, and its measured power if that cannot be read.
        case frame(IBeaconFrame, unreadablePower: JSONToken?)
        /// The field that cannot be read, nil if it is missing, and the problem.
        case unreadable(JSONToken?, StaticString)
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

    /// Reads the fields.
    func reading(in text: RawSpan) -> Reading {
        guard let uuid, has(uuid, in: text) else { return .nothing }
        let id = text.uuid(uuid.range)
        if id == nil, let identity = identity(uuid, in: text) { return frame(identity, in: text) }
        // Services of other devices also have a UUID.
        guard [major, minor].contains(where: { $0.map { has($0, in: text) } == true }) else { return .nothing }
        guard let id else { return .unreadable(uuid, "its UUID cannot be read") }
        // Tasmota writes zeros for other devices.
        guard id.high | id.low != 0 else { return .nothing }
        guard let major, let first = number(major, in: text) else {
            return .unreadable(major, "its major value is not a number from 0 to 65535")
        }
        guard let minor, let second = number(minor, in: text) else {
            return .unreadable(minor, "its minor value is not a number from 0 to 65535")
        }
        return frame(BeaconIdentity(uuid: id, major: first, minor: second), in: text)
    }

    /// Returns true if a value was given. Some gateways write null or an empty text for other devices.
    private func has(_ value: JSONToken, in text: RawSpan) -> Bool { !value.range.isEmpty && !text.isNull(value) }

    /// Returns the identity that one text contains, as `UUID-MAJOR-MINOR` with any separator, perhaps after `iBeacon:`;
    /// nil for other values.
    func identity(_ value: JSONToken, in text: RawSpan) -> BeaconIdentity? {
        guard value.kind == .string, (35...64).contains(value.range.count) else { return nil }
        let (mark, end) = ("iBeacon:" as StaticString, value.range.upperBound)
        let start = value.range.lowerBound
        let isMarked = text.matches(start..<start + mark.utf8CodeUnitCount, mark)
        let first = start + (isMarked ? mark.utf8CodeUnitCount : 0)
        // With and without hyphens.
        for split in [first + 36, first + 32] where split < end {
            guard let uuid = text.uuid(first..<split) else { continue }
            let separator = text.unsafeLoad(fromByteOffset: split, as: UInt8.self)
            let marks = (split..<end).filter { text.unsafeLoad(fromByteOffset: $0, as: UInt8.self) == separator }
            guard marks.count == 2 else { continue }
            guard let major = number(JSONToken(kind: .string, range: split + 1..<marks[1]), in: text),
                let minor = number(JSONToken(kind: .string, range: marks[1] + 1..<end), in: text)
            else { continue }
            return BeaconIdentity(uuid: uuid, major: major, minor: minor)
        }
        return nil
    }

    private func frame(_ identity: BeaconIdentity, in text: RawSpan) -> Reading {
        let unavailable = IBeaconFrame.unavailableMeasuredPower
        guard let value = power ?? anyPower, has(value, in: text) else {
            return .frame(IBeaconFrame(identity: identity, measuredPower: unavailable), unreadablePower: nil)
        }
        var number = integer(value, digits: 2, in: text)
        // Some gateways write the byte as unsigned.
        if let byte = number, (128...255).contains(byte) { number = byte - 256 }
        if let number, (-128...0).contains(number) || number == Int(unavailable) {
            let frame = IBeaconFrame(identity: identity, measuredPower: Int8(number))
            return .frame(frame, unreadablePower: nil)
        }
        // A transmit power may be positive: up to 20 dBm (Core Specification, Vol 6, Part A, 3).
        let isTransmitPower = power == nil && number.map { (1...20).contains($0) } == true
        return .frame(
            IBeaconFrame(identity: identity, measuredPower: unavailable),
            unreadablePower: isTransmitPower ? nil : value)
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
