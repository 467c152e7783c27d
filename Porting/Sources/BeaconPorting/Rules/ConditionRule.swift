internal import DelegateCheck
internal import SwiftSyntax

/// A rule that includes Linux in conditions of iOS code that uses only features available on Linux.
struct ConditionRule {
    /// The other rules, which determine the available features once they have run.
    let others: [any PortRule]

    func findings(in file: PortFile) -> RuleFindings {
        var findings = RuleFindings()
        for block in file.conditions {
            let truths = PortFile.truths(of: block, in: file.source)
            let clauses = Array(block.clauses)
            // Keep a branch that Linux compiles and that has an effect.
            let hasOther = zip(clauses, truths).contains { $1.linux != .no && !Self.isStub($0, in: file) }
            guard !hasOther, !file.text(block.clauses).contains("Linux") else { continue }
            for (index, clause) in clauses.enumerated() where truths[index].isKeptFromLinux {
                guard !Self.isStub(clause, in: file), let edit = Self.admission(of: index, among: clauses, in: file)
                else { continue }
                let offset = clause.poundKeyword.trimmedOffsets.lowerBound
                let directive = file.source.text(offset..<file.lineEnd(offset)).prefix(80)
                if let first = obstacle(in: clause, after: edit, of: file) {
                    findings.decide(
                        at: offset, "'\(directive)' excludes this code on Linux, where \(first.reason)",
                        "put that in a separate condition, and include Linux in the rest")
                } else {
                    findings.change([edit], at: offset, "included Linux in '\(directive)'")
                }
                // At most one branch is for Linux.
                break
            }
        }
        return findings
    }

    /// Returns whether a branch does nothing, only imports frameworks that Linux lacks, or only reports that it does
    /// nothing.
    private static func isStub(_ clause: IfConfigClauseSyntax, in file: PortFile) -> Bool {
        guard let elements = clause.elements else { return true }
        let items = elements.children(viewMode: .sourceAccurate).map { $0.as(CodeBlockItemSyntax.self)?.item }
        let imports = items.compactMap { $0?.as(ImportDeclSyntax.self)?.path.first?.name.bareText }
        if items.count == imports.count, imports.allSatisfy({ AppleModule($0) != nil }) { return true }
        let text = file.text(elements)
        return text.isEmpty
            || ["fatalError(", "#error(", "#warning(", "preconditionFailure("].contains { text.hasPrefix($0) }
                && !text.contains("\n")
    }

    /// Returns the edit of a condition that includes Linux; nil if the condition does not test for iOS.
    private static func admission(
        of index: Int, among clauses: [IfConfigClauseSyntax], in file: PortFile
    ) -> Edit? {
        guard let condition = clauses[index].condition else {
            // The `#else` branch of `!os(iOS)` is the code for iOS.
            guard index == 1, let first = clauses[0].condition, file.text(first) == "!os(iOS)" else { return nil }
            return Edit(
                range: first.trimmedOffsets.upperBound..<first.trimmedOffsets.upperBound, text: " && !os(Linux)")
        }
        let text = file.text(condition)
        guard let place = text.firstRange(of: "os(iOS)"), !text.contains("!os(iOS)") else { return nil }
        let range = condition.trimmedOffsets
        if !text.contains("&&"), !text.contains("!"), !text.contains("canImport") {
            return Edit(range: range.upperBound..<range.upperBound, text: " || os(Linux)")
        }
        let start = range.lowerBound + text[..<place.lowerBound].utf8.count
        return Edit(range: start..<start + "os(iOS)".utf8.count, text: "(os(iOS) || os(Linux))")
    }

    /// Returns the obstacle that keeps a branch from compiling on Linux after the edit and the other rules.
    private func obstacle(in clause: IfConfigClauseSyntax, after edit: Edit, of file: PortFile) -> Decision? {
        var text = EditedText(file.source.utf8)
        _ = text.make([Change(edits: [edit], offset: 0, summary: "")])
        let module = file.module
        let start = file.source.place(of: clause.trimmedOffsets.lowerBound).line
        let end = file.source.place(of: clause.endPosition.utf8Offset).line
        while true {
            var file = PortFile(text.utf8, index: file.index)
            file.module = module
            file.module.files[file.index] = file.names
            var findings = RuleFindings()
            for rule in others { findings += rule.findings(in: file) }
            let inside = findings.decisions.filter { (start...max(start, end)).contains(text.line(of: $0.offset)) }
            let made = text.make(
                findings.changes.filter { (start...max(start, end)).contains(text.line(of: $0.offset)) })
            if made.isEmpty { return inside.min { $0.offset < $1.offset } }
        }
    }
}
