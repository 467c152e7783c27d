internal import DelegateCheck
internal import SwiftSyntax

/// A source in the form that the rules use.
struct PortFile {
    /// The source with its syntax tree.
    let source: SourceFile

    /// The names that the module's files declare, this one included.
    var module = ModuleNames()

    /// The names that this file declares.
    private(set) var names = DeclaredNames()

    /// The nodes that Linux may compile, parents first.
    private(set) var live: [Syntax] = []

    /// The conditions that Linux may compile.
    private(set) var conditions: [IfConfigDeclSyntax] = []

    /// The offsets of the branches that Linux excludes.
    private(set) var excluded: Set<Int> = []

    /// The modules that the source imports, on Linux or elsewhere.
    let imported: Set<String>

    /// The line ending of this source.
    let newline: String

    /// The number of the source in its module.
    let index: Int

    init(_ utf8: [UInt8], index: Int) {
        self.index = index
        let source = SourceFile(utf8)
        self.source = source
        let first = utf8.firstIndex(of: UInt8(ascii: "\n")) ?? 0
        newline = first > 0 && utf8[first - 1] == UInt8(ascii: "\r") ? "\r\n" : "\n"
        var live: [Syntax] = []
        var conditions: [IfConfigDeclSyntax] = []
        var dead: Set<Int> = []
        var modules: Set<String> = []
        SyntaxWalk.run(source.tree, true) { node, isLive in
            if let module = node.as(ImportDeclSyntax.self)?.path.first?.name.bareText { modules.insert(module) }
            guard isLive else { return Self.mayHoldImport(node) ? false : nil }
            // Skip the condition itself, which only contains names to test for.
            if node.parent?.kind == .ifConfigClause,
                node.parent?.as(IfConfigClauseSyntax.self)?.condition?.id == node.id
            {
                return nil
            }
            if let block = node.as(IfConfigDeclSyntax.self) {
                conditions.append(block)
                for (clause, truth) in zip(block.clauses, Self.truths(of: block, in: source)) where truth.linux == .no {
                    dead.insert(clause.trimmedOffsets.lowerBound)
                }
            }
            if node.kind == .ifConfigClause, dead.contains(node.trimmedOffsets.lowerBound) { return false }
            if node.kind != .token { live.append(node) }
            return true
        }
        imported = modules
        self.live = live
        self.conditions = conditions
        excluded = dead
        names = DeclaredNames(self)
    }

    private static func mayHoldImport(_ node: Syntax) -> Bool {
        switch node.kind {
        case .ifConfigClause, .ifConfigClauseList, .ifConfigDecl, .codeBlockItemList, .codeBlockItem: true
        default: false
        }
    }

    /// Returns the truth of each branch of a condition, given that no earlier branch applies.
    static func truths(of block: IfConfigDeclSyntax, in source: SourceFile) -> [PlatformTruth] {
        var left = PlatformTruth(.yes)
        return block.clauses.map { clause in
            let isElse = clause.poundKeyword.tokenKind == .poundElse
            let truth = isElse ? PlatformTruth(.yes) : Condition.truth(of: clause.condition, in: source)
            defer { left = left && !truth }
            return left && truth
        }
    }

    /// Returns the nodes of a kind that Linux may compile.
    func nodes<Node: SyntaxProtocol>(_ type: Node.Type) -> [Node] {
        live.compactMap { $0.as(type) }
    }

    /// Returns the name of a token if the module does not declare it, and an empty text otherwise.
    func foreign(_ token: TokenSyntax) -> String {
        module.declared.contains(token.bareText) ? "" : token.bareText
    }

    /// Returns the text of a node.
    func text(_ node: some SyntaxProtocol) -> String {
        source.text(of: node)
    }

    // MARK: Lines

    /// Returns the offset at which the line of a byte starts.
    func lineStart(_ offset: Int) -> Int {
        var start = min(offset, source.utf8.count)
        while start > 0, source.utf8[start - 1] != UInt8(ascii: "\n") { start -= 1 }
        // A byte order mark stays first.
        if start == 0, source.utf8.starts(with: [0xEF, 0xBB, 0xBF]) { return 3 }
        return start
    }

    /// Returns the offset at which the line of a byte ends, before its line ending.
    func lineEnd(_ offset: Int) -> Int {
        var end = offset
        while end < source.utf8.count, source.utf8[end] != UInt8(ascii: "\n") { end += 1 }
        return end > offset && source.utf8[end - 1] == UInt8(ascii: "\r") ? end - 1 : end
    }

    /// Returns the spaces before the first byte of a line.
    func indentation(_ offset: Int) -> String {
        let start = lineStart(offset)
        let spaces = source.utf8[start...].prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        return String(decoding: spaces, as: UTF8.self)
    }

    /// Returns whether a node shares its lines only with spaces and comments.
    func hasOwnLines(_ node: some SyntaxProtocol) -> Bool {
        var around = node.parent
        while let current = around {
            // A condition is not possible in a literal.
            if current.is(StringLiteralExprSyntax.self) { return false }
            around = current.parent
        }
        let range = node.trimmedOffsets
        let before = source.text(lineStart(range.lowerBound)..<range.lowerBound)
        let after = source.text(range.upperBound..<max(range.upperBound, lineEnd(range.upperBound)))
            .trimmingPrefix { $0 == " " || $0 == "\t" }
        return before.allSatisfy(\.isWhitespace) && (after.isEmpty || after.hasPrefix("//"))
    }

    /// Returns edits that restrict lines to systems with a framework, with other lines for the `#else` branch.
    ///
    /// The lines must not contain other code.
    func wrap(_ range: Range<Int>, where framework: AppleModule, else others: [String] = []) -> [Edit] {
        let indentation = indentation(range.lowerBound)
        let start = lineStart(range.lowerBound)
        let end = lineEnd(range.upperBound)
        var after = others.isEmpty ? "" : newline + indentation + "#else"
        for other in others { after += newline + indentation + other }
        after += newline + indentation + "#endif"
        return [
            Edit(range: start..<start, text: indentation + "#if " + framework.condition + newline),
            Edit(range: end..<end, text: after),
        ]
    }
}

extension AppleModule {
    /// The condition that is true where the module exists.
    var condition: String { "canImport(\(name))" }
}
