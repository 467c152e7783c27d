internal import SwiftSyntax

/// A delegate whose methods the check knows.
struct DelegateProtocol: Sendable {
    /// The protocol's name.
    let name: String

    /// The class that calls it, and which is the first parameter of each method.
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

/// A method of a delegate: what Swift asks for, and the selector by which Objective-C finds it.
struct DelegateMethod: Sendable {
    /// The declaration to write.
    let signature: String

    /// The signature of the declaration.
    let function: FunctionSignature

    /// The labels that Objective-C's selector has where Swift's are shorter, the first left out.
    let selectorLabels: [String]

    /// The part of the selector that Swift takes, in whole or in part, for the method's base name.
    let selectorBase: String

    /// The purpose that an older method shares with its successor, if any: who implements one needs no other.
    let purpose: String?

    /// Reads a method; its selector is in the attribute `@objc`, its purpose in `@purpose`.
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
