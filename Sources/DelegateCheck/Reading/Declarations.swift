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

    /// Its name; an extension's may have several parts.
    var path: [String]

    /// The types it inherits from or conforms to; for an alias, the types it stands for.
    var inherited: [[String]]

    /// A Boolean value that indicates whether an extension is for some forms of its type only.
    var isConstrained: Bool

    /// A Boolean value that indicates whether nothing outside its file can see it.
    var isPrivate: Bool

    /// The scope that it stands in, and the one of its own body.
    var scope: Int
    var bodyScope: Int
}

/// A function in a source.
struct FunctionDeclaration {
    /// The signature.
    var signature: FunctionSignature

    /// The type or extension it is a member of, by its number in the source.
    var owner: Int

    /// A Boolean value that indicates whether nothing outside its file can see it.
    var isPrivate: Bool

    /// A Boolean value that indicates whether it says that it overrides.
    var isOverride: Bool

    /// The offset of its `func` in the source.
    var start: Int
}
