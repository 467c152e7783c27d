internal import DelegateCheck
internal import SwiftSyntax

/// The names that a file or a module declares and that rules ask for.
struct DeclaredNames: Equatable {
    /// A name that a file declares only in a condition that Linux excludes.
    struct Hidden: Equatable {
        /// The number of the file.
        var file: Int

        /// The framework that the condition tests for; nil if it tests for something else.
        var framework: AppleModule?

        /// The bytes of the file in which the name is known.
        var scope: Range<Int>

        /// The type that it is a member of.
        var owner: String?

        /// A Boolean value that indicates whether only this file knows the name.
        var isPrivate: Bool

        /// A Boolean value that indicates whether it is a logger of the system.
        var isLogger: Bool
    }

    /// A type that needs an empty form.
    struct StandIn: Equatable {
        var file: Int
        var framework: AppleModule
    }

    /// The types, functions, macros and global names that Linux compiles.
    private(set) var declared: Set<String> = []

    /// The labels of the functions of each type, by their base names.
    private(set) var methods: [String: [String: [[String]]]] = [:]

    /// The members that protocols require.
    private(set) var requirements: Set<String> = []

    /// The optional functions of protocols.
    private(set) var optionalRequirements: Set<String> = []

    /// The names that Linux does not compile.
    private(set) var hidden: [String: [Hidden]] = [:]

    /// The UIKit types that beacon code needs an empty form of, and the foreign protocols that it conforms to, with the
    /// number of the first file that does so.
    private(set) var standIns: [String: StandIn] = [:]

    /// The names that it declares in place of a missing framework's.
    private(set) var replacements: Set<String> = []

    /// The members that its code mentions, for the empty forms.
    private(set) var words: Set<String> = []

    /// Creates the names of a module from those of its files.
    init(_ files: [DeclaredNames] = []) {
        for file in files {
            declared.formUnion(file.declared)
            requirements.formUnion(file.requirements)
            optionalRequirements.formUnion(file.optionalRequirements)
            replacements.formUnion(file.replacements)
            words.formUnion(file.words)
            for (type, own) in file.methods { methods[type, default: [:]].merge(own) { $0 + $1 } }
            hidden.merge(file.hidden) { $0 + $1 }
            standIns.merge(file.standIns) { first, _ in first }
        }
        // Own types need no empty form. An empty form that exists is not the app's own type.
        standIns = standIns.filter { !declared.contains($0.key) || replacements.contains($0.key) }
        declared.formUnion(standIns.keys)
    }

    /// The place of a declaration.
    private struct Place {
        /// The type that it is a member of.
        var owner = ""

        /// A Boolean value that indicates whether it is inside a function.
        var isInFunction = false

        /// A Boolean value that indicates whether Linux excludes it, and the framework that the condition tests for.
        var isHidden = false
        var framework: AppleModule?

        /// A Boolean value that indicates whether nothing but conditions is between the condition and it.
        var isDirect = true

        /// A Boolean value that indicates whether it replaces something of a missing framework.
        var isReplacement = false
    }

    init(_ file: PortFile) {
        let uiKit = AppleModule("UIKit").map { StandIn(file: file.index, framework: $0) }
        let hasBeacons = BeaconWords.isUsed(in: Syntax(file.source.tree))
        SyntaxWalk.run(file.source.tree, Place()) { node, place in
            var inside = place
            if let token = node.as(TokenSyntax.self) {
                if hasBeacons, StandInRule.memberWords.contains(token.bareText) { words.insert(token.bareText) }
                if hasBeacons, token.bareText == "UIApplication" { standIns["UIApplication"] = uiKit }
            }
            if let clause = node.as(IfConfigClauseSyntax.self) {
                inside.isReplacement = clause.condition.map(file.text)?.hasPrefix("!canImport(") ?? false
                if file.excluded.contains(node.trimmedOffsets.lowerBound) {
                    let call = clause.condition?.as(FunctionCallExprSyntax.self)
                    let isImport = call.map { file.text($0.calledExpression) == "canImport" } ?? false
                    inside.framework = isImport ? call.flatMap { AppleModule(file.text($0.arguments)) } : nil
                    inside.isHidden = true
                }
            }
            if let type = node.as(ClassDeclSyntax.self), !place.isHidden { noteStandIns(of: type, file) }
            if let function = node.as(FunctionDeclSyntax.self) { note(function, place) }
            for name in Self.names(node) { note(name, node, place, in: file) }
            switch node.kind {
            case .codeBlock, .closureExpr, .accessorBlock: inside.isInFunction = true
            case .ifConfigDecl, .codeBlockItem, .memberBlockItem, .codeBlockItemList, .memberBlockItemList: break
            case .ifConfigClause, .ifConfigClauseList, .sourceFile: break
            default: inside.isDirect = !place.isHidden
            }
            if let type = node.as(ExtensionDeclSyntax.self) { inside.owner = type.extendedType.path?.last ?? "" }
            if node.asProtocol((any DeclGroupSyntax).self) != nil,
                let type = node.asProtocol((any NamedDeclSyntax).self)
            {
                inside.owner = type.name.bareText
            }
            return inside
        }
    }

    private mutating func note(_ name: String, _ node: Syntax, _ place: Place, in file: PortFile) {
        if !place.isHidden {
            // A variable of a common name is no reason to leave a call of that name alone.
            let isValue = node.is(VariableDeclSyntax.self) || node.is(FunctionParameterSyntax.self)
            let isGlobal = place.owner.isEmpty && !place.isInFunction && !node.is(FunctionParameterSyntax.self)
            if !isValue || isGlobal || LinuxNames.isOfFramework(name) { declared.insert(name) }
            if place.isReplacement { replacements.insert(name) }
            if node.parent?.parent?.parent?.parent?.is(ProtocolDeclSyntax.self) ?? false { requirements.insert(name) }
        } else if place.isDirect {
            let scope = UnavailableNames.scope(of: node)
            let modifiers = node.asProtocol((any WithModifiersSyntax).self)?.modifiers.map(\.name.text) ?? []
            let isLogger = node.as(VariableDeclSyntax.self)?.bindings.contains {
                let made = $0.initializer?.value.as(FunctionCallExprSyntax.self)?.calledExpression
                return ["Logger", "OSLog"].contains($0.typeAnnotation?.type.path?.last ?? made.map(file.text))
            }
            hidden[name, default: []].append(
                Hidden(
                    file: file.index, framework: place.framework, scope: scope,
                    owner: place.owner.isEmpty ? nil : place.owner,
                    isPrivate: place.isInFunction || !Set(["private", "fileprivate"]).isDisjoint(with: modifiers),
                    isLogger: isLogger ?? false))
        }
    }

    private mutating func note(_ function: FunctionDeclSyntax, _ place: Place) {
        let labels = function.signature.parameterClause.parameters.map(\.firstName.bareText)
        let name = function.name.bareText
        methods[place.owner, default: [:]][name, default: []].append(labels)
        if function.modifiers.contains(where: { $0.name.tokenKind == .keyword(.optional) }), function.isInProtocol {
            optionalRequirements.insert(name)
        }
    }

    /// Notes what a class with beacon code inherits from UIKit, and its protocols of other frameworks.
    private mutating func noteStandIns(of type: ClassDeclSyntax, _ file: PortFile) {
        guard BeaconWords.isUsed(in: Syntax(type)) else { return }
        let uiKit = AppleModule("UIKit").map { StandIn(file: file.index, framework: $0) }
        for parent in type.inheritanceClause?.inheritedTypes.compactMap({ $0.type.path?.last }) ?? [] {
            if StandInRule.texts[parent] != nil {
                standIns[parent] = uiKit
                // Its callbacks have one.
                if parent == "UIApplicationDelegate" { standIns["UIApplication"] = uiKit }
            } else if ["Delegate", "DataSource", "Observer"].contains(where: parent.hasSuffix),
                let framework = ForeignNameRule.framework(of: parent, imported: file.imported)
            {
                standIns[parent] = AppleModule(framework).map { StandIn(file: file.index, framework: $0) }
            }
        }
    }

    /// Returns the names that a node declares.
    static func names(_ node: Syntax) -> [String] {
        if let variable = node.as(VariableDeclSyntax.self) {
            return variable.bindings.compactMap { $0.pattern.as(IdentifierPatternSyntax.self)?.identifier.bareText }
        }
        if let type = node.asProtocol((any NamedDeclSyntax).self) { return [type.name.bareText] }
        if let parameter = node.as(GenericParameterSyntax.self) { return [parameter.name.bareText] }
        if let element = node.as(EnumCaseElementSyntax.self) { return [element.name.bareText] }
        if let parameter = node.as(FunctionParameterSyntax.self) {
            return [(parameter.secondName ?? parameter.firstName).bareText]
        }
        return []
    }
}

extension FunctionDeclSyntax {
    /// A Boolean value that indicates whether it is a requirement of a protocol.
    fileprivate var isInProtocol: Bool {
        var node = parent
        // A condition may be between the two.
        while let current = node, !current.is(MemberBlockSyntax.self) { node = current.parent }
        return node?.parent?.is(ProtocolDeclSyntax.self) ?? false
    }
}
