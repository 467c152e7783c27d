internal import DelegateCheck
internal import SwiftSyntax

/// The names in a file that do not exist on Linux: names of frameworks, and names that the module declares only where
/// Linux compiles nothing.
struct UnavailableNames {
    /// A use of such a name.
    struct Use {
        /// The name, and its offset.
        var name: String
        var offset: Int

        /// The framework; nil if a condition without a framework hides the name.
        var framework: String?

        /// A Boolean value that indicates whether the module declares the name, but not for Linux.
        var isHidden = false
    }

    private let file: PortFile

    /// The scopes in which Linux has a declaration of a name.
    private var scopes: [String: [Range<Int>]] = [:]

    init(_ file: PortFile) {
        self.file = file
        for node in file.live {
            for name in DeclaredNames.names(node) { note(name, in: Self.scope(of: node)) }
            if let pattern = node.as(IdentifierPatternSyntax.self), node.parent?.kind != .patternBinding {
                note(pattern.identifier.bareText, in: Self.scope(ofPattern: node))
            } else if let name = node.as(ClosureShorthandParameterSyntax.self)?.name
                ?? node.as(ClosureParameterSyntax.self).map({ $0.secondName ?? $0.firstName })
            {
                note(name.bareText, in: Self.scope(of: node))
            }
        }
    }

    private mutating func note(_ name: String, in scope: Range<Int>) {
        guard file.module.hidden[name] != nil || isControllerMember(name) else { return }
        scopes[name, default: []].append(scope)
    }

    /// Returns the scope of a name in a pattern of control flow: after its condition, to the end of the statement.
    private static func scope(ofPattern node: Syntax) -> Range<Int> {
        let condition = node.parent.flatMap { $0.is(OptionalBindingConditionSyntax.self) ? $0 : nil }
        let start = condition?.trimmedOffsets.upperBound
        var around = node.parent
        while let current = around {
            switch current.kind {
            case .guardStmt:
                return (start ?? current.trimmedOffsets.lowerBound)..<scope(of: current).upperBound
            case .ifExpr, .whileStmt, .forStmt, .switchCase, .catchClause:
                return (start ?? current.trimmedOffsets.lowerBound)..<current.trimmedOffsets.upperBound
            default: around = current.parent
            }
        }
        return 0..<Int.max
    }

    /// Returns the scope of names declared at a place: the enclosing block, or the whole file.
    static func scope(of node: some SyntaxProtocol) -> Range<Int> {
        let isParameter = node.is(FunctionParameterSyntax.self)
        var node = node.parent
        while let current = node {
            let isScope =
                switch current.kind {
                case .codeBlock, .closureExpr: true
                case .functionDecl, .initializerDecl: isParameter
                default: false
                }
            if isScope { return current.trimmedOffsets }
            node = current.parent
        }
        return 0..<Int.max
    }

    /// Returns the use of such a name by a node itself.
    func use(by node: Syntax) -> Use? {
        if let type = node.as(MemberTypeSyntax.self) {
            return type.baseType.path?.last == "UIApplication" ? missing(type.name) : nil
        }
        return node.as(MemberAccessExprSyntax.self).map(use) ?? Self.token(of: node).flatMap(use)
    }

    /// Returns the name that a node uses: of a type, a function, a variable or a macro, but no member of another value.
    static func token(of node: Syntax) -> TokenSyntax? {
        switch node.kind {
        case .identifierType: return node.as(IdentifierTypeSyntax.self)?.name
        case .macroExpansionExpr: return node.as(MacroExpansionExprSyntax.self)?.macroName
        case .macroExpansionDecl: return node.as(MacroExpansionDeclSyntax.self)?.macroName
        case .optionalBindingCondition:
            // `if let name` uses the name, too.
            let binding = node.as(OptionalBindingConditionSyntax.self)
            return binding?.initializer == nil
                ? binding?.pattern.as(IdentifierPatternSyntax.self)?.identifier : nil
        case .declReferenceExpr:
            let name = node.as(DeclReferenceExprSyntax.self)
            guard let member = node.parent?.as(MemberAccessExprSyntax.self), member.declName.id == name?.id else {
                return name?.baseName
            }
            let base = member.base?.as(DeclReferenceExprSyntax.self)?.baseName.text
            return base == "self" ? name?.baseName : nil
        default: return nil
        }
    }

    // MARK: Names

    private func use(_ token: TokenSyntax) -> Use? {
        let name = token.bareText
        let offset = token.trimmedOffsets.lowerBound
        let places = scopes[name]?.filter { $0.contains(offset) } ?? []
        for entry in file.module.hidden[name] ?? [] {
            let isKnown: Bool
            if entry.file == file.index {
                isKnown = entry.scope.contains(offset) && !places.contains { $0.count <= entry.scope.count }
            } else {
                isKnown =
                    !entry.isPrivate && places.isEmpty && !file.module.declared.contains(name)
                    && (entry.owner == nil || Self.owner(of: Syntax(token)) == entry.owner)
            }
            if isKnown { return Use(name: name, offset: offset, framework: entry.framework?.name, isHidden: true) }
        }
        if isControllerMember(name), places.isEmpty {
            return Use(name: name, offset: offset, framework: "UIKit", isHidden: true)
        }
        if file.module.declared.contains(name) { return nil }
        return ForeignNameRule.framework(of: name, imported: file.imported).map {
            Use(name: name, offset: offset, framework: $0)
        }
    }

    /// Returns the use of a member that exists only elsewhere: of the application, of a type by name, or of a logger.
    private func use(_ access: MemberAccessExprSyntax) -> Use? {
        let token = access.declName.baseName
        let base = access.base?.as(DeclReferenceExprSyntax.self)?.baseName.bareText
        if isOfApplication(access) { return missing(token) }
        guard base != "self", access.base != nil, !file.module.declared.contains(token.bareText),
            let entry = file.module.hidden[token.bareText]?.first(where: { entry in
                guard let owner = entry.owner, entry.file == file.index || !entry.isPrivate else { return false }
                return owner == base || entry.isLogger
            })
        else { return nil }
        return Use(
            name: token.bareText, offset: token.trimmedOffsets.lowerBound, framework: entry.framework?.name,
            isHidden: true)
    }

    private func isControllerMember(_ name: String) -> Bool {
        file.module.standIns["UIViewController"] != nil && StandInRule.controllerMembers.contains(name)
    }

    // MARK: The application

    /// Returns the use of a member that the empty form of the application lacks.
    private func missing(_ token: TokenSyntax) -> Use? {
        guard file.module.standIns["UIApplication"] != nil, !StandInRule.applicationMembers.contains(token.bareText)
        else { return nil }
        return Use(name: "UIApplication", offset: token.trimmedOffsets.lowerBound, framework: "UIKit")
    }

    private func isOfApplication(_ access: MemberAccessExprSyntax) -> Bool {
        if let base = access.base?.as(DeclReferenceExprSyntax.self) {
            return ["UIApplication", "application"].contains(base.baseName.bareText)
        }
        guard let base = access.base?.as(MemberAccessExprSyntax.self) else { return false }
        return base.declName.baseName.bareText == "shared"
            && base.base?.as(DeclReferenceExprSyntax.self)?.baseName.bareText == "UIApplication"
    }

    /// Returns the type around a node.
    private static func owner(of node: Syntax) -> String? {
        var node = node.parent
        while let current = node {
            if let type = current.as(ExtensionDeclSyntax.self) { return type.extendedType.path?.last }
            if current.asProtocol((any DeclGroupSyntax).self) != nil {
                return current.asProtocol((any NamedDeclSyntax).self)?.name.bareText
            }
            node = current.parent
        }
        return nil
    }
}
