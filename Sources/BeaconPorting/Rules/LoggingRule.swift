internal import DelegateCheck
internal import SwiftSyntax

/// A rule that restricts statements of Apple's unified logging to systems that have it.
struct LoggingRule: PortRule {
    func findings(in file: PortFile) -> RuleFindings {
        var findings = RuleFindings()
        let imported = Set(file.nodes(ImportDeclSyntax.self).compactMap { $0.path.first?.name.bareText })
        // The Logger of swift-log exists on Linux.
        let hasLogger = !imported.contains("Logging")
        var loggers: Set<String> = []
        for binding in file.nodes(PatternBindingSyntax.self) {
            guard let name = Self.logger(binding, hasLogger: hasLogger),
                let variable = binding.parent?.parent?.as(VariableDeclSyntax.self)
            else { continue }
            loggers.insert(name)
            wrap(variable, "the logger '\(name)'", in: file, &findings)
        }
        for call in file.nodes(FunctionCallExprSyntax.self) {
            let called = file.text(call.calledExpression)
            let base = call.calledExpression.as(MemberAccessExprSyntax.self)?.base.map(file.text)
            let name = base?.split(separator: ".").last.map(String.init) ?? ""
            guard called == "os_log" || file.module.loggers.union(loggers).contains(name) && hasLogger else { continue }
            // If the other file's logger is from swift-log, this file needs no change.
            guard call.parent?.is(CodeBlockItemSyntax.self) ?? false else {
                findings.decide(
                    at: call.trimmedOffsets.lowerBound, "'\(called)' does not exist on Linux",
                    "use print or the Logger of swift-log")
                continue
            }
            wrap(call, "a call of '\(called)'", in: file, &findings)
        }
        return findings
    }

    private func wrap(_ node: some SyntaxProtocol, _ what: String, in file: PortFile, _ findings: inout RuleFindings) {
        let offset = node.trimmedOffsets.lowerBound
        guard file.hasOwnLines(node) else {
            findings.decide(at: offset, "\(what) does not exist on Linux", "give it its own line")
            return
        }
        findings.change(file.wrap(node, in: "canImport(os)"), at: offset, "kept \(what) for systems with 'os'")
    }

    /// Returns the name of a property that is a logger of the system.
    static func logger(_ binding: PatternBindingSyntax, hasLogger: Bool) -> String? {
        guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.bareText else { return nil }
        let made = binding.initializer?.value.as(FunctionCallExprSyntax.self)
        let type =
            made?.calledExpression.as(DeclReferenceExprSyntax.self)?.baseName.text
            ?? binding.typeAnnotation?.type.path?.last
        let isSystems = made.map { ["subsystem", nil].contains($0.arguments.first?.label?.text) } ?? false
        return type == "OSLog" || (type == "Logger" && hasLogger && isSystems) ? name : nil
    }
}
