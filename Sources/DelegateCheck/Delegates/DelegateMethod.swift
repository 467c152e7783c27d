/// A method of a delegate: what Swift asks for, and the selector by which Objective-C finds it.
struct DelegateMethod: Sendable {
    /// What more than one method is for, an older one and its successor: who implements one needs no other.
    enum Purpose: Sendable {
        case authorization
        case ranging
        case rangingFailure
        case locations
        case disconnection
    }

    /// The declaration to write.
    let signature: String

    /// What the declaration says.
    let function: FunctionSignature

    /// The labels that Objective-C's selector has where Swift's are shorter, the first left out.
    let selectorLabels: [String]

    /// The part of the selector that Swift takes, in whole or in part, for the method's base name.
    let selectorBase: String

    /// What it shares with another method, if anything.
    let purpose: Purpose?

    init(signature: String, selector: String, purpose: Purpose?) {
        self.signature = signature
        self.purpose = purpose
        let pieces = selector.split(separator: ":").map(String.init)
        selectorBase = pieces.first ?? ""
        selectorLabels = ["_"] + pieces.dropFirst()
        function =
            SourceSkim(path: "", source: Array(signature.utf8)).functions.first?.signature
            ?? FunctionSignature(baseName: selectorBase)
    }
}
