import BeaconSupport

/// A changing value that eventually ends. Listeners receive the present value, and then each change.
final class Changes<Value: Equatable & Sendable>: Sendable {
    private struct State {
        var current: Value?
        var isOver = false
        var nextListener: UInt64 = 0
        var listeners: [UInt64: AsyncStream<Value>.Continuation] = [:]
    }

    /// The maximum number of changes that wait for a slow listener.
    private static var bufferSize: Int { 16 }

    private let state = Locked(State())

    /// Sets the value, and sends it to the listeners if it is different.
    func send(_ value: Value) {
        state.withLock { state in
            guard !state.isOver, state.current != value else { return }
            state.current = value
            // Under the lock, so that a listener that is being added receives everything once and in order.
            for listener in state.listeners.values { listener.yield(value) }
        }
    }

    /// Ends the sequences of all listeners.
    func end() {
        let listeners = state.withLock { state in
            state.isOver = true
            defer { state.listeners = [:] }
            return state.listeners
        }
        // Outside the lock, since a listener that ends removes itself.
        for listener in listeners.values { listener.finish() }
    }

    /// Returns the present value, and then each change.
    func listen() -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Value.self, bufferingPolicy: .bufferingNewest(Self.bufferSize))
        let number: UInt64? = state.withLock { state in
            guard !state.isOver else { return nil }
            if let current = state.current { continuation.yield(current) }
            state.nextListener += 1
            state.listeners[state.nextListener] = continuation
            return state.nextListener
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.forget(number) }
        return stream
    }

    private func forget(_ number: UInt64) { state.withLock { $0.listeners[number] = nil } }
}
