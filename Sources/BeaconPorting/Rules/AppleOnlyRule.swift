internal import DelegateCheck
internal import SwiftSyntax

/// A rule that restricts statements and members to systems with the frameworks that they use.
///
/// The next round also restricts the statements that use the names declared there. The rule does not change control
/// flow or code that works with beacons: these are left for a person.
struct AppleOnlyRule: PortRule {
    func findings(in file: PortFile) -> RuleFindings {
        let names = AppleOnlyNames(file)
        var changes: [Change] = []
        // The last restricted item and its framework: a following item joins it in the next round.
        var kept: (range: Range<Int>, framework: String) = (0..<0, "")
        for node in file.live where node.kind == .codeBlockItem || node.kind == .memberBlockItem {
            let range = node.trimmedOffsets
            guard !kept.range.contains(range.lowerBound), let item = Self.item(node), Self.canBeKept(item),
                let (name, framework) = names.use(in: item), file.hasOwnLines(node), !BeaconWords.isUsed(in: node)
            else { continue }
            let isNeighbor =
                kept.framework == framework
                && file.source.text(kept.range.upperBound..<max(kept.range.upperBound, range.lowerBound))
                    .allSatisfy(\.isWhitespace)
            kept = (range, framework)
            if isNeighbor { continue }
            let text = file.source.line(of: node)
            changes.append(
                Change(
                    edits: Self.join(node, framework, in: file) ?? file.wrap(node, in: "canImport(\(framework))"),
                    offset: range.lowerBound,
                    summary: "kept '\(text.prefix(40))\(text.count > 40 ? "…" : "")' for \(framework) ('\(name)')",
                    hidden: range))
        }
        return RuleFindings(changes: changes)
    }

    /// Returns the edits that append an item to the condition right before it, if that has the same test.
    private static func join(_ node: Syntax, _ framework: String, in file: PortFile) -> [Edit]? {
        guard let list = node.parent, let index = list.children(viewMode: .sourceAccurate).firstIndex(of: node),
            index > list.children(viewMode: .sourceAccurate).startIndex
        else { return nil }
        let children = list.children(viewMode: .sourceAccurate)
        guard let block = item(children[children.index(before: index)])?.as(IfConfigDeclSyntax.self),
            block.clauses.count == 1, let clause = block.clauses.first, let condition = clause.condition,
            // Imports stay separate.
            clause.elements?.children(viewMode: .sourceAccurate).last.flatMap(item)?.is(ImportDeclSyntax.self) != true,
            file.text(condition) == "canImport(\(framework))"
        else { return nil }
        let end = block.poundEndif.trimmedOffsets
        let between = file.source.text(end.upperBound..<max(end.upperBound, node.trimmedOffsets.lowerBound))
        let next = file.lineEnd(end.upperBound) + file.newline.utf8.count
        guard between.allSatisfy(\.isWhitespace), file.hasOwnLines(block.poundEndif),
            next <= node.trimmedOffsets.lowerBound
        else { return nil }
        let wrap = file.wrap(node, in: "")
        return [Edit(range: file.lineStart(end.lowerBound)..<next, text: ""), wrap[1]]
    }

    private static func item(_ node: Syntax) -> Syntax? {
        if let item = node.as(CodeBlockItemSyntax.self) { return Syntax(item.item) }
        return node.as(MemberBlockItemSyntax.self).map { Syntax($0.decl) }
    }

    /// Returns whether code compiles without an item, except for uses of the names that it declares.
    private static func canBeKept(_ item: Syntax) -> Bool {
        switch item.kind {
        case .variableDecl, .functionDecl, .classDecl, .structDecl, .enumDecl, .extensionDecl, .typeAliasDecl:
            // The types that implement a protocol's requirement need it.
            return item.parent?.parent?.parent?.parent?.is(ProtocolDeclSyntax.self) != true
        case .functionCallExpr, .awaitExpr, .tryExpr, .memberAccessExpr, .optionalChainingExpr, .macroExpansionExpr,
            .macroExpansionDecl:
            // The only expression of a body is its value.
            return !isValue(item)
        case .sequenceExpr:
            return item.as(SequenceExprSyntax.self)?.elements.contains { $0.is(AssignmentExprSyntax.self) } ?? false
        default:
            return false
        }
    }

    /// Returns whether an expression may be the result of a function or a property.
    private static func isValue(_ item: Syntax) -> Bool {
        guard let list = item.parent?.parent?.as(CodeBlockItemListSyntax.self), list.count == 1 else { return false }
        if let function = list.parent?.parent?.as(FunctionDeclSyntax.self) {
            return function.signature.returnClause != nil
        }
        return list.parent?.is(AccessorBlockSyntax.self) ?? false
    }
}

/// The names in a file that exist only on Apple's systems: names of frameworks, and names that the file declares only
/// with such a framework.
private struct AppleOnlyNames {
    private let types: Set<String>
    private let imported: Set<String>

    /// The names that the file declares, with the framework and the scope.
    private var declared: [String: [(framework: String, range: Range<Int>)]] = [:]

    /// The scopes in which another declaration hides a name.
    private var hidden: [String: [Range<Int>]] = [:]

    init(_ file: PortFile) {
        types = file.module.types
        imported = file.imported
        if file.module.standIns["UIViewController"] != nil {
            for name in StandInRule.controllerMembers { declared[name] = [("UIKit", 0..<Int.max)] }
        }
        for block in file.conditions {
            for (clause, truth) in zip(block.clauses, PortFile.truths(of: block, in: file.source))
            where truth.linux == .no {
                guard let call = clause.condition?.as(FunctionCallExprSyntax.self), let elements = clause.elements,
                    file.text(call.calledExpression) == "canImport"
                else { continue }
                let framework = file.text(call.arguments)
                let range = Self.scope(of: block)
                for item in elements.children(viewMode: .sourceAccurate) {
                    let declaration =
                        item.as(CodeBlockItemSyntax.self).map { Syntax($0.item) }
                        ?? item.as(MemberBlockItemSyntax.self).map { Syntax($0.decl) }
                    for name in declaration.map(Self.names) ?? [] {
                        declared[name, default: []].append((framework, range))
                    }
                }
            }
        }
        // A member of this name that exists on Linux is sufficient, and a local name hides one of the file.
        for node in file.live {
            for name in Self.names(node) where declared[name] != nil {
                let scope = Self.scope(of: node)
                declared[name]?.removeAll { $0.range == scope }
                hidden[name, default: []].append(scope)
            }
        }
    }

    private static func names(_ node: Syntax) -> [String] {
        if let variable = node.as(VariableDeclSyntax.self) {
            return variable.bindings.compactMap { $0.pattern.as(IdentifierPatternSyntax.self)?.identifier.bareText }
        }
        if let type = node.asProtocol((any NamedDeclSyntax).self) { return [type.name.bareText] }
        if let parameter = node.as(FunctionParameterSyntax.self) {
            return [(parameter.secondName ?? parameter.firstName).bareText]
        }
        return []
    }

    /// Returns the scope of names declared at a place: the enclosing block, or the whole file.
    private static func scope(of node: some SyntaxProtocol) -> Range<Int> {
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

    /// Returns the first such name that an item uses, outside nested statements and members, which are checked
    /// separately.
    func use(in item: Syntax) -> (name: String, framework: String)? {
        var use: (String, String)?
        SyntaxWalk.run(item, ()) { node, _ in
            if use != nil { return nil }
            if node.kind == .codeBlockItem || node.kind == .memberBlockItem || node.kind == .ifConfigDecl { return nil }
            if let type = node.as(IdentifierTypeSyntax.self) { use = self.use(of: type.name) }
            if let access = node.as(MemberAccessExprSyntax.self), isMissingInApplication(access) {
                use = ("UIApplication", "UIKit")
            }
            if let type = node.as(MemberTypeSyntax.self), type.baseType.path?.last == "UIApplication",
                !StandInRule.applicationMembers.contains(type.name.bareText)
            {
                use = ("UIApplication", "UIKit")
            }
            if let macro = node.as(MacroExpansionExprSyntax.self) { use = self.use(of: macro.macroName) }
            if let macro = node.as(MacroExpansionDeclSyntax.self) { use = self.use(of: macro.macroName) }
            if let name = node.as(DeclReferenceExprSyntax.self) {
                let member = name.parent?.as(MemberAccessExprSyntax.self)
                let isMember = member?.declName.id == name.id
                let base = member?.base?.as(DeclReferenceExprSyntax.self)?.baseName.text
                if !isMember || base == "self" { use = self.use(of: name.baseName) }
            }
            return ()
        }
        return use.map { (name: $0.0, framework: $0.1) }
    }

    /// Returns whether an access is to a member of the application that its stand-in lacks.
    private func isMissingInApplication(_ access: MemberAccessExprSyntax) -> Bool {
        guard types.contains("UIApplication"),
            !StandInRule.applicationMembers.contains(access.declName.baseName.bareText)
        else { return false }
        if let base = access.base?.as(DeclReferenceExprSyntax.self) {
            return ["UIApplication", "application"].contains(base.baseName.bareText)
        }
        guard let base = access.base?.as(MemberAccessExprSyntax.self) else { return false }
        return base.declName.baseName.bareText == "shared"
            && base.base?.as(DeclReferenceExprSyntax.self)?.baseName.bareText == "UIApplication"
    }

    private func use(of token: TokenSyntax) -> (String, String)? {
        let name = token.bareText
        let offset = token.trimmedOffsets.lowerBound
        let found = declared[name]?.first { entry in
            entry.range.contains(offset)
                && hidden[name]?.contains { $0.contains(offset) && $0.count < entry.range.count } != true
        }
        if let found { return (name, found.framework) }
        if types.contains(name) { return nil }
        // Combine is available for Linux, and CoreFoundation is essential to the code.
        guard let framework = ForeignNameRule.framework(of: name, imported: imported),
            !["Combine", "CoreFoundation"].contains(framework)
        else { return nil }
        return (name, framework)
    }
}
