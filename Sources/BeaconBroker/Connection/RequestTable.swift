import BeaconSupport

/// A request whose caller waits for the broker's acknowledgement.
struct MQTTRequest: Sendable {
    /// The packet to send.
    enum Action: Sendable {
        case publish(MQTTMessage)
        case subscribe(filter: String, MQTTQualityOfService)
        case unsubscribe(filter: String)
    }

    /// A number that is unique over all connections of a client.
    typealias ID = UInt64

    var action: Action

    /// Whether the request is useless later: without a connection it fails at once.
    var isPerishable = false

    /// The number of the only connection that may send it; nil for any.
    var connection: UInt64?

    /// Returns the result to the caller, without waiting. The code that removes the request from the table calls it
    /// once.
    var complete: @Sendable (Result<Void, MQTTError>) -> Void
}

/// The requests of a client's callers, shared between their tasks and the thread of the connection.
final class RequestTable: Sendable {
    private struct State {
        var open: [MQTTRequest.ID: MQTTRequest] = [:]
        /// The requests that were not sent yet, oldest first. Some may have ended already.
        var waiting: [MQTTRequest.ID] = []
        var nextID: MQTTRequest.ID = 1
        var isClosing = false
        var isConnected = false
        /// The number of the last connection.
        var connection: UInt64 = 0
        var keepsRetained = true
        var fault: MQTTError?
        var listeners: [UInt64: @Sendable (MQTTEvent) -> Void] = [:]
        var runner: CheckedContinuation<Void, Never>?
    }

    /// The waker of the thread.
    let waker = Waker()

    private let state = Locked(State())

    /// Returns unused numbers for requests.
    func nextIDs(_ count: Int) -> Range<MQTTRequest.ID> {
        state.withLock { state in
            let first = state.nextID
            state.nextID += MQTTRequest.ID(count)
            return first..<state.nextID
        }
    }

    /// Adds requests, to be sent in order as soon as there is a connection.
    func submit(_ requests: [(id: MQTTRequest.ID, request: MQTTRequest)]) {
        let refused = state.withLock { state in
            var refused: [MQTTRequest] = []
            for (id, request) in requests {
                if state.isClosing || (request.isPerishable && !state.isConnected)
                    || request.connection.map({ $0 != state.connection }) ?? false
                {
                    refused.append(request)
                } else {
                    state.open[id] = request
                    state.waiting.append(id)
                }
            }
            return refused
        }
        if refused.count < requests.count { waker.wake() }
        for request in refused { request.complete(.failure(.closed)) }
    }

    /// Ends requests whose callers no longer wait.
    func abandon(_ ids: Range<MQTTRequest.ID>) {
        for id in ids { complete(id, .failure(.closed)) }
    }

    /// Ends requests that have timed out. Without a connection they end with the connection's error.
    func expire(_ ids: Range<MQTTRequest.ID>, because error: MQTTError) {
        let fault = state.withLock { state in state.isConnected ? nil : state.fault }
        for id in ids { complete(id, .failure(fault ?? error)) }
    }

    /// Returns a stream of all further events, beginning with the state of the connection.
    func events() -> AsyncStream<MQTTEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: MQTTEvent.self)
        let key = listen { event in continuation.yield(event) }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { state in state.listeners.removeValue(forKey: key) }
        }
        return stream
    }

    /// Calls a function with all further events, beginning with the state of the connection.
    ///
    /// - Parameter listener: a function that does not wait. During its first call, with the current state, it must not
    ///   use this table.
    /// - Returns: The number of the listener.
    @discardableResult
    func listen(_ listener: @escaping @Sendable (MQTTEvent) -> Void) -> UInt64 {
        let key = nextIDs(1).lowerBound
        state.withLock { state in
            state.listeners[key] = listener
            if state.isConnected {
                listener(.connected)
            } else if let fault = state.fault {
                listener(.disconnected(fault))
            }
        }
        return key
    }

    /// Begins a run. Its end resumes `runner`.
    ///
    /// - Returns: False if there was an earlier run or the client is closed.
    func begin(_ runner: CheckedContinuation<Void, Never>) -> Bool {
        state.withLock { state in
            guard state.runner == nil, !state.isClosing else { return false }
            state.runner = runner
            return true
        }
    }

    /// Requests an orderly end of the connection.
    func close() {
        state.withLock { state in state.isClosing = true }
        waker.wake()
    }

    /// Whether the connection must end.
    var isClosing: Bool { state.withLock { state in state.isClosing } }

    /// Removes and returns the oldest unsent requests, in order.
    func removeWaiting(atMost count: Int) -> [(id: MQTTRequest.ID, action: MQTTRequest.Action)] {
        guard count > 0 else { return [] }
        return state.withLock { state in
            var removed: [(id: MQTTRequest.ID, action: MQTTRequest.Action)] = []
            var looked = 0
            while removed.count < count, looked < state.waiting.count {
                let id = state.waiting[looked]
                looked += 1
                if let request = state.open[id] { removed.append((id, request.action)) }
            }
            state.waiting.removeFirst(looked)
            return removed
        }
    }

    /// Returns whether the caller of a request still waits.
    func isOpen(_ id: MQTTRequest.ID) -> Bool { state.withLock { state in state.open[id] != nil } }

    /// Ends a request, unless it has already ended.
    func complete(_ id: MQTTRequest.ID, _ result: Result<Void, MQTTError>) {
        let request = state.withLock { state in state.open.removeValue(forKey: id) }
        request?.complete(result)
    }

    /// Reports a connection to the listeners.
    ///
    /// - Parameter keepsRetained: whether the broker keeps retained messages.
    func connected(keepsRetained: Bool) {
        // Requests for the previous connection may have been added after its requests were ended.
        let late = state.withLock { state in
            state.keepsRetained = keepsRetained
            state.connection += 1
            let late = state.open.filter { $0.value.connection != nil }
            for id in late.keys { state.open[id] = nil }
            return late.values
        }
        for request in late { request.complete(.failure(.closed)) }
        announce(.connected, isConnected: true, fault: nil)
    }

    /// The number of the last connection; 0 before the first.
    var connection: UInt64 { state.withLock { state in state.connection } }

    /// Whether the broker of the last connection keeps retained messages.
    var keepsRetained: Bool { state.withLock { state in state.keepsRetained } }

    /// Reports a lost connection to the listeners, and ends all requests for which waiting is useless.
    ///
    /// - Parameter fault: the cause. Unless it is transient, all requests end with it.
    func disconnected(_ fault: MQTTError) {
        announce(.disconnected(fault), isConnected: false, fault: fault)
        if fault.isTransient {
            let perishable = state.withLock { state in
                let gone = state.open.filter(\.value.isPerishable)
                for id in gone.keys { state.open[id] = nil }
                return gone.values
            }
            for request in perishable { request.complete(.failure(fault)) }
        } else {
            completeAll(.failure(fault))
        }
    }

    /// Delivers a message, or the report of a dropped one, to the listeners.
    func received(_ event: MQTTEvent) {
        let listeners = state.withLock { state in Array(state.listeners.values) }
        for listener in listeners { listener(event) }
    }

    /// Ends the run and every request. A second call has no effect.
    func finish() {
        completeAll(.failure(.closed))
        let runner = state.withLock { state in
            let runner = state.runner
            state.runner = nil
            state.isConnected = false
            return runner
        }
        runner?.resume()
    }

    private func announce(_ event: MQTTEvent, isConnected: Bool, fault: MQTTError?) {
        let listeners = state.withLock { state in
            state.isConnected = isConnected
            state.fault = fault
            return Array(state.listeners.values)
        }
        for listener in listeners { listener(event) }
    }

    /// Ends all requests, sent or not.
    func completeAll(_ result: Result<Void, MQTTError>) {
        let requests = state.withLock { state in
            let requests = Array(state.open.values)
            state.open = [:]
            state.waiting = []
            return requests
        }
        for request in requests { request.complete(result) }
    }
}

/// A collector that returns the results of several requests together.
final class ResultCollector: Sendable {
    private struct State {
        var results: [Result<Void, MQTTError>?]
        var missing: Int
    }

    private let state: Locked<State>
    private let finish: @Sendable ([Result<Void, MQTTError>]) -> Void

    /// Creates a collector without results.
    ///
    /// - Parameters:
    ///   - count: the number of results, at least 1.
    ///   - finish: called once, with all results in order.
    init(count: Int, finish: @escaping @Sendable ([Result<Void, MQTTError>]) -> Void) {
        state = Locked(State(results: Array(repeating: nil, count: count), missing: count))
        self.finish = finish
    }

    /// Stores a result. Only the first one for an index counts.
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
