internal import SwiftSyntax

/// The declarations and conditions of a source.
struct SourceSkim {
    /// The path of the file.
    let path: String

    /// The types, extensions and aliases that Linux compiles.
    private(set) var types: [TypeDeclaration] = []

    /// The functions of types that Linux compiles.
    private(set) var functions: [FunctionDeclaration] = []

    /// The parent of each scope; the first scope is the file.
    private(set) var scopes: [Int] = [0]

    /// The conditions.
    private(set) var blocks: [ConditionalBlock] = []

    private let file: SourceFile
    private var words = BeaconWords()

    /// The numbers of a block and of its branch, by the offset of the branch.
    private var branches: [Int: (block: Int, branch: Int, body: Range<Int>)] = [:]

    /// The context of a node.
    private struct Surroundings {
        /// The scope of names declared in it.
        var scope = 0

        /// The type that declarations in it are members of.
        var owner: Int?

        /// The type whose body follows.
        var nextBody: Int?

        /// The offset of the innermost branch.
        var branch: Int?

        /// A Boolean value that indicates whether Linux may compile it.
        var isLive = true
    }

    init(path: String, source: [UInt8]) {
        self.path = path
        file = SourceFile(source)
        SyntaxWalk.run(file.tree, Surroundings()) { visit($0, $1) }
        noteBeaconWords()
    }

    /// Returns the line and column of a byte, both counted from 1.
    func place(of offset: Int) -> (line: Int, column: Int) {
        file.place(of: offset)
    }

    private mutating func visit(_ node: Syntax, _ surroundings: Surroundings) -> Surroundings? {
        var inside = surroundings
        switch node.kind {
        case .token:
            if let token = node.as(TokenSyntax.self) { note(token, surroundings) }
        case .classDecl, .actorDecl, .structDecl, .enumDecl, .protocolDecl, .extensionDecl, .typeAliasDecl:
            inside.owner = nil
            inside.nextBody = addType(node, surroundings)
        case .functionDecl:
            if let function = node.as(FunctionDeclSyntax.self) { addFunction(function, surroundings) }
            inside.owner = nil
        case .memberBlock:
            inside.owner = inside.nextBody
            inside.scope = inside.nextBody.map { types[$0].bodyScope } ?? newScope(in: surroundings.scope)
        case .codeBlock, .closureExpr, .accessorBlock:
            inside.owner = nil
            inside.scope = newScope(in: surroundings.scope)
        case .ifConfigDecl:
            if let block = node.as(IfConfigDeclSyntax.self) { addBlock(block, surroundings) }
        case .ifConfigClause:
            let start = node.trimmedOffsets.lowerBound
            guard let (block, branch, _) = branches[start] else { break }
            inside.branch = start
            inside.isLive = surroundings.isLive && blocks[block].branches[branch].truth.linux != .no
        default:
            break
        }
        return inside
    }

    private mutating func newScope(in parent: Int) -> Int {
        scopes.append(parent)
        return scopes.count - 1
    }

    // MARK: Declarations

    /// Adds a type, an extension or an alias, and returns its number if it has a body.
    private mutating func addType(_ node: Syntax, _ surroundings: Surroundings) -> Int? {
        let kind: TypeDeclaration.Kind
        switch node.kind {
        case .classDecl, .actorDecl: kind = .class
        case .protocolDecl: kind = .protocol
        case .extensionDecl: kind = .extension
        case .typeAliasDecl: kind = .alias
        default: kind = .value
        }
        let path: [String]
        if let type = node.as(ExtensionDeclSyntax.self)?.extendedType {
            path = type.path ?? []
        } else {
            path = (node.asProtocol((any NamedDeclSyntax).self)?.name).map { [$0.bareText] } ?? []
            if let branch = surroundings.branch, let (block, number, _) = branches[branch] {
                blocks[block].branches[number].declared += path
            }
        }
        guard surroundings.isLive, !path.isEmpty else { return nil }
        var inherited: [[String]] = []
        if let alias = node.as(TypeAliasDeclSyntax.self) {
            // Only a single name or a composition of names is followed.
            guard let names = alias.initializer.value.paths else { return nil }
            inherited = names
        } else if let clause = node.asProtocol((any DeclGroupSyntax).self)?.inheritanceClause {
            inherited = clause.inheritedTypes.flatMap { $0.type.paths ?? [] }
        }
        let modifiers = node.asProtocol((any WithModifiersSyntax).self)?.modifiers.words ?? []
        types.append(
            TypeDeclaration(
                kind: kind, path: path, inherited: inherited,
                isConstrained: node.as(ExtensionDeclSyntax.self)?.genericWhereClause != nil,
                isPrivate: !modifiers.isDisjoint(with: ["private", "fileprivate"]), scope: surroundings.scope,
                bodyScope: kind == .alias ? surroundings.scope : newScope(in: surroundings.scope)))
        return kind == .alias ? nil : types.count - 1
    }

    private mutating func addFunction(_ function: FunctionDeclSyntax, _ surroundings: Surroundings) {
        guard surroundings.isLive, let owner = surroundings.owner else { return }
        let modifiers = function.modifiers.words
        functions.append(
            FunctionDeclaration(
                signature: FunctionSignature(function, in: file), owner: owner,
                isPrivate: !modifiers.isDisjoint(with: ["private", "fileprivate"]),
                isOverride: modifiers.contains("override"), start: function.funcKeyword.trimmedOffsets.lowerBound))
    }

    // MARK: Conditions

    private mutating func addBlock(_ node: IfConfigDeclSyntax, _ surroundings: Surroundings) {
        var block = ConditionalBlock(isReachable: surroundings.isLive)
        var left = PlatformTruth(.yes)
        for clause in node.clauses {
            let isElse = clause.poundKeyword.tokenKind == .poundElse
            let truth = isElse ? PlatformTruth(.yes) : Condition.truth(of: clause.condition, in: file)
            let directive = clause.poundKeyword.trimmedOffsets
            let end = max(directive.upperBound, clause.condition?.trimmedOffsets.upperBound ?? 0)
            let text = file.text(directive.lowerBound..<min(end, directive.lowerBound + 200))
            branches[directive.lowerBound] = (
                blocks.count, block.branches.count, end..<max(end, clause.endPosition.utf8Offset)
            )
            if let condition = clause.condition {
                let text = file.text(of: condition)
                if text.contains("Linux") || text.contains("Glibc") { block.namesLinux = true }
            }
            block.branches.append(
                ConditionalBlock.Branch(
                    truth: left && truth, text: text.prefix { !$0.isNewline }.description, start: directive.lowerBound))
            left = left && !truth
        }
        blocks.append(block)
    }

    private mutating func note(_ token: TokenSyntax, _ surroundings: Surroundings) {
        if case .identifier("CBPeripheralManager") = token.tokenKind { words.usesPeripheralManager = true }
        if surroundings.branch != nil { words.tokens.append(token) }
    }

    /// Sets the first beacon word of each branch.
    private mutating func noteBeaconWords() {
        let found = words.found()
        words.tokens = []
        for (block, branch, body) in branches.values {
            var low = 0
            var high = found.count
            while low < high {
                let middle = (low + high) / 2
                if found[middle].start < body.lowerBound { low = middle + 1 } else { high = middle }
            }
            guard low < found.count, found[low].start < body.upperBound else { continue }
            blocks[block].branches[branch].beaconWord = found[low]
        }
    }
}
