/// A password, a key or a token: a text that does not show itself.
///
/// Printing it, interpolating it or dumping it gives a placeholder, so that it does not come into a log by mistake. It is
/// not Codable, so that it does not come into a file by mistake.
public struct Secret: Hashable, Sendable {
    private let text: String

    /// A secret of this text.
    public init(_ text: String) { self.text = text }

    /// Hands out the text. Each place that does is one to look at.
    public func reveal() -> String { text }

    /// Whether it is the empty text.
    public var isEmpty: Bool { text.isEmpty }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A placeholder.
    public var description: String { "<secret>" }
    /// A placeholder.
    public var debugDescription: String { "<secret>" }
    /// A mirror that shows nothing.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
