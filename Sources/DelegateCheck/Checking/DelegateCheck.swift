/// A check for code that compiles against the Core Location and Core Bluetooth of Linux and then, without a word, does
/// not do what it does on iOS.
///
/// Files are read by themselves and judged together, since a class, the class above it and its conformance may stand in
/// three files. No finding needs a build: what depends on names that the files do not declare is left alone.
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

/// A file to check, or one that helps to understand those.
public struct SourceText: Sendable {
    /// The path, as findings show it.
    public var path: String

    /// The content; anything is accepted.
    public var utf8: [UInt8]

    /// A Boolean value that indicates whether it is only there for the types that it declares, so that nothing is found
    /// in it.
    public var isContext: Bool

    /// Creates a file.
    public init(path: String, utf8: [UInt8], isContext: Bool = false) {
        self.path = path
        self.utf8 = utf8
        self.isContext = isContext
    }

    /// Creates a file whose text is at hand.
    public init(path: String, text: String, isContext: Bool = false) {
        self.init(path: path, utf8: Array(text.utf8), isContext: isContext)
    }
}
