internal import SwiftSyntax

/// A delegate protocol that the check knows.
struct DelegateProtocol: Sendable {
    /// The protocol's name.
    let name: String

    /// The class that calls it. Each method has it as its first parameter.
    let manager: String

    /// Its methods.
    let methods: [DelegateMethod]

    /// Reads the protocols of a source.
    static func protocols(declaredIn source: String) -> [DelegateProtocol] {
        let file = SourceFile(Array(source.utf8))
        return file.tree.statements.compactMap { statement in
            guard let declaration = statement.item.as(ProtocolDeclSyntax.self) else { return nil }
            let methods = declaration.memberBlock.members.compactMap { member in
                member.decl.as(FunctionDeclSyntax.self).map { DelegateMethod($0, in: file) }
            }
            return DelegateProtocol(
                name: declaration.name.text, manager: methods.first?.function.parameters.first?.type?.text ?? "",
                methods: methods)
        }
    }
}

/// A method of a delegate, with its Swift declaration and its Objective-C selector.
struct DelegateMethod: Sendable {
    /// The declaration to write.
    let signature: String

    /// The signature of the declaration.
    let function: FunctionSignature

    /// The labels of the Objective-C selector where Swift's are shorter, without the first one.
    let selectorLabels: [String]

    /// The part of the selector that Swift uses, in whole or in part, as the method's base name.
    let selectorBase: String

    /// The purpose that an older method shares with its successor, if any. Implementing one of them is sufficient.
    let purpose: String?

    /// Reads a method. Its selector is in the attribute `@objc`, its purpose in `@purpose`.
    init(_ declaration: FunctionDeclSyntax, in file: SourceFile) {
        var arguments: [String: String] = [:]
        for case .attribute(let attribute) in declaration.attributes {
            arguments[file.text(of: attribute.attributeName)] = attribute.arguments.map(file.text(of:))
        }
        let function = FunctionSignature(declaration, in: file)
        let pieces = arguments["objc", default: function.baseName].split(separator: ":").map(String.init)
        self.function = function
        signature = "func \(declaration.name.text)\(file.line(of: declaration.signature))"
        selectorBase = pieces.first ?? ""
        selectorLabels = ["_"] + pieces.dropFirst()
        purpose = arguments["purpose"]
    }
}
