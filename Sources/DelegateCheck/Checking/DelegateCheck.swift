/// Finds what compiles against the Core Location and Core Bluetooth of Linux and then, without a word, does not do what it
/// does on iOS.
///
/// Files are read by themselves and judged together, since a class, the class above it and its conformance may stand in
/// three files. No finding needs a build: what depends on names that the files do not declare is left alone.
public enum DelegateCheck {
    /// The findings in the files of one module, by file, line and column.
    public static func findings(in sources: [SourceText]) -> [Finding] {
        let skims = sources.map { SourceSkim(path: $0.path, source: $0.utf8) }
        let isContext = sources.map(\.isContext)
        let graph = TypeGraph(skims)
        var findings = MethodCheck(graph: graph, sources: skims, isContext: isContext).findings()
        findings += ConditionCheck(graph: graph, sources: skims, isContext: isContext).findings()
        return findings.sorted { ($0.path, $0.line, $0.column) < ($1.path, $1.line, $1.column) }
    }
}
