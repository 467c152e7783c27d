import BeaconSupport
package import Dispatch
import Foundation
import Logging

/// The queue on which a client's callbacks are made, or the run loop of the thread that created the client.
package enum CallbackContext: Sendable {
    /// A dispatch queue.
    case queue(DispatchQueue)

    /// The run loop of one thread.
    case runLoop(LoopHandle)

    /// A run loop that other threads submit work to.
    ///
    /// The reference is unchecked, since Foundation does not declare run loops to be Sendable. Only `perform(_:)` is
    /// called on the run loop, which is documented as safe from any thread. Of the thread, only `isFinished` is read.
    package struct LoopHandle: @unchecked Sendable {
        let loop: RunLoop
        let thread: Thread
    }

    /// Returns the context in which Apple's frameworks would make the callbacks of an object that the calling thread
    /// creates: the main queue for the main thread, the thread's run loop for a thread that the program started.
    ///
    /// A pool thread runs no run loop. The main queue is used instead, which is logged once.
    package static func ofCurrentThread(for owner: String) -> CallbackContext {
        // The main thread does not always serve the main queue: it does not in a program that awaits in its main
        // function.
        if Thread.isMainThread || isOnMainQueue { return .queue(.main) }
        // Foundation reports only its own threads as executing, not pool threads.
        guard Thread.current.isExecuting else {
            if owners.withLock({ $0.insert(owner).inserted }) {
                Logger(label: "swift-beacon.callbacks").notice(
                    "\(owner) was created on a pool thread, which has no run loop; its callbacks run on the main queue."
                )
            }
            return .queue(.main)
        }
        keepCurrentLoopWaiting()
        return .runLoop(LoopHandle(loop: .current, thread: .current))
    }

    /// The owners whose creation on a pool thread was logged.
    private static let owners = Locked<Set<String>>([])

    /// Adds a source to the run loop of this thread, so that the loop waits for callbacks: without a source it returns
    /// at once.
    ///
    /// The source stays as long as the thread lives; all managers of a thread share it.
    private static func keepCurrentLoopWaiting() {
        let key = "swift-beacon.callbacks"
        guard Thread.current.threadDictionary[key] == nil else { return }
        let source = Timer(fire: .distantFuture, interval: 1e9, repeats: true) { _ in }
        Thread.current.threadDictionary[key] = source
        RunLoop.current.add(source, forMode: .default)
    }

    private static let mainQueueMark: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    private static var isOnMainQueue: Bool { DispatchQueue.getSpecific(key: mainQueueMark) == true }

    /// Makes a call in this context, after all previous calls.
    package func perform(_ call: @escaping @Sendable () -> Void) {
        switch self {
        case .queue(let queue): queue.async(execute: call)
        case .runLoop(let handle):
            // The run loop of a thread that has ended no longer runs.
            if !handle.thread.isFinished { handle.loop.perform(call) }
        }
    }
}

/// A thread-safe weak reference to a manager's delegate.
///
/// One thread may set the delegate while a callback reads it on another. A weak variable alone does not allow that:
/// concurrent reads are safe, a concurrent write is not.
///
/// A manager's first callback is held until a delegate is set: if a task creates the manager, the main queue makes the
/// callback at once, perhaps before the task's next statement sets the delegate.
package final class DelegateBox<Delegate>: Sendable {
    /// The stages of a manager's first callback.
    private enum FirstCallback {
        /// It is not due.
        case pending
        /// It is due, but no delegate is set.
        case held
        /// It has been made.
        case made
    }

    /// A closure that returns the delegate, and captures it weakly. A cast of an object to a protocol would fail for a
    /// delegate whose conformance is isolated to the main actor, unless the main thread makes the callback.
    package typealias Reference = () -> Delegate?

    private struct State {
        /// Any thread may read the weak reference. The delegate is used where its owner expects its callbacks.
        var reference: UnsafeTransfer<Reference>?
        var firstCallback = FirstCallback.pending

        var delegate: Delegate? { reference?.value() }
    }

    private let state: Locked<State>

    /// Creates a box with a delegate.
    package init(_ reference: Reference? = nil) {
        state = Locked(State(reference: reference.map { UnsafeTransfer($0) }))
    }

    /// The delegate; nil once it is deallocated.
    package var delegate: Delegate? { state.withLock { $0.reference }?.value() }

    /// Sets the delegate.
    ///
    /// - Parameter reference: returns the delegate, which it captures weakly; nil for none.
    /// - Returns: true if a first callback is held. The caller then makes it in the callback context, with
    ///   ``delegateForHeldCallback()``.
    package func setDelegate(_ reference: Reference?) -> Bool {
        let new = reference.map { UnsafeTransfer($0) }
        return state.withLock { state in
            state.reference = new
            return new != nil && state.firstCallback == .held
        }
    }

    /// Returns the delegate for the first kind of callback. If there is no delegate, the callback is held.
    package func delegateOrHold() -> Delegate? {
        state.withLock { state -> UnsafeTransfer<Delegate?> in
            let delegate = state.delegate
            if delegate != nil {
                state.firstCallback = .made
            } else if state.firstCallback == .pending {
                state.firstCallback = .held
            }
            return UnsafeTransfer(delegate)
        }.value
    }

    /// Returns the delegate for the held callback; nil if another call has made it.
    package func delegateForHeldCallback() -> Delegate? {
        state.withLock { state -> UnsafeTransfer<Delegate?> in
            guard state.firstCallback == .held, let delegate = state.delegate else { return UnsafeTransfer(nil) }
            state.firstCallback = .made
            return UnsafeTransfer(delegate)
        }.value
    }
}

/// A weak reference that carries a manager or a delegate to another thread.
///
/// It is unchecked because managers and delegates are not Sendable. The reference is immutable, and reading a weak
/// reference is safe on any thread. The object is used only by its own methods that lock their state, or in the
/// manager's callback context, where its owner expects to be called.
package struct WeakReference<Object: AnyObject>: @unchecked Sendable {
    package weak let object: Object?

    /// Refers to an object.
    package init(_ object: Object?) { self.object = object }
}

/// A wrapper that carries a non-Sendable value to the callback context.
///
/// It is unchecked because the compiler cannot see that the value is only passed on: no code uses it on the way, and
/// the new owner uses it in its own callback context. Each use of this type documents why that holds.
package struct UnsafeTransfer<Value>: @unchecked Sendable {
    package let value: Value

    /// Wraps a value.
    package init(_ value: Value) { self.value = value }
}
