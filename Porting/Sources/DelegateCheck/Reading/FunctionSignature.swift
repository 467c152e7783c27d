internal import SwiftSyntax

/// The parts of a function declaration that decide which requirement the function meets.
struct FunctionSignature: Sendable {
    /// A parameter.
    struct Parameter: Sendable {
        /// The label of its argument, or `_`.
        var label: String

        /// The name inside the function.
        var name: String

        /// Its type; nil if it cannot be read.
        var type: TypeName?
    }

    /// The name before the parentheses.
    let baseName: String

    /// The parameters.
    let parameters: [Parameter]

    /// The result.
    let result: TypeName?

    /// Its properties that no delegate method has: `static`, `async`, `throws`, and `generic`.
    private(set) var oddities: [String] = []

    /// The labels of the arguments.
    var labels: [String] { parameters.map(\.label) }

    /// The name with its labels.
    var fullName: String { baseName + "(" + labels.map { $0 + ":" }.joined() + ")" }

    /// Reads the signature of a function.
    init(_ function: FunctionDeclSyntax, in file: SourceFile) {
        baseName = function.name.bareText
        parameters = function.signature.parameterClause.parameters.map { parameter in
            let label = parameter.firstName.bareText
            return Parameter(
                label: label, name: parameter.secondName?.bareText ?? label,
                type: TypeName(parameter.type, isVariadic: parameter.ellipsis != nil, in: file))
        }
        let returned = function.signature.returnClause?.type
        result = returned.map { TypeName($0, in: file) } ?? .void
        if function.genericParameterClause != nil { oddities.append("generic") }
        if !function.modifiers.words.isDisjoint(with: ["static", "class"]) { oddities.append("static") }
        if parameters.contains(where: { $0.type?.canonical.hasPrefix("some ") ?? false }) { oddities.append("generic") }
        if function.signature.effectSpecifiers?.asyncSpecifier != nil { oddities.append("async") }
        if function.signature.effectSpecifiers?.throwsClause != nil { oddities.append("throws") }
    }
}

extension DeclModifierListSyntax {
    /// The modifiers, except those for a part of a declaration, as in `private(set)`.
    var words: Set<String> {
        Set(lazy.filter { $0.detail == nil }.map(\.name.text))
    }
}

extension TokenSyntax {
    /// The text without backticks.
    package var bareText: String {
        identifier?.name ?? text
    }
}
