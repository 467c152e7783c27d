import BeaconModel

/// The content of one line of a sighting log.
struct SightingLine {
    var time: Timestamp?
    var receiver: String?
    var address: DeviceAddress
    var identity: BeaconIdentity
    var measuredPower: Int8?
    var rssi: SignalStrength
}

/// A parser of one line of a sighting log: a JSON object (RFC 8259).
///
/// It reads the members in the order of the text, because a general JSON decoder is two orders of magnitude slower than
/// the rest of a replay.
struct SightingLineParser {
    private var scanner = JSONScanner(isStrict: false)

    private var time: Timestamp?
    private var receiver: String?
    private var address: DeviceAddress?
    private var uuid: ProximityUUID?
    private var major: UInt16?
    private var minor: UInt16?
    private var measuredPower: Int8?
    private var rssi: Int8?
    private var isOfTag = false

    /// Reads a line.
    ///
    /// - Returns: nil if the line is blank.
    static func parse(_ line: RawSpan) throws(JSONScanner.Fault) -> SightingLine? {
        var parser = SightingLineParser()
        parser.scanner.skipBlanks(line)
        guard parser.scanner.position < line.byteCount else { return nil }
        try parser.readObject(line)
        guard let uuid = parser.uuid, let major = parser.major, let minor = parser.minor, let rssi = parser.rssi else {
            let missing =
                parser.uuid == nil
                ? "uuid" : parser.major == nil ? "major" : parser.minor == nil ? "minor" : "rssi"
            throw parser.fail("a sighting has no \"\(missing)\"", at: 0)
        }
        // Only a tag's address has a kind in the log: without it, its identity would count as forged.
        let address = parser.address.map { parser.isOfTag ? DeviceAddress(bits: $0.bits, kind: .randomIdentity) : $0 }
        return SightingLine(
            time: parser.time,
            receiver: parser.receiver,
            address: address ?? DeviceAddress(bits: 0, kind: .anonymous),
            identity: BeaconIdentity(uuid: uuid, major: major, minor: minor),
            measuredPower: parser.measuredPower,
            rssi: SignalStrength(rawValue: rssi))
    }

    private mutating func readObject(_ line: RawSpan) throws(JSONScanner.Fault) {
        try scanner.expect("{", line)
        scanner.skipBlanks(line)
        if scanner.peek(line) == UInt8(ascii: "}") {
            scanner.position += 1
        } else {
            repeat {
                scanner.skipBlanks(line)
                let key = try scanner.string(line)
                scanner.skipBlanks(line)
                try scanner.expect(":", line)
                scanner.skipBlanks(line)
                try readValue(of: key, line)
                scanner.skipBlanks(line)
            } while try scanner.continues(until: "}", line)
        }
        scanner.skipBlanks(line)
        guard scanner.position == line.byteCount else { throw fail("there is text after the sighting") }
    }

    private mutating func readValue(of key: String, _ line: RawSpan) throws(JSONScanner.Fault) {
        let start = scanner.position
        if scanner.peek(line) == UInt8(ascii: "n") {
            if key == "rssi" { rssi = SignalStrength.unavailable.rawValue }
            return try scanner.skipValue(line)
        }
        switch key {
        case "time":
            time = try readTime(line)
        case "receiver":
            receiver = try scanner.string(line)
        case "address":
            address = DeviceAddress(try scanner.string(line))
            if address == nil { throw fail("\"address\" is not of the form aa:bb:cc:dd:ee:ff", at: start) }
        case "uuid":
            uuid = ProximityUUID(try scanner.string(line))
            if uuid == nil { throw fail("\"uuid\" is not a UUID", at: start) }
        case "major":
            major = try readInteger(line, key)
        case "minor":
            minor = try readInteger(line, key)
        case "measuredPower":
            measuredPower = try readInteger(line, key)
        case "rssi":
            rssi = try readInteger(line, key)
        case "tag":
            isOfTag = scanner.peek(line) == UInt8(ascii: "t")
            try scanner.skipValue(line)
        default:
            try scanner.skipValue(line)
        }
    }

    // MARK: - Values

    private mutating func readInteger<Number: FixedWidthInteger>(
        _ line: RawSpan, _ key: String
    ) throws(JSONScanner.Fault) -> Number {
        let start = scanner.position
        let text = try scanner.number(line)
        if let value = Number(text) { return value }
        if let real = Double(text), let value = Number(exactly: real) { return value }
        throw fail("\"\(key)\" is \(text), which is not a whole number in \(Number.min)...\(Number.max)", at: start)
    }

    /// Reads seconds since 1970. The digits are read as text, because a `Double` cannot hold nanoseconds of this
    /// century.
    private mutating func readTime(_ line: RawSpan) throws(JSONScanner.Fault) -> Timestamp {
        let start = scanner.position
        var whole: Int64 = 0
        var fraction: Int64 = 0
        var scale: Int64 = Timestamp.nanosecondsPerSecond
        var digits = 0
        while let digit = digit(line), digits < 10 {
            whole = whole * 10 + digit
            digits += 1
            scanner.position += 1
        }
        if scanner.peek(line) == UInt8(ascii: ".") {
            scanner.position += 1
            while let digit = digit(line) {
                scale /= 10
                fraction += digit * scale
                scanner.position += 1
            }
        }
        if digits > 0, let end = scanner.peek(line),
            end == UInt8(ascii: ",") || end == UInt8(ascii: "}") || end <= 0x20,
            whole <= Timestamp.latest.nanoseconds / Timestamp.nanosecondsPerSecond - 1
        {
            return Timestamp(nanoseconds: whole * Timestamp.nanosecondsPerSecond + fraction)
        }
        scanner.position = start
        let text = try scanner.number(line)
        guard let seconds = Double(text), let time = Timestamp(seconds: seconds) else {
            throw fail("\"time\" is \(text), which is not in seconds since 1970", at: start)
        }
        return time
    }

    private func digit(_ line: RawSpan) -> Int64? {
        guard let character = scanner.peek(line), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) else {
            return nil
        }
        return Int64(character - UInt8(ascii: "0"))
    }

    private func fail(_ reason: String, at offset: Int? = nil) -> JSONScanner.Fault {
        JSONScanner.Fault(kind: .refused(reason), offset: offset ?? scanner.position)
    }
}

extension JSONScanner.Fault {
    /// The description of the fault.
    var message: String {
        switch kind {
        case .missing(let word): "\(word) is missing here"
        case .missingNumber: "a number is missing here"
        case .unclosedString: "a text has no closing quotation mark"
        case .missingDigits: "\\u needs four hexadecimal digits"
        case .unknownEscape: "a text contains an escape that JSON does not define"
        case .tooDeep: "values are nested more than \(JSONScanner.deepest) deep"
        case .refused(let reason): reason
        // A scanner that is not strict repairs these faults.
        case .controlCharacter, .notUTF8, .loneSurrogate: "a text is damaged"
        }
    }
}
