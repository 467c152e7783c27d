/// A reader of JSON (RFC 8259) that reports the line and column of a mistake.
///
/// Foundation's decoder says of a missing comma only that the data is not valid, and takes a key that is there twice;
/// whoever writes a scenario by hand needs to know both.
struct JSONReader {
    private let json: [UInt8]
    private var place = 0

    /// Lists and objects inside each other beyond this are refused before they can exhaust the stack. The format needs
    /// six.
    private static let deepest = 32

    /// The longest file that is read, in bytes.
    private static let largest = 16 << 20

    /// Reads JSON text in UTF-8.
    ///
    /// - Throws: ``ScenarioError``.
    static func value(of json: [UInt8]) throws -> JSONValue {
        guard json.count <= largest else {
            throw ScenarioError(
                .tooLarge, at: "", "is longer than \(largest >> 20) MiB; leave out what the story does not need")
        }
        var reader = JSONReader(json: json)
        // A byte order mark, which some editors write.
        if json.starts(with: [0xEF, 0xBB, 0xBF]) { reader.place = 3 }
        let value = try reader.value(depth: 0)
        guard reader.peek() == nil else { throw reader.mistake("something stands behind the end", "remove it") }
        return value
    }

    private init(json: [UInt8]) { self.json = json }

    private func mistake(_ found: String, _ remedy: String) -> ScenarioError {
        let before = json[..<min(place, json.count)]
        let line = 1 + before.count { $0 == UInt8(ascii: "\n") }
        // Characters, not bytes: those that continue a character in UTF-8 do not count.
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let column = 1 + before[start...].count { $0 & 0xC0 != 0x80 }
        return ScenarioError(
            .malformed, at: "", "is not JSON: in line \(line), column \(column), \(found); \(remedy)")
    }

    /// Returns the next byte that is not white space, which stays there, or nil at the end.
    private mutating func peek() -> UInt8? {
        while place < json.count {
            switch json[place] {
            case 0x20, 0x09, 0x0A, 0x0D: place += 1
            default: return json[place]
            }
        }
        return nil
    }

    private mutating func value(depth: Int) throws -> JSONValue {
        guard depth < Self.deepest else {
            throw mistake("lists and objects are nested deeper than \(Self.deepest)", "check the brackets")
        }
        guard let next = peek() else { throw mistake("the file ends where a value should be", "add what is missing") }
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try list(depth: depth)
        case UInt8(ascii: "\""): return .text(try text())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default:
            for (word, value) in [("true", JSONValue.bool(true)), ("false", .bool(false)), ("null", .null)]
            where json[place...].starts(with: word.utf8) {
                place += word.utf8.count
                return value
            }
            throw mistake("there is no value", "write a number, a text in quotation marks, a list or an object")
        }
    }

    private mutating func object(depth: Int) throws -> JSONValue {
        var members: [String: JSONValue] = [:]
        place += 1
        if peek() == UInt8(ascii: "}") {
            place += 1
            return .object(members)
        }
        while true {
            guard peek() == UInt8(ascii: "\"") else {
                throw mistake("there is no key", "write one in quotation marks, or remove a comma too many")
            }
            let start = place
            let key = try text()
            guard members[key] == nil else {
                place = start
                throw mistake("the key \"\(key)\" is there a second time", "leave one of them out")
            }
            guard peek() == UInt8(ascii: ":") else { throw mistake("there is no colon behind the key", "add it") }
            place += 1
            members[key] = try value(depth: depth + 1)
            if try isClosed(by: UInt8(ascii: "}"), "brace") { return .object(members) }
        }
    }

    private mutating func list(depth: Int) throws -> JSONValue {
        var elements: [JSONValue] = []
        place += 1
        if peek() == UInt8(ascii: "]") {
            place += 1
            return .list(elements)
        }
        while true {
            elements.append(try value(depth: depth + 1))
            if try isClosed(by: UInt8(ascii: "]"), "bracket") { return .list(elements) }
        }
    }

    /// Takes a comma, or the end of a list or object.
    private mutating func isClosed(by end: UInt8, _ name: String) throws -> Bool {
        let next = peek()
        guard next == end || next == UInt8(ascii: ",") else {
            throw mistake("there is neither a comma nor a closing \(name)", "add one of them")
        }
        place += 1
        return next == end
    }

    private mutating func number() throws -> JSONValue {
        let start = place
        func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        while place < json.count, isDigit(json[place]) || "+-.eE".utf8.contains(json[place]) { place += 1 }
        let bytes = json[start..<place]
        let digits = bytes.first == UInt8(ascii: "-") ? bytes.dropFirst() : bytes
        // What Swift reads as a number is more than JSON allows: a leading 0, and points without digits around.
        let hasLeadingZero =
            digits.count > 1 && digits.first == UInt8(ascii: "0") && isDigit(digits[digits.startIndex + 1])
        let hasBarePoint = bytes.indices.contains { index in
            bytes[index] == UInt8(ascii: ".")
                && !(index > start && index + 1 < place && isDigit(bytes[index - 1]) && isDigit(bytes[index + 1]))
        }
        guard !hasLeadingZero, !hasBarePoint, let number = Double(String(decoding: bytes, as: UTF8.self)),
            number.isFinite
        else {
            place = start
            throw mistake("there is no number that can be kept", "write it like -59 or 0.35")
        }
        return .number(number)
    }

    private mutating func text() throws -> String {
        let start = place
        var bytes: [UInt8] = []
        place += 1
        while place < json.count {
            let byte = json[place]
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    place = start
                    throw mistake("a text is not UTF-8", "save the file as UTF-8")
                }
                place += 1
                return text
            case UInt8(ascii: "\\"): bytes.append(contentsOf: try escape())
            case 0..<0x20: throw mistake("a text has a line break or tab in it", #"write \n or \t"#)
            default:
                bytes.append(byte)
                place += 1
            }
        }
        place = start
        throw mistake("a text has no end", "add the quotation mark")
    }

    /// Takes an escape sequence.
    ///
    /// - Returns: what it stands for, in UTF-8.
    private mutating func escape() throws -> [UInt8] {
        let code = place + 1 < json.count ? json[place + 1] : 0
        if code == UInt8(ascii: "u") {
            let unit = try codeUnit()
            guard UTF16.isLeadSurrogate(unit) else {
                guard let scalar = Unicode.Scalar(unit) else {
                    throw mistake("half a character is escaped", "write the character itself")
                }
                return Array(String(scalar).utf8)
            }
            let low = json[place...].starts(with: #"\u"#.utf8) ? try codeUnit() : 0
            guard UTF16.isTrailSurrogate(low),
                let scalar = Unicode.Scalar(0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(low) - 0xDC00))
            else { throw mistake("half a character is escaped", "write the character itself") }
            return Array(String(scalar).utf8)
        }
        let meanings: [UInt8: UInt8] = [
            UInt8(ascii: "\""): 0x22, UInt8(ascii: "\\"): 0x5C, UInt8(ascii: "/"): 0x2F, UInt8(ascii: "b"): 0x08,
            UInt8(ascii: "f"): 0x0C, UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09,
        ]
        guard let meaning = meanings[code] else {
            throw mistake("a backslash escapes nothing that can be escaped", #"write \\ for a backslash"#)
        }
        place += 2
        return [meaning]
    }

    /// Takes `\u` and four hexadecimal digits.
    private mutating func codeUnit() throws -> UInt16 {
        let digits = json[min(place + 2, json.count)..<min(place + 6, json.count)]
        let isHexadecimal = digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
        guard digits.count == 4, isHexadecimal, let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw mistake(#"\u has no four hexadecimal digits behind it"#, "write the character itself") }
        place += 6
        return unit
    }
}

/// Any JSON, so that what reads a scenario can say itself what is wrong and where.
enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    case list([JSONValue])
    case object([String: JSONValue])

    /// The kind of value, in words for people.
    var kind: String {
        switch self {
        case .null: "null"
        case .bool: "true or false"
        case .number: "a number"
        case .text: "a text"
        case .list: "a list"
        case .object: "an object"
        }
    }
}
