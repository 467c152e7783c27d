/// A place in a source that compiles on Linux and then does not do what it does on iOS.
public struct Finding: Hashable, Sendable {
    /// Which of the silent failures it is.
    public enum Kind: String, Hashable, Sendable {
        /// A subclass declares a callback that the class which conforms does not: it is never called.
        case subclass

        /// A method is nearly, but not exactly, one of the delegate's: it is never called.
        case signature

        /// A condition keeps beacon code from Linux.
        case condition
    }

    /// The file, as the source calls it.
    public var path: String

    /// The line, counted from 1.
    public var line: Int

    /// The column, counted in bytes from 1.
    public var column: Int

    /// Which failure it is.
    public var kind: Kind

    /// What is wrong.
    public var problem: String

    /// What to do.
    public var advice: String

    /// The declaration or directive to write; nil where the advice says it all.
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
