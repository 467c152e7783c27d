/// A delegate whose methods the check knows.
struct DelegateProtocol: Sendable {
    /// The protocol's name.
    var name: String

    /// The class that calls it, and which is the first parameter of each method.
    var manager: String

    /// Its methods.
    var methods: [DelegateMethod]
}
