/// A file to check, or one that helps to understand those.
public struct SourceText: Sendable {
    /// What to call it in findings.
    public var path: String

    /// What is in it; anything is accepted.
    public var utf8: [UInt8]

    /// Whether it is only there for the types that it declares, so that nothing is found in it.
    public var isContext: Bool

    /// A file.
    public init(path: String, utf8: [UInt8], isContext: Bool = false) {
        self.path = path
        self.utf8 = utf8
        self.isContext = isContext
    }

    /// A file whose text is at hand.
    public init(path: String, text: String, isContext: Bool = false) {
        self.init(path: path, utf8: Array(text.utf8), isContext: isContext)
    }
}
