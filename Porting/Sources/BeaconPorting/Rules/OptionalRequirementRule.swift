internal import DelegateCheck
internal import SwiftSyntax

/// A rule that gives optional requirements a default, and removes the question mark from their calls.
struct OptionalRequirementRule: PortRule {
    func findings(in file: PortFile) -> RuleFindings {
        var findings = RuleFindings()
        for declaration in file.nodes(ProtocolDeclSyntax.self) { findings += requirements(of: declaration, in: file) }
        for call in file.nodes(FunctionCallExprSyntax.self) { findings += chaining(call, in: file) }
        return findings
    }

    // MARK: Declarations

    private func requirements(of declaration: ProtocolDeclSyntax, in file: PortFile) -> RuleFindings {
        var findings = RuleFindings()
        var edits: [Edit] = []
        var defaults: [String] = []
        let access =
            declaration.modifiers.first { ["public", "package"].contains($0.name.text) }
            .map { $0.name.text + " " } ?? ""
        for member in declaration.memberBlock.members {
            guard let modifiers = member.decl.asProtocol((any WithModifiersSyntax).self)?.modifiers,
                let word = modifiers.first(where: { $0.name.tokenKind == .keyword(.optional) })
            else { continue }
            guard let implementation = Self.implementation(of: member.decl, in: file) else {
                findings.decide(
                    at: member.trimmedOffsets.lowerBound,
                    "the optional requirement of '\(declaration.name.text)' has a result that is not optional",
                    "remove 'optional' and write a default in an extension of the protocol")
                continue
            }
            edits.append(Edit(range: word.trimmedOffsets.lowerBound..<Self.nextToken(after: word, in: file), text: ""))
            defaults.append("    " + access + implementation)
        }
        guard !edits.isEmpty else { return findings }
        let end = declaration.trimmedOffsets.upperBound
        let lines = ["", "", "extension \(declaration.name.text) {"] + defaults + ["}"]
        edits.append(Edit(range: end..<end, text: lines.joined(separator: file.newline)))
        findings.change(
            edits, at: declaration.trimmedOffsets.lowerBound,
            "gave \(defaults.count) optional requirement\(defaults.count == 1 ? "" : "s") of "
                + "'\(declaration.name.text)' an empty default")
        return findings
    }

    private static func nextToken(after modifier: DeclModifierSyntax, in file: PortFile) -> Int {
        var end = modifier.trimmedOffsets.upperBound
        while end < file.source.utf8.count, file.source.utf8[end] == UInt8(ascii: " ") { end += 1 }
        return end
    }

    /// Returns the default of a requirement, which does nothing or returns nil.
    private static func implementation(of declaration: DeclSyntax, in file: PortFile) -> String? {
        if let function = declaration.as(FunctionDeclSyntax.self) {
            let head =
                "func \(function.name.text)\(function.genericParameterClause.map(file.text) ?? "")"
                + file.source.line(of: function.signature)
            guard let result = function.signature.returnClause?.type, file.text(result) != "Void" else {
                return head + " {}"
            }
            return result.is(OptionalTypeSyntax.self) ? head + " { nil }" : nil
        }
        guard let variable = declaration.as(VariableDeclSyntax.self), let binding = variable.bindings.first,
            let type = binding.typeAnnotation?.type, type.is(OptionalTypeSyntax.self), variable.bindings.count == 1,
            binding.accessorBlock.map(file.text)?.contains("set") == false
        else { return nil }
        return "var \(file.text(binding.pattern)): \(file.text(type)) { nil }"
    }

    // MARK: Calls

    private func chaining(_ call: FunctionCallExprSyntax, in file: PortFile) -> RuleFindings {
        var findings = RuleFindings()
        let mark: TokenSyntax
        let called: ExprSyntax
        if let chain = call.calledExpression.as(OptionalChainingExprSyntax.self) {
            (mark, called) = (chain.questionMark, chain.expression)
        } else if let unwrapped = call.calledExpression.as(ForceUnwrapExprSyntax.self) {
            (mark, called) = (unwrapped.exclamationMark, unwrapped.expression)
        } else {
            return findings
        }
        guard let member = called.as(MemberAccessExprSyntax.self) else { return findings }
        let name = member.declName.baseName.bareText
        guard file.module.optionalRequirements.contains(name) else { return findings }
        findings.change(
            [Edit(range: mark.trimmedOffsets, text: "")], at: mark.trimmedOffsets.lowerBound,
            "called '\(name)' without '\(mark.text)'")
        return findings
    }
}
