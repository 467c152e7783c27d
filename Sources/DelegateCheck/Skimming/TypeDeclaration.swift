/// A type, an extension or a type alias in a source.
struct TypeDeclaration {
    /// What is declared.
    enum Kind {
        case `class`
        case value
        case `protocol`
        case `extension`
        case alias
    }

    /// What is declared.
    var kind: Kind

    /// Its name; an extension's may have several parts.
    var path: [String]

    /// What it inherits from or conforms to; for an alias, what it stands for.
    var inherited: [[String]]

    /// Whether an extension is for some forms of its type only.
    var isConstrained: Bool

    /// Whether nothing outside its file can see it.
    var isPrivate: Bool

    /// The scope that it stands in, and the one of its own body.
    var scope: Int
    var bodyScope: Int
}
