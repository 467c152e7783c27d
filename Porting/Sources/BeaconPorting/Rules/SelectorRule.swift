internal import DelegateCheck
internal import SwiftSyntax

/// A rule that replaces targets and selectors of timers and observers with closures.
struct SelectorRule: PortRule {
    func findings(in file: PortFile) -> RuleFindings {
        var findings = RuleFindings()
        var converted: Set<Int> = []
        for call in file.nodes(FunctionCallExprSyntax.self) {
            guard let selector = Self.selector(in: call),
                let change = conversion(of: call, selector: selector, in: file)
            else { continue }
            converted.insert(selector.trimmedOffsets.lowerBound)
            findings.changes.append(change)
        }
        for macro in file.nodes(MacroExpansionExprSyntax.self)
        where !converted.contains(macro.trimmedOffsets.lowerBound) {
            guard ["selector", "keyPath"].contains(file.foreign(macro.macroName)) else { continue }
            findings.decide(
                at: macro.trimmedOffsets.lowerBound, "'\(file.source.line(of: macro).prefix(80))' needs Objective-C",
                macro.macroName.text == "selector"
                    ? "pass a closure instead" : "use a key path of Swift: \\Type.property")
        }
        return findings
    }

    private static func selector(in call: FunctionCallExprSyntax) -> MacroExpansionExprSyntax? {
        call.arguments.lazy.compactMap { $0.expression.as(MacroExpansionExprSyntax.self) }
            .first { $0.macroName.text == "selector" }
    }

    private func conversion(
        of call: FunctionCallExprSyntax, selector: MacroExpansionExprSyntax, in file: PortFile
    ) -> Change? {
        let called = file.text(call.calledExpression)
        guard let base = call.calledExpression.firstToken(viewMode: .sourceAccurate), !file.foreign(base).isEmpty else {
            return nil
        }
        let arguments = call.arguments.map { (label: $0.label?.text ?? "", value: file.text($0.expression)) }
        let values = arguments.map(\.value)
        let head: String
        let parameter: String
        switch arguments.map(\.label) {
        case ["timeInterval", "target", "selector", "userInfo", "repeats"]
        where (called.hasSuffix("Timer.scheduledTimer") || called == "Timer") && values[1] == "self"
            && values[3] == "nil":
            let label = called == "Timer" ? "timeInterval" : "withTimeInterval"
            head = "\(called)(\(label): \(values[0]), repeats: \(values[4]))"
            parameter = "timer"
        case ["", "selector", "name", "object"]
        where called.contains("NotificationCenter.default") && called.hasSuffix(".addObserver") && values[0] == "self":
            // Without the assignment, the compiler warns about an unused token.
            let isStatement = call.parent?.is(CodeBlockItemSyntax.self) ?? false
            head = (isStatement ? "_ = " : "") + "\(called)(forName: \(values[2]), object: \(values[3]), queue: nil)"
            parameter = "notification"
        default:
            return nil
        }
        guard let target = Self.target(of: selector, around: call, parameter: parameter, in: file) else { return nil }
        let text = head + " { [weak self] \(target.takesParameter ? parameter : "_") in \(target.call) }"
        return Change(
            edits: [Edit(range: call.trimmedOffsets, text: text)], offset: call.trimmedOffsets.lowerBound,
            summary: "gave '\(called)' a closure that calls '\(target.name)' in place of a selector")
    }

    /// Returns the call of the method that a selector names, if it belongs to the enclosing type.
    private static func target(
        of selector: MacroExpansionExprSyntax, around call: FunctionCallExprSyntax, parameter: String, in file: PortFile
    ) -> (name: String, call: String, takesParameter: Bool)? {
        guard let argument = selector.arguments.first?.expression, let owner = owner(of: call) else { return nil }
        var path = file.text(argument).prefix { $0 != "(" }.split(separator: ".").map(String.init)
        guard let name = path.popLast(), path.isEmpty || path == ["self"] || path == ["Self"] || path == [owner],
            let labels = file.module.methods[owner]?[name]?.first, labels.count <= 1,
            file.module.methods[owner]?[name]?.count == 1
        else { return nil }
        guard let label = labels.first else { return (name, "self?.\(name)()", false) }
        return (name, "self?.\(name)(\(label == "_" ? "" : label + ": ")\(parameter))", true)
    }

    private static func owner(of node: some SyntaxProtocol) -> String? {
        var node = node.parent
        while let current = node {
            // A weak reference to a value type is not possible.
            if current.is(StructDeclSyntax.self) || current.is(EnumDeclSyntax.self) { return nil }
            if let type = current.as(ExtensionDeclSyntax.self) { return type.extendedType.path?.last }
            if let type = current.as(ClassDeclSyntax.self) { return type.name.bareText }
            node = current.parent
        }
        return nil
    }
}
