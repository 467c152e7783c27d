internal import DelegateCheck
internal import SwiftSyntax

/// A rule that restricts statements and members to systems with the frameworks that they use.
///
/// The next round also restricts the statements that use the names declared there, in all files. The rule does not
/// change control flow or code that works with beacons: these are left for a person.
struct AppleOnlyRule: PortRule {
    func findings(in file: PortFile) -> RuleFindings {
        let names = UnavailableNames(file)
        var changes: [Change] = []
        // The last restricted item and its framework: a following item joins it in the next round.
        var kept: (range: Range<Int>, framework: AppleModule?) = (0..<0, nil)
        for node in file.live where node.kind == .codeBlockItem || node.kind == .memberBlockItem {
            let range = node.trimmedOffsets
            guard !kept.range.contains(range.lowerBound), let item = Self.item(node), canBeKept(item, in: file),
                let (name, framework) = Self.use(in: item, of: names), file.hasOwnLines(node),
                Self.isInterface(item, names) || !BeaconWords.isUsed(in: node)
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
                    edits: Self.join(node, framework, in: file) ?? file.wrap(range, where: framework),
                    offset: range.lowerBound,
                    summary: "kept '\(text.prefix(40))\(text.count > 40 ? "…" : "")' for \(framework.name) ('\(name)')",
                    hidden: range))
        }
        return RuleFindings(changes: changes)
    }

    /// Returns the first unavailable name that an item uses, outside nested statements and members, which are checked
    /// separately.
    private static func use(in item: Syntax, of names: UnavailableNames) -> (String, AppleModule)? {
        var use: (String, AppleModule)?
        SyntaxWalk.run(item, ()) { node, _ in
            if use != nil || [.codeBlockItem, .memberBlockItem, .ifConfigDecl].contains(node.kind) { return nil }
            // Combine is available for Linux.
            if let found = names.use(by: node), let framework = found.framework.flatMap(AppleModule.init),
                framework.name != "Combine"
            {
                use = (found.name, framework)
            }
            return ()
        }
        return use
    }

    /// Returns whether an item is a type of an interface or of a store, which may name regions but does not work with
    /// beacons.
    private static func isInterface(_ item: Syntax, _ names: UnavailableNames) -> Bool {
        guard let type = item.asProtocol((any DeclGroupSyntax).self), !item.is(ExtensionDeclSyntax.self),
            !BeaconWords.isUsed(in: item, includingTypes: false)
        else { return false }
        return type.inheritanceClause?.inheritedTypes.contains { names.use(by: Syntax($0.type)) != nil } ?? false
    }

    /// Returns the edits that append an item to the condition right before it, if that has the same test.
    private static func join(_ node: Syntax, _ framework: AppleModule, in file: PortFile) -> [Edit]? {
        guard let list = node.parent, let index = list.children(viewMode: .sourceAccurate).firstIndex(of: node),
            index > list.children(viewMode: .sourceAccurate).startIndex
        else { return nil }
        let children = list.children(viewMode: .sourceAccurate)
        guard let block = item(children[children.index(before: index)])?.as(IfConfigDeclSyntax.self),
            block.clauses.count == 1, let clause = block.clauses.first, let condition = clause.condition,
            // Imports stay separate.
            clause.elements?.children(viewMode: .sourceAccurate).last.flatMap(item)?.is(ImportDeclSyntax.self) != true,
            file.text(condition) == framework.condition
        else { return nil }
        let end = block.poundEndif.trimmedOffsets
        let between = file.source.text(end.upperBound..<max(end.upperBound, node.trimmedOffsets.lowerBound))
        let next = file.lineEnd(end.upperBound) + file.newline.utf8.count
        guard between.allSatisfy(\.isWhitespace), file.hasOwnLines(block.poundEndif),
            next <= node.trimmedOffsets.lowerBound
        else { return nil }
        let wrap = file.wrap(node.trimmedOffsets, where: framework)
        return [Edit(range: file.lineStart(end.lowerBound)..<next, text: ""), wrap[1]]
    }

    private static func item(_ node: Syntax) -> Syntax? {
        if let item = node.as(CodeBlockItemSyntax.self) { return Syntax(item.item) }
        return node.as(MemberBlockItemSyntax.self).map { Syntax($0.decl) }
    }

    /// Returns whether code compiles without an item, except for uses of the names that it declares.
    private func canBeKept(_ item: Syntax, in file: PortFile) -> Bool {
        switch item.kind {
        case .variableDecl, .functionDecl:
            // The types that implement a protocol's requirement need it.
            let isMember = item.parent?.kind == .memberBlockItem
            return !isMember || file.module.requirements.isDisjoint(with: DeclaredNames.names(item))
        case .classDecl, .structDecl, .enumDecl, .actorDecl, .protocolDecl, .extensionDecl, .typeAliasDecl:
            return true
        case .functionCallExpr, .awaitExpr, .tryExpr, .memberAccessExpr, .optionalChainingExpr, .macroExpansionExpr,
            .macroExpansionDecl:
            // The only expression of a body is its value.
            return !Self.isValue(item)
        case .sequenceExpr:
            return item.as(SequenceExprSyntax.self)?.elements.contains { $0.is(AssignmentExprSyntax.self) } ?? false
        default:
            return false
        }
    }

    /// Returns whether an expression may be the result of a function, a property or a closure.
    private static func isValue(_ item: Syntax) -> Bool {
        guard let list = item.parent?.parent?.as(CodeBlockItemListSyntax.self), list.count == 1 else { return false }
        if let function = list.parent?.parent?.as(FunctionDeclSyntax.self) {
            return function.signature.returnClause != nil
        }
        if let call = list.parent?.as(ClosureExprSyntax.self)?.parent?.as(FunctionCallExprSyntax.self) {
            // Such as `map`, if something takes the result of the call.
            return call.parent?.kind != .codeBlockItem && call.parent?.kind != .optionalChainingExpr
        }
        return list.parent?.is(AccessorBlockSyntax.self) ?? false
    }
}
