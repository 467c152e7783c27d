/// A path to a value in a JSON text: keys and indices, separated by dots, such as `device.0.mac`.
public struct JSONPath: Hashable, Sendable, CustomStringConvertible {
    /// The keys of objects; a number is also an index of an array.
    private let steps: [[UInt8]]

    /// Creates the path of the text itself.
    package init() { steps = [] }

    /// Parses a path. It may begin with `$`, as in JSONPath (RFC 9535). An empty path is the text itself.
    ///
    /// - Returns: nil if a step is empty.
    public init?(_ text: String) {
        var text = Substring(text)
        if text.first == "$" { text = text.dropFirst() }
        if text.first == "." { text = text.dropFirst() }
        guard !text.isEmpty else {
            steps = []
            return
        }
        steps = text.split(separator: ".", omittingEmptySubsequences: false).map { Array($0.utf8) }
        guard steps.allSatisfy({ !$0.isEmpty }) else { return nil }
    }

    /// The path in text form.
    public var description: String {
        steps.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".")
    }

    /// True if the path begins with a number, which may be an index of an array.
    var beginsWithIndex: Bool { steps.first.map { Int(String(decoding: $0, as: UTF8.self)) != nil } ?? false }

    /// Returns the value at the path, relative to another value; nil if it does not exist.
    func value(in text: RawSpan, from value: JSONToken) -> JSONToken? {
        var value = value
        for step in steps {
            guard let next = Self.child(step, of: value, in: text) else { return nil }
            value = next
        }
        return value
    }

    private static func child(_ step: [UInt8], of value: JSONToken, in text: RawSpan) -> JSONToken? {
        var found: JSONToken?
        if value.kind == .array {
            guard let place = Int(String(decoding: step, as: UTF8.self)) else { return nil }
            var index = 0
            text.forEachElement(of: value) { element in
                if index == place { found = element }
                index += 1
                return found == nil
            }
        } else {
            text.forEachMember(of: value) { key, member in
                guard key.range.count == step.count,
                    zip(key.range, step).allSatisfy({ text.unsafeLoad(fromByteOffset: $0, as: UInt8.self) == $1 })
                else { return true }
                found = member
                return false
            }
        }
        return found
    }
}
