import BeaconSupport
package import Dispatch
import Foundation
import Logging

/// The place where a client's callbacks are made: a queue, or the run loop of the thread that made the client.
package enum CallbackContext: Sendable {
    /// A dispatch queue.
    case queue(DispatchQueue)

    /// The run loop of one thread.
    case runLoop(LoopHandle)

    /// A run loop that other threads submit work to.
    ///
    /// The reference is unchecked, since Foundation does not declare run loops to be Sendable; only `perform(_:)` of it
    /// is called, which is documented to be safe from any thread, and of the thread only whether it has ended.
    package struct LoopHandle: @unchecked Sendable {
        let loop: RunLoop
        let thread: Thread
    }

    /// Returns the context in which Apple's frameworks would make the callbacks of an object that the calling thread
    /// makes: the main queue for the main thread, its run loop for a thread that was started by itself.
    ///
    /// A thread of a pool runs no run loop; there, it is the main queue, which is logged once.
    package static func ofCurrentThread(for owner: String) -> CallbackContext {
        // The main queue need not be served by the main thread: not in a program that awaits in its main function.
        if Thread.isMainThread || isOnMainQueue { return .queue(.main) }
        // Foundation reports as executing only the threads that it started, not those of a pool.
        guard Thread.current.isExecuting else {
            if owners.withLock({ $0.insert(owner).inserted }) {
                Logger(label: "swift-beacon.callbacks").notice(
                    "\(owner) was made on a thread of a pool, which has no run loop; its callbacks come on the main queue."
                )
            }
            return .queue(.main)
        }
        keepCurrentLoopWaiting()
        return .runLoop(LoopHandle(loop: .current, thread: .current))
    }

    /// The owners for which a thread of a pool was logged.
    private static let owners = Locked<Set<String>>([])

    /// Adds a source to the run loop of this thread, so that it waits for callbacks: without a source it returns at
    /// once.
    ///
    /// A source stays for as long as the thread, so that there is one for all the managers of a thread.
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

    /// Makes a call in this context, after all that were submitted before.
    package func perform(_ call: @escaping @Sendable () -> Void) {
        switch self {
        case .queue(let queue): queue.async(execute: call)
        case .runLoop(let handle):
            // The run loop of a thread that has ended runs no more.
            if !handle.thread.isFinished { handle.loop.perform(call) }
        }
    }
}

/// The delegate of a manager, which is not kept alive.
///
/// It may be set on one thread while a callback reads it on another. A weak variable alone does not allow that: reading
/// it is safe anywhere, setting it meanwhile is not.
///
/// A manager's first callback is held until there is a delegate. Callbacks of a manager that a task makes come on the
/// main queue, at once, while the task may still have to set the delegate in its next statement.
package final class DelegateBox<Delegate>: Sendable {
    /// The stages of a manager's first callback.
    private enum FirstCallback {
        /// It is not due.
        case pending
        /// It is due, and there was no delegate to call.
        case held
        /// It was made.
        case made
    }

    private struct State {
        var reference: WeakReference<AnyObject>
        var firstCallback = FirstCallback.pending
    }

    private let state: Locked<State>

    /// Holds a delegate.
    package init(_ delegate: Delegate?) { state = Locked(State(reference: Self.reference(to: delegate))) }

    /// The delegate; nil once it is deallocated.
    package var delegate: Delegate? { state.withLock { $0.reference }.object as? Delegate }

    /// Sets the delegate.
    ///
    /// - Returns: true where a first callback is held for it. The caller then makes one where callbacks are made, with
    ///   ``delegateForHeldCallback()``.
    package func setDelegate(_ delegate: Delegate?) -> Bool {
        let new = Self.reference(to: delegate)
        return state.withLock { state in
            state.reference = new
            return delegate != nil && state.firstCallback == .held
        }
    }

    /// Returns the delegate for a callback of the kind that comes first. Where there is none, the callback is held.
    package func delegateOrHold() -> Delegate? {
        let reference = state.withLock { state in
            if state.reference.object != nil {
                state.firstCallback = .made
            } else if state.firstCallback == .pending {
                state.firstCallback = .held
            }
            return state.reference
        }
        return reference.object as? Delegate
    }

    /// Returns the delegate for the callback that was held; nil where another call made it meanwhile.
    package func delegateForHeldCallback() -> Delegate? {
        let reference = state.withLock { state -> WeakReference<AnyObject>? in
            guard state.firstCallback == .held, state.reference.object != nil else { return nil }
            state.firstCallback = .made
            return state.reference
        }
        return reference?.object as? Delegate
    }

    /// The protocols are those of classes, which Swift does not know of a generic parameter that is a protocol.
    private static func reference(to delegate: Delegate?) -> WeakReference<AnyObject> {
        WeakReference(delegate.map { $0 as AnyObject })
    }
}

/// A weak reference to a manager or a delegate, on its way to another thread.
///
/// It is unchecked because managers and delegates are not Sendable. The reference is never written to after it was
/// made; reading a weak reference is safe on any thread; and the object is used by its own methods that lock what they
/// use, or where the manager's callbacks are made, which is where its owner expects to be called.
package struct WeakReference<Object: AnyObject>: @unchecked Sendable {
    package weak let object: Object?

    /// Refers to an object.
    package init(_ object: Object?) { self.object = object }
}

/// A value that is not Sendable, on its way to where callbacks are made.
///
/// It is unchecked because the compiler cannot see that the value is only handed on: nothing between the two ends uses
/// it, and its new owner uses it where it asked to be called. Each use of this type says why that holds.
package struct UnsafeTransfer<Value>: @unchecked Sendable {
    package let value: Value

    /// Wraps a value.
    package init(_ value: Value) { self.value = value }
}
