/// What a function declaration says, as far as it decides which requirement the function meets.
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
