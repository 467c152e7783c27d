/// Closures that run one after another, without delaying their caller.
package struct TaskChain: Sendable {
    private var last: Task<Void, Never>?

    package init() {}

    /// Runs a closure after all earlier ones.
    package mutating func add(_ body: @escaping @Sendable () async -> Void) {
        last = Task { [last] in
            await last?.value
            await body()
        }
    }

    /// Waits until all closures that were added before have ended.
    package func finish() async { await last?.value }
}
