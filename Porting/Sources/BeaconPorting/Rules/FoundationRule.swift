internal import DelegateCheck
internal import SwiftSyntax

/// A rule for calls that Foundation has on iOS but not on Linux.
struct FoundationRule: PortRule {
    func findings(in file: PortFile) -> RuleFindings {
        var findings = RuleFindings()
        for call in file.nodes(FunctionCallExprSyntax.self) {
            if let member = call.calledExpression.as(MemberAccessExprSyntax.self) {
                findings += memberCall(call, member, in: file)
            } else if let name = call.calledExpression.as(DeclReferenceExprSyntax.self)?.baseName {
                findings += functionCall(call, name, in: file)
            }
        }
        for type in file.nodes(IdentifierTypeSyntax.self)
        where ["CFAbsoluteTime", "CFTimeInterval"].contains(file.foreign(type.name)) {
            findings.change(
                [Edit(range: type.name.trimmedOffsets, text: "TimeInterval")], at: type.trimmedOffsets.lowerBound,
                "'TimeInterval' for '\(type.name.text)'")
        }
        for cast in file.nodes(DictionaryTypeSyntax.self)
        where file.text(cast.key) == "NSObject" && file.text(cast.value).hasPrefix("AnyObject") {
            findings.decide(
                at: cast.trimmedOffsets.lowerBound, "a Foundation dictionary is not an [NSObject: AnyObject] on Linux",
                "cast it to [String: Any]")
        }
        return findings
    }

    // MARK: Methods

    private func memberCall(
        _ call: FunctionCallExprSyntax, _ member: MemberAccessExprSyntax, in file: PortFile
    ) -> RuleFindings {
        var findings = RuleFindings()
        let name = member.declName.baseName
        let labels = call.arguments.map { $0.label?.text ?? "" }
        // An own method of this name and label.
        let label = labels.first.map { $0.isEmpty ? "_" : $0 }
        if file.module.methods.values.contains(where: { $0[name.bareText]?.contains { $0.first == label } ?? false }) {
            return findings
        }
        let offset = name.trimmedOffsets.lowerBound
        func rename(_ new: String) {
            findings.change(
                [Edit(range: name.trimmedOffsets, text: new)], at: offset, "called '\(new)' in place of '\(name.text)'")
        }
        switch (name.text, labels) {
        case ("setValue", ["", "forKey"]) where Self.isUserDefaults(member.base, in: file): rename("set")
        case ("value", ["forKey"]) where Self.isUserDefaults(member.base, in: file): rename("object")
        case ("setValue", ["", "forKey"]), ("value", ["forKeyPath"]), ("setValue", ["", "forKeyPath"]),
            ("dictionaryWithValues", ["forKeys"]), ("setValuesForKeys", [""]):
            // On Linux, too, a dictionary has value(forKey:), and URL requests have setValue(_:forHTTPHeaderField:).
            findings.decide(at: offset, "'\(name.text)' needs key-value coding", "set the property itself")
        case ("responds", ["to"]):
            findings.decide(
                at: offset, "'responds(to:)' needs Objective-C", "call the method; it has a default on Linux")
        case ("observe", _) where call.arguments.first?.expression.is(KeyPathExprSyntax.self) ?? false:
            findings.decide(at: offset, "'observe' needs key-value observing", "use the delegate or 'didSet'")
        default:
            break
        }
        return findings
    }

    private static func isUserDefaults(_ base: ExprSyntax?, in file: PortFile) -> Bool {
        guard let base else { return false }
        let text = file.text(base)
        if text.hasPrefix("UserDefaults") { return !file.module.declared.contains("UserDefaults") }
        let last = text.split { !$0.isLetter }.last?.lowercased() ?? ""
        return last.hasSuffix("defaults")
    }

    // MARK: Functions

    /// The functions that it changes or reports.
    static let functions: Set<String> = [
        "CACurrentMediaTime", "CFAbsoluteTimeGetCurrent", "NSLog", "NSPredicate", "Selector", "String",
        "autoreleasepool",
    ]

    private func functionCall(
        _ call: FunctionCallExprSyntax, _ name: TokenSyntax, in file: PortFile
    ) -> RuleFindings {
        var findings = RuleFindings()
        let offset = call.trimmedOffsets.lowerBound
        guard Self.functions.contains(file.foreign(name)) else { return findings }
        switch name.text {
        case "CFAbsoluteTimeGetCurrent", "CACurrentMediaTime":
            let new =
                name.text.hasPrefix("CF")
                ? "Date().timeIntervalSinceReferenceDate" : "ProcessInfo.processInfo.systemUptime"
            findings.change([Edit(range: call.trimmedOffsets, text: new)], at: offset, "'\(new)' for '\(name.text)()'")
        case "autoreleasepool":
            findings += pool(call, name, in: file)
        case "NSLog", "String":
            findings += log(call, in: file)
        case "NSPredicate" where call.arguments.first?.label?.text == "format":
            findings.decide(
                at: offset, "a predicate with a format needs key-value coding", "use a closure: filter { … }")
        case "Selector":
            findings.decide(at: offset, "'Selector' needs Objective-C", "pass a closure instead")
        default:
            break
        }
        return findings
    }

    private func pool(_ call: FunctionCallExprSyntax, _ name: TokenSyntax, in file: PortFile) -> RuleFindings {
        var findings = RuleFindings()
        let offset = name.trimmedOffsets.lowerBound
        let isStatement = call.parent?.is(CodeBlockItemSyntax.self) ?? false
        guard isStatement, let body = call.trailingClosure, call.arguments.isEmpty, body.signature == nil,
            !Self.returns(body)
        else {
            findings.decide(
                at: offset, "'autoreleasepool' needs Objective-C", "run the statements of its closure without it")
            return findings
        }
        let end = call.leftParen == nil ? name.trimmedOffsets.upperBound : body.trimmedOffsets.lowerBound
        let text = call.leftParen == nil ? "do" : "do "
        findings.change([Edit(range: offset..<end, text: text)], at: offset, "'do' for 'autoreleasepool'")
        return findings
    }

    private static func returns(_ body: ClosureExprSyntax) -> Bool {
        var returns = false
        SyntaxWalk.run(body.statements, ()) { node, _ in
            if node.is(ReturnStmtSyntax.self) { returns = true }
            return node.is(ClosureExprSyntax.self) || node.is(FunctionDeclSyntax.self) ? nil : ()
        }
        return returns
    }

    /// Converts the values of `%@` to text: Linux accepts strings and numbers, but no objects.
    private func log(_ call: FunctionCallExprSyntax, in file: PortFile) -> RuleFindings {
        var findings = RuleFindings()
        guard let first = call.arguments.first, let format = first.expression.as(StringLiteralExprSyntax.self) else {
            return findings
        }
        // A string with a format has this label, and its values are usually strings.
        let isString = first.label?.text == "format"
        guard isString || file.text(call.calledExpression) == "NSLog" else { return findings }
        let specifiers = file.text(format).replacing("%%", with: "")
            .split(separator: "%", omittingEmptySubsequences: false).dropFirst()
        for (specifier, argument) in zip(specifiers, call.arguments.dropFirst()) where specifier.hasPrefix("@") {
            let range = argument.expression.trimmedOffsets
            let text = file.text(argument.expression)
            let cast = " as CVarArg"
            let value = text.hasSuffix(cast) ? String(text.dropLast(cast.count)) : text
            guard !argument.expression.is(StringLiteralExprSyntax.self), !text.contains("\n"),
                !isString || value != text
            else { continue }
            let end = range.lowerBound + value.utf8.count
            findings.change(
                [
                    Edit(range: range.lowerBound..<range.lowerBound, text: "\"\\("),
                    Edit(range: end..<range.upperBound, text: ")\""),
                ], at: range.lowerBound, "converted '\(value.prefix(40))' to text for '%@'")
        }
        return findings
    }
}
