import BeaconRadio
import BeaconService

/// Where callers, who are tasks, and the thread of a connection meet.
final class Switchboard: Sendable {
    /// What both sides see, while they hold the lock.
    private struct State {
        var open: [MQTTRequest.ID: MQTTRequest] = [:]
        /// Those that were not sent yet, oldest first. Some may be closed already.
        var waiting: [MQTTRequest.ID] = []
        var nextID: MQTTRequest.ID = 1
        var isClosing = false
        var isConnected = false
        var fault: MQTTError?
        var listeners: [UInt64: AsyncStream<MQTTEvent>.Continuation] = [:]
        var runner: CheckedContinuation<Void, Never>?
    }

    /// Wakes the thread.
    let wakeUp = WakeUp()

    private let state = Locked(State())

    /// Numbers for so many requests to come.
    func nextIDs(_ count: Int) -> Range<MQTTRequest.ID> {
        state.withLock { state in
            let first = state.nextID
            state.nextID += MQTTRequest.ID(count)
            return first..<state.nextID
        }
    }

    /// Has requests sent, in order, as soon as there is a connection.
    func submit(_ requests: [(id: MQTTRequest.ID, request: MQTTRequest)]) {
        let isTaken = state.withLock { state in
            guard !state.isClosing else { return false }
            for (id, request) in requests {
                state.open[id] = request
                state.waiting.append(id)
            }
            return true
        }
        if isTaken {
            wakeUp.signal()
        } else {
            for (_, request) in requests { request.complete(.failure(.closed)) }
        }
    }

    /// Ends requests whose caller waits no longer.
    func abandon(_ ids: Range<MQTTRequest.ID>) {
        for id in ids { complete(id, .failure(.closed)) }
    }

    /// Ends requests whose time is over, for the reason that there is no connection where there is none.
    func expire(_ ids: Range<MQTTRequest.ID>, because error: MQTTError) {
        let fault = state.withLock { state in state.isConnected ? nil : state.fault }
        for id in ids { complete(id, .failure(fault ?? error)) }
    }

    /// Everything that comes from now on, the state of the connection first.
    func events() -> AsyncStream<MQTTEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: MQTTEvent.self)
        let key = nextIDs(1).lowerBound
        state.withLock { state in
            state.listeners[key] = continuation
            if state.isConnected {
                continuation.yield(.connected)
            } else if let fault = state.fault {
                continuation.yield(.disconnected(fault))
            }
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { state in state.listeners.removeValue(forKey: key) }
        }
        return stream
    }

    /// Begins a run, whose end resumes `runner`.
    ///
    /// - Returns: false where there is a run already, or the connection was closed.
    func begin(_ runner: CheckedContinuation<Void, Never>) -> Bool {
        state.withLock { state in
            guard state.runner == nil, !state.isClosing else { return false }
            state.runner = runner
            return true
        }
    }

    /// Has the connection ended in order.
    func close() {
        state.withLock { state in state.isClosing = true }
        wakeUp.signal()
    }

    /// Whether the connection is to be ended.
    var isClosing: Bool { state.withLock { state in state.isClosing } }

    /// The oldest requests that were not sent yet, in order.
    func take(atMost count: Int) -> [(id: MQTTRequest.ID, action: MQTTRequest.Action)] {
        guard count > 0 else { return [] }
        return state.withLock { state in
            var taken: [(id: MQTTRequest.ID, action: MQTTRequest.Action)] = []
            var looked = 0
            while taken.count < count, looked < state.waiting.count {
                let id = state.waiting[looked]
                looked += 1
                if let request = state.open[id] { taken.append((id, request.action)) }
            }
            state.waiting.removeFirst(looked)
            return taken
        }
    }

    /// Ends a request. One that has ended already is let be.
    func complete(_ id: MQTTRequest.ID, _ result: Result<Void, MQTTError>) {
        let request = state.withLock { state in state.open.removeValue(forKey: id) }
        request?.complete(result)
    }

    /// Says that there is a connection.
    func connected() { announce(.connected, isConnected: true, fault: nil) }

    /// Says that there is none, and ends the requests that need not wait for the next.
    ///
    /// - Parameter fault: why. Where another attempt will hardly do better, all requests end with it.
    func disconnected(_ fault: MQTTError) {
        announce(.disconnected(fault), isConnected: false, fault: fault)
        if !fault.mayPass { completeAll(.failure(fault)) }
    }

    /// Hands a message on.
    func received(_ message: MQTTMessage) {
        let listeners = state.withLock { state in Array(state.listeners.values) }
        for listener in listeners { listener.yield(.message(message)) }
    }

    /// Ends the run and every request. A second time does no harm.
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
        for listener in listeners { listener.yield(event) }
    }

    private func completeAll(_ result: Result<Void, MQTTError>) {
        let requests = state.withLock { state in
            let requests = Array(state.open.values)
            state.open = [:]
            state.waiting = []
            return requests
        }
        for request in requests { request.complete(result) }
    }
}
