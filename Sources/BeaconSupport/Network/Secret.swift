/// A password, key or token that logs do not show.
///
/// Printing, interpolating or dumping it gives a placeholder. It is not `Codable`, so that it is not written to a file
/// by mistake.
public struct Secret: Hashable, Sendable {
    private let text: String

    /// Creates a secret with this text.
    public init(_ text: String) { self.text = text }

    /// Returns the text.
    public func reveal() -> String { text }

    /// True for the empty text.
    public var isEmpty: Bool { text.isEmpty }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A placeholder.
    public var description: String { "<secret>" }
    /// A placeholder.
    public var debugDescription: String { "<secret>" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
