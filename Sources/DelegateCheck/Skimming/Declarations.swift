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
    var owner: Int?

    /// A Boolean value that indicates whether nothing outside its file can see it.
    var isPrivate: Bool

    /// A Boolean value that indicates whether it says that it overrides.
    var isOverride: Bool

    /// The offset of its `func` in the source.
    var start: Int
}

/// The parts of a function declaration that decide which requirement the function meets.
struct FunctionSignature: Sendable {
    /// A parameter.
    struct Parameter: Sendable {
        /// The label of its argument, `_` where there is none.
        var label: String

        /// The name inside the function.
        var name: String

        /// Its type; nil where it could not be read.
        var type: TypeName?
    }

    /// The name before the parentheses.
    var baseName: String

    /// The parameters.
    var parameters: [Parameter] = []

    /// The result.
    var result: TypeName? = .void

    /// The words about it that no delegate method has: `static`, `async`, `throws`, and `generic`.
    var oddities: [String] = []

    /// The labels of the arguments.
    var labels: [String] { parameters.map(\.label) }

    /// The name with its labels.
    var fullName: String { baseName + "(" + labels.map { $0 + ":" }.joined() + ")" }
}
