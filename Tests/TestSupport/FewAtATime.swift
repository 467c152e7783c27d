import BeaconSupport
public import Testing

/// A trait for tests with servers, brokers, buses and processes: only a few of them run at a time, across all suites.
///
/// All test targets are one program, so they share the limit. Tests that only compute are not limited.
public struct FewAtATime: SuiteTrait, TestTrait, TestScoping {
    @TaskLocal private static var hasTurn = false
    private static let turns = Turns(most)

    /// The most tests at a time. Each one waits for its helpers most of the time.
    public static let most = 3

    /// Applies to each test of a suite, so that tests of other suites can run in between.
    public var isRecursive: Bool { true }

    /// Runs a test when it gets a turn.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
    ) async throws {
        HelperGuard.start()
        // A test and its suite may both have the trait.
        guard !Self.hasTurn else { return try await body() }
        await Self.turns.take()
        defer { Self.turns.give() }
        try await Self.$hasTurn.withValue(true) { try await body() }
    }
}

extension Trait where Self == FewAtATime {
    /// Limits the test to run with few other tests that have a server, a broker, a bus or a process.
    public static var fewAtATime: Self { FewAtATime() }
}

/// A limited number of turns. Tasks wait for them in order.
private final class Turns: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Locked<State>

    init(_ count: Int) { state = Locked(State(free: count)) }

    func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    func give() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiting.isEmpty else {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
