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
/// Written by hand, since a general JSON decoder is two orders slower than the rest of a replay.
struct SightingLineParser {
    /// A mistake in a line, and its place.
    struct Failure: Error {
        var message: String
        var offset: Int
    }

    /// The deepest nesting of values that are skipped.
    private static let deepest = 32

    private var position = 0

    private var time: Timestamp?
    private var receiver: String?
    private var address: DeviceAddress?
    private var uuid: ProximityUUID?
    private var major: UInt16?
    private var minor: UInt16?
    private var measuredPower: Int8?
    private var rssi: Int8?

    /// Reads a line.
    ///
    /// - Returns: nil if the line is blank.
    static func parse(_ line: RawSpan) throws(Failure) -> SightingLine? {
        var parser = SightingLineParser()
        parser.skipBlanks(line)
        guard parser.position < line.byteCount else { return nil }
        try parser.readObject(line)
        guard let uuid = parser.uuid, let major = parser.major, let minor = parser.minor, let rssi = parser.rssi else {
            let missing =
                parser.uuid == nil
                ? "uuid" : parser.major == nil ? "major" : parser.minor == nil ? "minor" : "rssi"
            throw Failure(message: "a sighting has no \"\(missing)\"", offset: 0)
        }
        return SightingLine(
            time: parser.time,
            receiver: parser.receiver,
            address: parser.address ?? DeviceAddress(bits: 0, kind: .anonymous),
            identity: BeaconIdentity(uuid: uuid, major: major, minor: minor),
            measuredPower: parser.measuredPower,
            rssi: SignalStrength(rawValue: rssi))
    }

    private mutating func readObject(_ line: RawSpan) throws(Failure) {
        try expect("{", line)
        skipBlanks(line)
        if peek(line) == UInt8(ascii: "}") {
            position += 1
        } else {
            repeat {
                skipBlanks(line)
                let key = try readString(line)
                skipBlanks(line)
                try expect(":", line)
                skipBlanks(line)
                try readValue(of: key, line)
                skipBlanks(line)
            } while try continues(until: "}", line)
        }
        skipBlanks(line)
        guard position == line.byteCount else { throw fail("there is something behind the sighting") }
    }

    private mutating func readValue(of key: String, _ line: RawSpan) throws(Failure) {
        let start = position
        if peek(line) == UInt8(ascii: "n") {
            if key == "rssi" { rssi = SignalStrength.unavailable.rawValue }
            return try skipValue(line, depth: 0)
        }
        switch key {
        case "time":
            time = try readTime(line)
        case "receiver":
            receiver = try readString(line)
        case "address":
            address = DeviceAddress(try readString(line))
            if address == nil { throw fail("\"address\" is not of the form aa:bb:cc:dd:ee:ff", at: start) }
        case "uuid":
            uuid = ProximityUUID(try readString(line))
            if uuid == nil { throw fail("\"uuid\" is not a UUID", at: start) }
        case "major":
            major = try readInteger(line, key)
        case "minor":
            minor = try readInteger(line, key)
        case "measuredPower":
            measuredPower = try readInteger(line, key)
        case "rssi":
            rssi = try readInteger(line, key)
        default:
            try skipValue(line, depth: 0)
        }
    }

    // MARK: - Values

    private mutating func readInteger<Number: FixedWidthInteger>(
        _ line: RawSpan, _ key: String
    ) throws(Failure) -> Number {
        let start = position
        let text = try readNumber(line)
        if let value = Number(text) { return value }
        if let real = Double(text), let value = Number(exactly: real) { return value }
        throw fail("\"\(key)\" is \(text), which is not a whole number in \(Number.min)...\(Number.max)", at: start)
    }

    /// Reads seconds since 1970. Digits are taken as they stand, since a `Double` cannot hold nanoseconds of this
    /// century.
    private mutating func readTime(_ line: RawSpan) throws(Failure) -> Timestamp {
        let start = position
        var whole: Int64 = 0
        var fraction: Int64 = 0
        var scale: Int64 = Timestamp.nanosecondsPerSecond
        var digits = 0
        while let digit = digit(line), digits < 10 {
            whole = whole * 10 + digit
            digits += 1
            position += 1
        }
        if peek(line) == UInt8(ascii: ".") {
            position += 1
            while let digit = digit(line) {
                scale /= 10
                fraction += digit * scale
                position += 1
            }
        }
        if digits > 0, let end = peek(line), end == UInt8(ascii: ",") || end == UInt8(ascii: "}") || end <= 0x20,
            whole <= Timestamp.latest.nanoseconds / Timestamp.nanosecondsPerSecond - 1
        {
            return Timestamp(nanoseconds: whole * Timestamp.nanosecondsPerSecond + fraction)
        }
        position = start
        let text = try readNumber(line)
        guard let seconds = Double(text), let time = Timestamp(seconds: seconds) else {
            throw fail("\"time\" is \(text), which is not in seconds since 1970", at: start)
        }
        return time
    }

    private mutating func readNumber(_ line: RawSpan) throws(Failure) -> String {
        let start = position
        while let character = peek(line),
            digit(line) != nil || character == UInt8(ascii: "-") || character == UInt8(ascii: "+")
                || character == UInt8(ascii: ".") || character == UInt8(ascii: "e") || character == UInt8(ascii: "E")
        {
            position += 1
        }
        guard position > start else { throw fail("there should be a number here") }
        return text(in: start..<position, line)
    }

    private mutating func readString(_ line: RawSpan) throws(Failure) -> String {
        try expect("\"", line)
        let start = position
        while let character = peek(line) {
            if character == UInt8(ascii: "\"") {
                defer { position += 1 }
                return text(in: start..<position, line)
            }
            if character == UInt8(ascii: "\\") { return try readEscapedString(from: start, line) }
            position += 1
        }
        throw fail("a text has no end")
    }

    /// Reads on in a string that holds escapes, from its first one.
    private mutating func readEscapedString(from start: Int, _ line: RawSpan) throws(Failure) -> String {
        var units = Array(text(in: start..<position, line).utf16)
        while let character = peek(line) {
            position += 1
            switch character {
            case UInt8(ascii: "\""):
                return String(decoding: units, as: UTF16.self)
            case UInt8(ascii: "\\"):
                units.append(try readEscape(line))
            default:
                let first = position - 1
                while let next = peek(line), next & 0xC0 == 0x80 { position += 1 }
                units.append(contentsOf: text(in: first..<position, line).utf16)
            }
        }
        throw fail("a text has no end")
    }

    private mutating func readEscape(_ line: RawSpan) throws(Failure) -> UInt16 {
        guard let character = peek(line) else { throw fail("a text has no end") }
        position += 1
        switch character {
        case UInt8(ascii: "b"): return 0x08
        case UInt8(ascii: "f"): return 0x0C
        case UInt8(ascii: "n"): return 0x0A
        case UInt8(ascii: "r"): return 0x0D
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return UInt16(character)
        case UInt8(ascii: "u"):
            var unit: UInt16 = 0
            for _ in 0..<4 {
                guard let digit = peek(line), let value = Hexadecimal.value(of: digit) else {
                    throw fail("\\u needs four hexadecimal digits")
                }
                unit = unit << 4 | UInt16(value)
                position += 1
            }
            return unit
        default:
            throw fail("a text holds an escape that JSON does not have", at: position - 1)
        }
    }

    /// Passes over a value of any kind.
    private mutating func skipValue(_ line: RawSpan, depth: Int) throws(Failure) {
        guard depth < Self.deepest else { throw fail("values lie more than \(Self.deepest) deep") }
        switch peek(line) {
        case UInt8(ascii: "\""):
            _ = try readString(line)
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            try skipContainer(line, depth: depth)
        case UInt8(ascii: "t"): try expect("true", line)
        case UInt8(ascii: "f"): try expect("false", line)
        case UInt8(ascii: "n"): try expect("null", line)
        default: _ = try readNumber(line)
        }
    }

    private mutating func skipContainer(_ line: RawSpan, depth: Int) throws(Failure) {
        let isObject = peek(line) == UInt8(ascii: "{")
        let end: StaticString = isObject ? "}" : "]"
        position += 1
        skipBlanks(line)
        if peek(line) == end.utf8Start.pointee {
            position += 1
            return
        }
        repeat {
            skipBlanks(line)
            if isObject {
                _ = try readString(line)
                skipBlanks(line)
                try expect(":", line)
                skipBlanks(line)
            }
            try skipValue(line, depth: depth + 1)
            skipBlanks(line)
        } while try continues(until: end, line)
    }

    // MARK: - Characters

    private func peek(_ line: RawSpan) -> UInt8? {
        position < line.byteCount ? line.unsafeLoad(fromByteOffset: position, as: UInt8.self) : nil
    }

    private func digit(_ line: RawSpan) -> Int64? {
        guard let character = peek(line), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) else {
            return nil
        }
        return Int64(character - UInt8(ascii: "0"))
    }

    private mutating func skipBlanks(_ line: RawSpan) {
        while let character = peek(line), character == 0x20 || character == 0x09 || character == 0x0D {
            position += 1
        }
    }

    private mutating func expect(_ word: StaticString, _ line: RawSpan) throws(Failure) {
        for index in 0..<word.utf8CodeUnitCount {
            guard peek(line) == word.utf8Start[index] else { throw fail("there should be \(word) here") }
            position += 1
        }
    }

    /// Reads a comma or the end, and returns whether it was a comma, behind which another member follows.
    private mutating func continues(until end: StaticString, _ line: RawSpan) throws(Failure) -> Bool {
        if peek(line) == UInt8(ascii: ",") {
            position += 1
            return true
        }
        try expect(end, line)
        return false
    }

    private func text(in range: Range<Int>, _ line: RawSpan) -> String {
        line.extracting(range).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    private func fail(_ message: String, at offset: Int? = nil) -> Failure {
        Failure(message: message, offset: offset ?? position)
    }
}
