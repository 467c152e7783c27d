package import SwiftSyntax

/// An evaluator of the condition of an `#if`.
///
/// SwiftIfConfig evaluates a condition for a build with known flags. A check of sources does not know the flags, so it
/// needs a third result: unknown.
package struct Condition {
    private let file: SourceFile

    private init(in file: SourceFile) {
        self.file = file
    }

    /// Evaluates a condition. An unreadable condition is unknown.
    package static func truth(of condition: ExprSyntax?, in file: SourceFile) -> PlatformTruth {
        condition.map { Condition(in: file).truth($0, depth: 0) } ?? PlatformTruth(.unknown)
    }

    private func truth(_ condition: ExprSyntax, depth: Int) -> PlatformTruth {
        guard depth < 32 else { return PlatformTruth(.unknown) }
        if let literal = condition.as(BooleanLiteralExprSyntax.self) {
            return PlatformTruth(literal.literal.tokenKind == .keyword(.true) ? .yes : .no)
        }
        if let call = condition.as(FunctionCallExprSyntax.self) {
            return question(file.text(of: call.calledExpression), file.text(of: call.arguments))
        }
        if let tuple = condition.as(TupleExprSyntax.self), let element = tuple.elements.first, tuple.elements.count == 1
        {
            return truth(element.expression, depth: depth + 1)
        }
        if let negation = condition.as(PrefixOperatorExprSyntax.self), negation.operator.text.allSatisfy({ $0 == "!" })
        {
            let truth = truth(negation.expression, depth: depth + 1)
            return negation.operator.text.count.isMultiple(of: 2) ? truth : !truth
        }
        return condition.as(SequenceExprSyntax.self).flatMap { sequence($0, depth: depth) } ?? PlatformTruth(.unknown)
    }

    /// Evaluates a sequence of operands and operators. `&&` binds tighter than `||`.
    private func sequence(_ sequence: SequenceExprSyntax, depth: Int) -> PlatformTruth? {
        var alternatives = PlatformTruth(.no)
        var conjunction = PlatformTruth(.yes)
        for (index, element) in sequence.elements.enumerated() {
            if index.isMultiple(of: 2) {
                conjunction = conjunction && truth(element, depth: depth + 1)
                continue
            }
            switch element.as(BinaryOperatorExprSyntax.self)?.operator.text {
            case "&&": break
            case "||":
                alternatives = alternatives || conjunction
                conjunction = PlatformTruth(.yes)
            default: return nil
            }
        }
        return alternatives || conjunction
    }

    private func question(_ name: String, _ argument: String) -> PlatformTruth {
        switch name {
        case "os":
            let isApple = argument == "iOS"
            return PlatformTruth(
                linux: argument == "Linux" ? .yes : .no, device: isApple ? .yes : .no, simulator: isApple ? .yes : .no)
        case "targetEnvironment":
            return PlatformTruth(linux: .no, device: .no, simulator: argument == "simulator" ? .yes : .no)
        case "canImport":
            return Self.canImport(argument.prefix { $0 != "," && $0 != "." }.trimmingSpaces)
        case "_runtime":
            let isObjectiveC: Truth = argument == "_ObjC" ? .yes : .no
            return PlatformTruth(linux: !isObjectiveC, device: isObjectiveC, simulator: isObjectiveC)
        case "swift", "compiler", "_compiler_version":
            return PlatformTruth(Self.hasVersion(argument))
        default:
            return PlatformTruth(.unknown)
        }
    }

    private static func canImport(_ module: String) -> PlatformTruth {
        if module == "Glibc" { return PlatformTruth(linux: .yes, device: .no, simulator: .no) }
        if AppleModule(module) != nil { return PlatformTruth(linux: .no, device: .yes, simulator: .yes) }
        return PlatformTruth(LinuxModules.shared.contains(module) ? .yes : .unknown)
    }

    /// Returns whether the compiler has a version. Swift 5 is true for any source; newer versions depend on the
    /// compiler.
    private static func hasVersion(_ argument: String) -> Truth {
        let isLower = argument.hasPrefix("<")
        guard isLower || argument.hasPrefix(">=") else { return .unknown }
        let version = argument.dropFirst(isLower ? 1 : 2).trimmingSpaces
        guard let major = Int(version.prefix { $0.isASCII && $0.isNumber }) else { return .unknown }
        if major >= 6 || (major == 5 && version.contains(".") && !version.hasSuffix(".0")) { return .unknown }
        return isLower ? .no : .yes
    }
}

extension Substring {
    fileprivate var trimmingSpaces: String { split(separator: " ").joined() }
}
