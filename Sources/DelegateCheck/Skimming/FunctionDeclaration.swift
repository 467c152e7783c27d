/// A function in a source.
struct FunctionDeclaration {
    /// What it says.
    var signature: FunctionSignature

    /// The type or extension it is a member of, by its number in the source.
    var owner: Int?

    /// Whether nothing outside its file can see it.
    var isPrivate: Bool

    /// Whether it says that it overrides.
    var isOverride: Bool

    /// Where its `func` stands.
    var start: Int
}
