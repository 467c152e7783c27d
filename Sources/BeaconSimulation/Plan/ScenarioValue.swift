import BeaconModel

/// A value of a scenario file with its place, for error messages.
///
/// All its functions throw ``ScenarioError``.
struct ScenarioValue {
    let value: JSONValue

    /// The place of the value, as in `beacons[2].interval`.
    let path: String

    /// The maximum length of a text in bytes.
    private static let longestText = 1000

    var isNull: Bool { if case .null = value { true } else { false } }

    func wrongType(expected: String) -> ScenarioError {
        ScenarioError(.wrongType, at: path, "is \(value.kind); write \(expected)")
    }

    func invalid(_ message: String) -> ScenarioError { ScenarioError(.invalidValue, at: path, message) }

    func number(in range: ClosedRange<Double>, unit: String = "") throws -> Double {
        guard case .number(let number) = value else { throw wrongType(expected: "a number") }
        guard range.contains(number) else {
            throw ScenarioError(
                .outOfRange, at: path,
                "is \(Self.text(of: number)); write a number from \(Self.text(of: range.lowerBound)) to "
                    + "\(Self.text(of: range.upperBound))\(unit.isEmpty ? "" : " \(unit)")")
        }
        return number
    }

    func integer(in range: ClosedRange<Int>) throws -> Int {
        let number = try self.number(in: Double(range.lowerBound)...Double(range.upperBound))
        guard let integer = Int(exactly: number) else {
            throw ScenarioError(
                .outOfRange, at: path, "is \(Self.text(of: number)); write a whole number")
        }
        return integer
    }

    /// Returns a seed: a whole number up to 2^53, which every JSON writer keeps exact.
    func seed() throws -> UInt64 {
        let number = try self.number(in: 0...0x1p53)
        guard let seed = UInt64(exactly: number) else {
            throw ScenarioError(.outOfRange, at: path, "is \(Self.text(of: number)); write a whole number")
        }
        return seed
    }

    /// Returns a duration or a time in nanoseconds, written in seconds.
    func nanoseconds(in range: ClosedRange<Double>) throws -> Int64 {
        Int64((try number(in: range, unit: "seconds") * 1_000_000_000).rounded())
    }

    func flag() throws -> Bool {
        guard case .bool(let flag) = value else { throw wrongType(expected: "true or false") }
        return flag
    }

    func text() throws -> String {
        guard case .string(let text) = value else { throw wrongType(expected: "a text in quotation marks") }
        guard text.utf8.count <= Self.longestText else {
            throw ScenarioError(
                .tooLarge, at: path, "is \(text.utf8.count) bytes long; write at most \(Self.longestText)")
        }
        return text
    }

    /// Returns a text that fits into a line of output.
    func name() throws -> String {
        let text = try text()
        guard !text.isEmpty, text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            throw invalid("is not a name; write at least one character and no control characters")
        }
        return text
    }

    func uuid() throws -> ProximityUUID {
        guard let uuid = ProximityUUID(try text()) else {
            throw invalid("is not a UUID; write 32 hexadecimal digits as 8-4-4-4-12")
        }
        return uuid
    }

    func point() throws -> Point {
        let expected = "a place as two numbers in meters, [x, y], or three with the height, [x, y, z]"
        guard case .array(let parts) = value else { throw wrongType(expected: expected) }
        guard 2...3 ~= parts.count else { throw invalid("has \(parts.count) numbers; write \(expected)") }
        let coordinates = try parts.indices.map { index in
            try ScenarioValue(value: parts[index], path: "\(path)[\(index)]")
                .number(in: -Point.farthest...Point.farthest, unit: "meters")
        }
        return Point(x: coordinates[0], y: coordinates[1], z: coordinates.count > 2 ? coordinates[2] : 0)
    }

    func list(atMost most: Int) throws -> [ScenarioValue] {
        guard case .array(let elements) = value else { throw wrongType(expected: "a list in square brackets") }
        guard elements.count <= most else {
            throw ScenarioError(.tooLarge, at: path, "has \(elements.count) entries; write at most \(most)")
        }
        return elements.indices.map { ScenarioValue(value: elements[$0], path: "\(path)[\($0)]") }
    }

    func object() throws -> ScenarioObject {
        guard case .object(let members) = value else { throw wrongType(expected: "an object in braces") }
        return ScenarioObject(path: path, members: members)
    }

    /// Returns a number in the shortest form.
    private static func text(of number: Double) -> String {
        Int(exactly: number).map(String.init) ?? String(number)
    }
}

/// An object of a scenario file. Its reader takes the keys one by one, so that unknown keys can be reported.
struct ScenarioObject {
    /// The place of the object, as in `beacons[2]`; empty for the whole file.
    let path: String

    private var members: [String: JSONValue]
    private var keys: [String] = []

    init(path: String, members: [String: JSONValue]) {
        self.path = path
        self.members = members
    }

    /// Returns the place of a member.
    func path(of key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    /// Takes a member; returns nil if the key is missing.
    mutating func take(_ key: String) -> ScenarioValue? {
        keys.append(key)
        return members.removeValue(forKey: key).map { ScenarioValue(value: $0, path: path(of: key)) }
    }

    /// Takes a member without a default.
    ///
    /// - Parameter meaning: the expected value, for the error.
    mutating func require(_ key: String, _ meaning: String) throws -> ScenarioValue {
        guard let value = take(key) else {
            throw ScenarioError(.missingKey, at: path(of: key), "is missing; write \(meaning)")
        }
        return value
    }

    /// Finishes reading this object.
    ///
    /// - Throws: ``ScenarioError`` if unknown keys are left.
    func finish() throws {
        // In alphabetical order, so that the same file gives the same error.
        guard let unknown = members.keys.sorted().first else { return }
        throw ScenarioError(
            .unknownKey, at: path(of: unknown),
            "is not a key of the format; the keys here are \(keys.joined(separator: ", "))")
    }
}
