import BeaconModel

/// A reader of JSON (RFC 8259) that reports the line and column of an error.
///
/// For a missing comma, Foundation's decoder reports only that the data is not valid, and it accepts duplicate keys.
/// Authors of scenarios need to know both.
struct JSONReader {
    private let json: [UInt8]
    private var scanner = JSONScanner(isStrict: true)

    /// The maximum size of a file in bytes.
    private static let largest = 16 << 20

    /// Reads JSON text in UTF-8.
    ///
    /// - Throws: ``ScenarioError``.
    static func value(of json: [UInt8]) throws -> JSONValue {
        guard json.count <= largest else {
            throw ScenarioError(
                .tooLarge, at: "", "is longer than \(largest >> 20) MiB; remove what the scenario does not need")
        }
        var reader = JSONReader(json: json)
        // A byte order mark, which some editors write.
        if json.starts(with: [0xEF, 0xBB, 0xBF]) { reader.scanner.position = 3 }
        let value = try reader.value(depth: 0)
        guard reader.peek() == nil else { throw reader.syntaxError("there is text after the end", "remove it") }
        return value
    }

    private init(json: [UInt8]) { self.json = json }

    private func syntaxError(_ found: String, _ remedy: String, at offset: Int? = nil) -> ScenarioError {
        let before = json[..<min(offset ?? scanner.position, json.count)]
        let line = 1 + before.count { $0 == UInt8(ascii: "\n") }
        // Counts characters, not bytes: continuation bytes of UTF-8 do not count.
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let column = 1 + before[start...].count { $0 & 0xC0 != 0x80 }
        return ScenarioError(
            .malformed, at: "", "is not JSON: in line \(line), column \(column), \(found); \(remedy)")
    }

    /// Returns the next byte that is not white space without consuming it, or nil at the end.
    private mutating func peek() -> UInt8? {
        // A copy, because the reader cannot be read while its scanner changes.
        let json = json
        scanner.skipBlanks(json.span.bytes)
        return scanner.peek(json.span.bytes)
    }

    private mutating func value(depth: Int) throws -> JSONValue {
        guard depth < JSONScanner.deepest else {
            throw syntaxError("lists and objects are nested deeper than \(JSONScanner.deepest)", "check the brackets")
        }
        guard let next = peek() else {
            throw syntaxError("the file ends where a value should be", "add what is missing")
        }
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try list(depth: depth)
        case UInt8(ascii: "\""): return .string(try text())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default:
            for (word, value) in [("true", JSONValue.bool(true)), ("false", .bool(false)), ("null", .null)]
            where json[scanner.position...].starts(with: word.utf8) {
                scanner.position += word.utf8.count
                return value
            }
            throw syntaxError("a value is missing", "write a number, a text in quotation marks, a list or an object")
        }
    }

    private mutating func object(depth: Int) throws -> JSONValue {
        var members: [String: JSONValue] = [:]
        scanner.position += 1
        if peek() == UInt8(ascii: "}") {
            scanner.position += 1
            return .object(members)
        }
        while true {
            guard peek() == UInt8(ascii: "\"") else {
                throw syntaxError("a key is missing", "write it in quotation marks, or remove an extra comma")
            }
            let start = scanner.position
            let key = try text()
            guard members[key] == nil else {
                throw syntaxError("the key \"\(key)\" occurs twice", "remove one of them", at: start)
            }
            guard peek() == UInt8(ascii: ":") else { throw syntaxError("the colon after the key is missing", "add it") }
            scanner.position += 1
            members[key] = try value(depth: depth + 1)
            if try isClosed(by: UInt8(ascii: "}"), "brace") { return .object(members) }
        }
    }

    private mutating func list(depth: Int) throws -> JSONValue {
        var elements: [JSONValue] = []
        scanner.position += 1
        if peek() == UInt8(ascii: "]") {
            scanner.position += 1
            return .array(elements)
        }
        while true {
            elements.append(try value(depth: depth + 1))
            if try isClosed(by: UInt8(ascii: "]"), "bracket") { return .array(elements) }
        }
    }

    /// Consumes a comma, or the end of a list or object.
    private mutating func isClosed(by end: UInt8, _ name: String) throws -> Bool {
        let next = peek()
        guard next == end || next == UInt8(ascii: ",") else {
            throw syntaxError("a comma or a closing \(name) is missing", "add it")
        }
        scanner.position += 1
        return next == end
    }

    private mutating func number() throws -> JSONValue {
        let (start, json) = (scanner.position, json)
        guard let text = try? scanner.number(json.span.bytes), let number = Self.number(Array(text.utf8)) else {
            throw syntaxError("the number is not valid or too large", "write it like -59 or 0.35", at: start)
        }
        return .number(number)
    }

    /// Returns a finite number; nil if the text is not a JSON number. Swift also accepts a leading 0, and a point
    /// without digits around it.
    private static func number(_ text: [UInt8]) -> Double? {
        func isDigit(_ index: Int) -> Bool {
            text.indices.contains(index) && (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[index])
        }
        let first = text.first == UInt8(ascii: "-") ? 1 : 0
        let hasLeadingZero = text.dropFirst(first).first == UInt8(ascii: "0") && isDigit(first + 1)
        let hasBarePoint = text.indices.contains { index in
            text[index] == UInt8(ascii: ".") && !(isDigit(index - 1) && isDigit(index + 1))
        }
        guard !hasLeadingZero, !hasBarePoint else { return nil }
        return Double(String(decoding: text, as: UTF8.self)).flatMap { $0.isFinite ? $0 : nil }
    }

    private mutating func text() throws -> String {
        let (start, json) = (scanner.position, json)
        do throws(JSONScanner.Fault) {
            return try scanner.string(json.span.bytes)
        } catch {
            throw syntaxError(error, inTextAt: start)
        }
    }

    /// Returns the error for a fault in a text.
    private func syntaxError(_ fault: JSONScanner.Fault, inTextAt start: Int) -> ScenarioError {
        switch fault.kind {
        case .controlCharacter: syntaxError("a text contains a line break or tab", #"write \n or \t"#, at: fault.offset)
        case .notUTF8: syntaxError("a text is not UTF-8", "save the file as UTF-8", at: start)
        case .unknownEscape:
            syntaxError(
                "a backslash begins no known escape", #"write \\ for a backslash"#, at: scanner.escapeStart
            )
        case .missingDigits:
            syntaxError(
                #"\u is not followed by four hexadecimal digits"#, "write the character itself", at: scanner.escapeStart
            )
        case .loneSurrogate:
            syntaxError("an escape is only half a character", "write the character itself", at: fault.offset)
        case .unclosedString, .missing, .missingNumber, .tooDeep, .refused:
            syntaxError("a text has no closing quotation mark", "add it", at: start)
        }
    }
}

extension JSONValue {
    /// The kind of value, for messages.
    var kind: String {
        switch self {
        case .null: "null"
        case .bool: "true or false"
        case .integer, .number: "a number"
        case .string: "a text"
        case .array: "a list"
        case .object: "an object"
        }
    }
}
