/// Which methods of a delegate some members are.
struct ImplementedMethods {
    private var signatures: Set<String> = []
    private var purposes: Set<DelegateMethod.Purpose> = []

    init(_ members: [TypeGraph.Member], delegate: DelegateProtocol, matcher: MethodMatcher) {
        for member in members {
            guard case .exact(let method) = matcher.match(member.function.signature, with: delegate) else { continue }
            signatures.insert(method.signature)
            if let purpose = method.purpose { purposes.insert(purpose) }
        }
    }

    /// Whether one of them is this method.
    func has(_ method: DelegateMethod) -> Bool {
        signatures.contains(method.signature)
    }

    /// Whether one of them is this method, or another for the same purpose.
    func serves(_ method: DelegateMethod) -> Bool {
        has(method) || method.purpose.map(purposes.contains) ?? false
    }
}
