/// A password, a key or a token, which is not shown in logs.
///
/// Printing, interpolating or dumping it gives a placeholder. It is not `Codable`, so that no file contains it by
/// mistake.
public struct Secret: Hashable, Sendable {
    private let text: String

    /// A secret of this text.
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
