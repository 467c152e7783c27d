/// A delegate whose methods the check knows.
struct DelegateProtocol: Sendable {
    /// The protocol's name.
    var name: String

    /// The class that calls it, and which is the first parameter of each method.
    var manager: String

    /// Its methods.
    var methods: [DelegateMethod]
}

/// A method of a delegate: what Swift asks for, and the selector by which Objective-C finds it.
struct DelegateMethod: Sendable {
    /// A purpose that an older method shares with its successor: who implements one needs no other.
    enum Purpose: Sendable {
        case authorization
        case ranging
        case rangingFailure
        case locations
        case disconnection
    }

    /// The declaration to write.
    let signature: String

    /// The signature of the declaration.
    let function: FunctionSignature

    /// The labels that Objective-C's selector has where Swift's are shorter, the first left out.
    let selectorLabels: [String]

    /// The part of the selector that Swift takes, in whole or in part, for the method's base name.
    let selectorBase: String

    /// The purpose it shares with another method, if any.
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
