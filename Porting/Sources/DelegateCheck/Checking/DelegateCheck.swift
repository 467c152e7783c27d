/// A check for code that compiles against the Core Location and Core Bluetooth of Linux, but silently behaves
/// differently than on iOS.
///
/// Files are read separately and checked together, because a class, its superclass and its conformance may be in three
/// files. No finding needs a build. Code that depends on names declared outside the files is not checked.
public enum DelegateCheck {
    /// Returns the findings in the files of one module, by file, line and column.
    public static func findings(in sources: [SourceText]) -> [DelegateFinding] {
        let skims = sources.map { SourceSkim(path: $0.path, source: $0.utf8) }
        let isContext = sources.map(\.isContext)
        let graph = TypeGraph(skims)
        var findings = MethodCheck(graph: graph, sources: skims, isContext: isContext).findings()
        findings += ConditionCheck(graph: graph, sources: skims, isContext: isContext).findings()
        return findings.sorted { ($0.path, $0.line, $0.column) < ($1.path, $1.line, $1.column) }
    }
}

/// A file to check, or a file that provides context.
public struct SourceText: Sendable {
    /// The path to show in findings.
    public var path: String

    /// The content; anything is accepted.
    public var utf8: [UInt8]

    /// A Boolean value that indicates whether the file only provides the types that it declares. Such a file has no
    /// findings.
    public var isContext: Bool

    /// Creates a file.
    public init(path: String, utf8: [UInt8], isContext: Bool = false) {
        self.path = path
        self.utf8 = utf8
        self.isContext = isContext
    }

    /// Creates a file from a string.
    public init(path: String, text: String, isContext: Bool = false) {
        self.init(path: path, utf8: Array(text.utf8), isContext: isContext)
    }
}
