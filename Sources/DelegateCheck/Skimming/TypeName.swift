/// A type as a source spells it, and in the one spelling that all equal ones share.
struct TypeName: Hashable, Sendable {
    /// The type as it is written, with even spaces.
    var text: String

    /// The type in its one spelling: no module names, no `any`, sugar for optionals, arrays and dictionaries.
    var canonical: String

    /// The names in it, without those of modules.
    var names: [String]

    /// No result.
    static let void = TypeName(text: "Void", canonical: "()", names: [])

    /// Whether two types are the same; nil where it hangs on a name that could be an alias.
    func isEqual(to other: TypeName, isType: (String) -> Bool) -> Bool? {
        if canonical == other.canonical { return true }
        return names.allSatisfy(isType) ? false : nil
    }
}
