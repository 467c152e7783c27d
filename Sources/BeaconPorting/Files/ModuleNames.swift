internal import DelegateCheck
internal import SwiftSyntax

/// The names, declared in the files of a module, that rules need.
struct ModuleNames {
    /// A function of a type.
    struct Method {
        /// The label of each parameter.
        var labels: [String]
    }

    /// The types.
    private(set) var types: Set<String> = []

    /// The functions of each type, by their base names.
    private(set) var methods: [String: [String: [Method]]] = [:]

    /// The optional functions of protocols.
    private(set) var optionalRequirements: Set<String> = []

    /// The properties that are loggers of the system.
    private(set) var loggers: Set<String> = []

    /// The UIKit types that beacon code inherits from, with the number of the first source that does so.
    private(set) var standIns: [String: Int] = [:]

    init(_ sources: [[UInt8]]) {
        for (index, source) in sources.enumerated() {
            let file = SourceFile(source)
            let hasBeacons = BeaconWords.isUsed(in: Syntax(file.tree))
            SyntaxWalk.run(file.tree, "") { node, owner in
                let name = node.as(IdentifierTypeSyntax.self)?.name ?? node.as(DeclReferenceExprSyntax.self)?.baseName
                if hasBeacons, name?.bareText == "UIApplication", standIns["UIApplication"] == nil {
                    standIns["UIApplication"] = index
                }
                if let function = node.as(FunctionDeclSyntax.self) {
                    let labels = function.signature.parameterClause.parameters.map(\.firstName.bareText)
                    methods[owner, default: [:]][function.name.bareText, default: []].append(Method(labels: labels))
                    let isRequirement = function.modifiers.contains { $0.name.tokenKind == .keyword(.optional) }
                    if isRequirement, function.isInProtocol {
                        optionalRequirements.insert(function.name.bareText)
                    }
                }
                if let type = node.as(ClassDeclSyntax.self), BeaconWords.isUsed(in: node) {
                    for parent in type.inheritanceClause?.inheritedTypes.compactMap({ $0.type.path?.last }) ?? []
                    where StandInRule.texts[parent] != nil && standIns[parent] == nil {
                        standIns[parent] = index
                        // Its callbacks have one.
                        if parent == "UIApplicationDelegate", standIns["UIApplication"] == nil {
                            standIns["UIApplication"] = index
                        }
                    }
                }
                if let binding = node.as(PatternBindingSyntax.self),
                    let logger = LoggingRule.logger(binding, hasLogger: false)
                {
                    loggers.insert(logger)
                }
                if let type = node.as(ExtensionDeclSyntax.self) { return type.extendedType.path?.last ?? "" }
                guard node.kind != .functionDecl, let type = node.asProtocol((any NamedDeclSyntax).self),
                    type.asProtocol((any DeclGroupSyntax).self) != nil || type.is(TypeAliasDeclSyntax.self)
                else { return owner }
                types.insert(type.name.bareText)
                return type.name.bareText
            }
        }
        standIns = standIns.filter { !types.contains($0.key) }
        types.formUnion(standIns.keys)
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
