/// How a function stands to the methods of a delegate.
enum MethodMatch {
    /// It is that method.
    case exact(DelegateMethod)

    /// It is meant to be that method, and differs by its name or in these ways.
    case near(DelegateMethod, differences: [String], isPlain: Bool)

    /// It has nothing to do with the delegate, or nothing can be said.
    case none
}
