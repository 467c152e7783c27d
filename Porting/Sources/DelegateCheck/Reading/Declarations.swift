/// A type, an extension or a type alias in a source.
struct TypeDeclaration {
    /// The kind of declaration.
    enum Kind {
        case `class`
        case value
        case `protocol`
        case `extension`
        case alias
    }

    /// The kind of declaration.
    var kind: Kind

    /// Its name. An extension's name may have several parts.
    var path: [String]

    /// The types that it inherits from or conforms to; for an alias, the aliased types.
    var inherited: [[String]]

    /// A Boolean value that indicates whether an extension is constrained.
    var isConstrained: Bool

    /// A Boolean value that indicates whether it is visible only in its file.
    var isPrivate: Bool

    /// The scope that contains it, and its body's scope.
    var scope: Int
    var bodyScope: Int
}

/// A function in a source.
struct FunctionDeclaration {
    /// The signature.
    var signature: FunctionSignature

    /// The number of the type or extension that it is a member of, within the source.
    var owner: Int

    /// A Boolean value that indicates whether it is visible only in its file.
    var isPrivate: Bool

    /// A Boolean value that indicates whether it is marked as an override.
    var isOverride: Bool

    /// The offset of its `func` in the source.
    var start: Int
}
