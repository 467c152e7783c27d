public import DelegateCheck

/// The porting of iOS beacon code to the Core Location and Core Bluetooth of Linux.
///
/// The rules run until none of them has a change, so that porting a ported source changes nothing.
public enum Porting {
    /// The maximum number of rounds. A rule needs another round if it prepares a change of another rule.
    static let maximumRounds = 60

    private static let rules: [any PortRule] = [
        // Code that this rule hides from Linux needs no other rule.
        AppleOnlyRule(), StandInRule(), OptionalRequirementRule(), AttributeRule(), SelectorRule(), ImportRule(),
        FoundationRule(),
        LoggingRule(), ForeignNameRule(),
    ]

    /// Ports the files of one module, in order. Context files only provide declarations.
    public static func port(_ sources: [SourceText]) -> [PortedFile] {
        let module = ModuleNames(sources.map(\.utf8))
        var files = sources.enumerated().filter { !$0.element.isContext }.map {
            port($0.element, index: $0.offset, module: module)
        }
        // Check the delegates last, because only code that compiles can fail silently.
        let ported = files.map { SourceText(path: $0.path, utf8: $0.ported) } + sources.filter(\.isContext)
        for finding in DelegateCheck.findings(in: ported) where finding.kind != .condition {
            guard let index = files.firstIndex(where: { $0.path == finding.path }) else { continue }
            let line = files[index].origins[min(finding.line, files[index].origins.count) - 1]
            files[index].decisions.append(PortNote(line: line, text: finding.problem, remedy: finding.advice))
            files[index].decisions.sort { $0.line < $1.line }
        }
        return files
    }

    private static func port(_ source: SourceText, index: Int, module: ModuleNames) -> PortedFile {
        var text = EditedText(source.utf8)
        var changes: [PortNote] = []
        var decisions: [PortNote] = []
        var importsCombine = false
        for round in 0..<maximumRounds {
            let file = PortFile(text.utf8, index: index, module: module)
            var findings = RuleFindings()
            for rule in rules { findings += rule.findings(in: file) }
            // An empty superclass is no reason to exclude Linux.
            findings += ConditionRule(others: rules.filter { !($0 is StandInRule) }).findings(in: file)
            let lines = text
            let made = text.make(findings.changes)
            changes += made.map { PortNote(line: lines.line(of: $0.offset), text: $0.summary, remedy: nil) }
            guard made.isEmpty || round == maximumRounds - 1 else { continue }
            importsCombine = file.imported.contains("Combine")
            decisions = findings.decisions.sorted { $0.offset < $1.offset }
                .map { PortNote(line: lines.line(of: $0.offset), text: $0.reason, remedy: $0.remedy) }
            break
        }
        return PortedFile(
            path: source.path, original: source.utf8, ported: text.utf8, origins: text.lineOrigins,
            changes: changes.sorted { $0.line < $1.line }, importsCombine: importsCombine, decisions: decisions)
    }
}

/// A line of the report on a source.
public struct PortNote: Hashable, Sendable {
    /// The line number in the original, counted from 1.
    public var line: Int

    /// The change, or the problem.
    public var text: String

    /// The remedy of a problem; nil for a change.
    public var remedy: String?
}

/// A ported source.
public struct PortedFile: Sendable {
    /// The path.
    public let path: String

    /// The content before porting.
    public let original: [UInt8]

    /// The content after porting.
    public let ported: [UInt8]

    /// The original line number of each ported line.
    let origins: [Int]

    /// The changes, by line.
    public let changes: [PortNote]

    /// Whether it imports Combine, which an app for Linux gets from this package.
    public let importsCombine: Bool

    /// The places that a person must decide about, by line.
    public internal(set) var decisions: [PortNote]
}
