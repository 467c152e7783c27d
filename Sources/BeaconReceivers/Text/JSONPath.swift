/// A path to a value in a JSON text: keys and places, with dots between them, as `device.0.mac`.
public struct JSONPath: Hashable, Sendable, CustomStringConvertible {
    /// A key of an object; one that is a number is a place in an array as well.
    private let steps: [[UInt8]]

    /// The path of the text itself.
    package init() { steps = [] }

    /// Reads a path. `$` at its beginning, as in JSONPath (RFC 9535), is allowed; an empty one is the text itself.
    ///
    /// - Returns: nil where a step is empty.
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

    /// The path as it is written.
    public var description: String {
        steps.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".")
    }

    /// Returns the value at the path, from another one; nil where there is none.
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
