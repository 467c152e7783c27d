import BeaconSupport

/// The requests that wait for an answer.
final class PendingRequests: Sendable {
    typealias Answer = Result<NATSMessage, NATSError>

    private struct State {
        var last: UInt64 = 0
        var waiting: [UInt64: CheckedContinuation<Answer, Never>] = [:]
    }

    private let state = Locked(State())

    /// Returns an unused request number.
    func next() -> UInt64 {
        state.withLock { state in
            state.last += 1
            return state.last
        }
    }

    /// Adds a waiting request.
    func insert(_ number: UInt64, _ continuation: CheckedContinuation<Answer, Never>) {
        state.withLock { $0.waiting[number] = continuation }
    }

    /// Completes a request if it is still waiting.
    func complete(_ number: UInt64, _ answer: Answer) {
        state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: answer)
    }

    /// Fails all waiting requests.
    func fail(_ error: NATSError) {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume(returning: .failure(error)) }
    }
}
