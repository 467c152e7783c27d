import BeaconRadio
import BeaconService

/// Waits for the results of several requests, and tells them together.
final class ResultCollector: Sendable {
    private struct State {
        var results: [Result<Void, MQTTError>?]
        var missing: Int
    }

    private let state: Locked<State>
    private let finish: @Sendable ([Result<Void, MQTTError>]) -> Void

    /// - Parameters:
    ///   - count: how many there will be, at least 1.
    ///   - finish: called once, with all of them in order.
    init(count: Int, finish: @escaping @Sendable ([Result<Void, MQTTError>]) -> Void) {
        state = Locked(State(results: Array(repeating: nil, count: count), missing: count))
        self.finish = finish
    }

    /// Notes a result. The first for a place counts.
    func set(_ result: Result<Void, MQTTError>, at index: Int) {
        let all: [Result<Void, MQTTError>]? = state.withLock { state in
            guard state.results[index] == nil else { return nil }
            state.results[index] = result
            state.missing -= 1
            return state.missing == 0 ? state.results.compactMap(\.self) : nil
        }
        if let all { finish(all) }
    }
}
