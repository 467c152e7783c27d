public import DelegateCheck

/// The porting of iOS beacon code to the Core Location and Core Bluetooth of Linux.
///
/// The rules run over all files until none of them has a change, because a type that one file hides is missing in the
/// others. What they hide is excluded by a condition that they read as false. So porting a ported source changes
/// nothing.
public enum Porting {
    private static let rules: [any PortRule] = [
        // Code that this rule hides from Linux needs no other rule.
        AppleOnlyRule(), StandInRule(), OptionalRequirementRule(), AttributeRule(), SelectorRule(), ImportRule(),
        FoundationRule(), ForeignNameRule(),
    ]

    /// Ports the files of one module, in order. Context files only provide declarations.
    ///
    /// - Parameter modules: the modules that the target depends on, in addition to those of Linux and of this package.
    public static func port(_ sources: [SourceText], modules: Set<String> = []) -> [PortedFile] {
        var texts = sources.map { EditedText($0.utf8) }
        var files = sources.enumerated().map { PortFile($0.element.utf8, index: $0.offset) }
        var changes = sources.map { _ in [PortNote]() }
        var findings = sources.map { _ in RuleFindings() }
        var changed = Set(sources.indices)
        while !changed.isEmpty {
            var module = ModuleNames()
            module.modules = modules
            module.files = files.map(\.names)
            // Other names may concern every file.
            let isNew = module != files[0].module
            let stale = isNew ? Set(sources.indices) : changed
            changed = []
            for index in stale where !sources[index].isContext {
                files[index].module = module
                findings[index] = self.findings(in: files[index])
                let lines = texts[index]
                let made = texts[index].make(findings[index].changes)
                if made.isEmpty { continue }
                changes[index] += made.map { PortNote(line: lines.line(of: $0.offset), text: $0.summary, remedy: nil) }
                files[index] = PortFile(texts[index].utf8, index: index)
                changed.insert(index)
            }
            files[0].module = module
        }
        var ported = sources.indices.filter { !sources[$0].isContext }.map { index in
            PortedFile(
                path: sources[index].path, original: sources[index].utf8, ported: texts[index].utf8,
                origins: texts[index].lineOrigins, changes: changes[index].sorted { $0.line < $1.line },
                importsCombine: files[index].imported.contains("Combine"),
                decisions: notes(on: findings[index], in: texts[index]))
        }
        // Check the delegates last, because only code that compiles can fail silently.
        let result = ported.map { SourceText(path: $0.path, utf8: $0.ported) } + sources.filter(\.isContext)
        for finding in DelegateCheck.findings(in: result) where finding.kind != .condition {
            guard let index = ported.firstIndex(where: { $0.path == finding.path }) else { continue }
            ported[index].add(finding.problem, finding.advice, atPorted: finding.line)
        }
        return ported
    }

    private static func findings(in file: PortFile) -> RuleFindings {
        var findings = RuleFindings()
        for rule in rules { findings += rule.findings(in: file) }
        // An empty superclass is no reason to exclude Linux.
        findings += ConditionRule(others: rules.filter { !($0 is StandInRule) }).findings(in: file)
        return findings
    }

    /// Returns what is left: the decisions, and the changes that could not be made.
    private static func notes(on findings: RuleFindings, in text: EditedText) -> [PortNote] {
        let refused = findings.changes.map {
            Decision(offset: $0.offset, reason: "not possible here: \($0.summary)", remedy: "change it yourself")
        }
        return (findings.decisions + refused).sorted { $0.offset < $1.offset }
            .map { PortNote(line: text.line(of: $0.offset), text: $0.reason, remedy: $0.remedy) }
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

    /// Adds a place that a person must decide about, by its line in the ported source.
    mutating func add(_ text: String, _ remedy: String, atPorted line: Int) {
        let line = origins[max(0, min(line, origins.count) - 1)]
        decisions.append(PortNote(line: line, text: text, remedy: remedy))
        decisions.sort { $0.line < $1.line }
    }
}
