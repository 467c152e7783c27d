/// A place in a source that compiles on Linux but behaves differently than on iOS.
public struct DelegateFinding: Hashable, Sendable {
    /// A kind of silent failure.
    @nonexhaustive
    public enum Kind: String, Hashable, Sendable {
        /// A subclass declares a callback that the conforming class does not declare: it is never called.
        case subclass

        /// A method is similar, but not identical, to a delegate method: it is never called.
        case signature

        /// A condition excludes beacon code on Linux.
        case condition
    }

    /// The path of the file, as in ``SourceText/path``.
    public var path: String

    /// The line, counted from 1.
    public var line: Int

    /// The column, counted in bytes from 1.
    public var column: Int

    /// The failure.
    public var kind: Kind

    /// The problem.
    public var problem: String

    /// The advice on what to write instead.
    public var advice: String

    /// The declaration or directive to write; nil if the advice is sufficient.
    public var replacement: String?

    /// The finding on one line, in the form that editors understand.
    public var description: String {
        "\(path):\(line):\(column): warning: \(problem); \(advice)"
    }

    /// The finding as a JSON object on one line.
    public var json: String {
        var text = "{\"file\":\(JSONText.string(path)),\"line\":\(line),\"column\":\(column)"
        text += ",\"kind\":\"\(kind.rawValue)\",\"problem\":\(JSONText.string(problem))"
        text += ",\"advice\":\(JSONText.string(advice))"
        text += ",\"replacement\":\(replacement.map(JSONText.string) ?? "null")}"
        return text
    }
}

/// Text in JSON.
enum JSONText {
    /// Returns a string with its quotation marks.
    static func string(_ text: String) -> String {
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes += [UInt8(ascii: "\\"), byte]
            case ..<0x20:
                let digits = Array("0123456789abcdef".utf8)
                bytes += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            default:
                bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
        return String(decoding: bytes, as: UTF8.self)
    }
}
