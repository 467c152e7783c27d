import BeaconSupport
public import Testing

/// The trait of tests with servers, brokers, buses and processes: of all suites together, one runs at a time.
///
/// All test targets are one program, so that one turn serves all of them. Tests that only compute run beside.
public struct OneAtATime: SuiteTrait, TestTrait, TestScoping {
    @TaskLocal private static var hasTurn = false
    private static let turn = Turn()

    /// Applies to each test of a suite, so that others may come in between.
    public var isRecursive: Bool { true }

    /// Runs a test when its turn has come.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
    ) async throws {
        HelperGuard.start()
        // A test and its suite may both have the trait.
        guard !Self.hasTurn else { return try await body() }
        await Self.turn.take()
        defer { Self.turn.give() }
        try await Self.$hasTurn.withValue(true) { try await body() }
    }
}

extension Trait where Self == OneAtATime {
    /// Runs beside no other test that has a server, a broker, a bus or a process.
    public static var oneAtATime: Self { OneAtATime() }
}

/// A turn that one task has and the others wait for in order.
private final class Turn: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.isTaken {
                    state.waiting.append(continuation)
                    return false
                }
                state.isTaken = true
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    func give() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
