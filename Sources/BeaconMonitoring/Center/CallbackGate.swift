import BeaconSupport
import Synchronization

/// A gate between a center and its application, which a test closes while the application is suspended.
///
/// Outside of such tests it is open, and costs one load.
package final class CallbackGate: Sendable {
    private enum State {
        case open, closed
        /// The application has ended.
        case over
    }

    private struct Held {
        var state = State.open
        var calls: [@Sendable () -> Void] = []
    }

    private let isOpen = Atomic(true)
    private let held = Locked(Held())

    /// Makes a call now, or in its order once the gate opens.
    func pass(_ call: @escaping @Sendable () -> Void) {
        if isOpen.load(ordering: .acquiring) { return call() }
        let isLate = held.withLock { held in
            switch held.state {
            case .open: return true
            case .closed: held.calls.append(call)
            case .over: break
            }
            return false
        }
        if isLate { call() }
    }

    /// Holds calls from now on.
    func close() {
        held.withLock { held in
            guard held.state == .open else { return }
            held.state = .closed
            isOpen.store(false, ordering: .releasing)
        }
    }

    /// Makes the held calls in order, and each later one at once.
    func open() {
        while let calls = takeCalls() { for call in calls { call() } }
    }

    /// Returns the held calls; nil once the gate is open and has no calls left.
    private func takeCalls() -> [@Sendable () -> Void]? {
        held.withLock { held in
            defer { held.calls = [] }
            if held.calls.isEmpty, held.state == .closed {
                held.state = .open
                isOpen.store(true, ordering: .releasing)
            }
            return held.calls.isEmpty ? nil : held.calls
        }
    }

    /// Drops all calls from now on, since the application has ended.
    package func end() {
        held.withLock { held in
            held = Held(state: .over)
            isOpen.store(false, ordering: .releasing)
        }
    }

    /// A Boolean value indicating whether the application has ended.
    package var isOver: Bool { !isOpen.load(ordering: .acquiring) && held.withLock { $0.state == .over } }
}
