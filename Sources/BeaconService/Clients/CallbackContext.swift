public import Dispatch
import Foundation
import Logging

/// Where a client's callbacks are made: on a queue, or on the run loop of the thread that made the client.
public enum CallbackContext: Sendable {
    /// A dispatch queue.
    case queue(DispatchQueue)

    /// The run loop of one thread.
    case runLoop(LoopHandle)

    /// A run loop that other threads hand work to.
    ///
    /// The reference is unchecked, since Foundation does not declare run loops to be Sendable; only `perform(_:)` of it is
    /// called, which is documented to be safe from any thread, and of the thread only whether it has ended.
    public struct LoopHandle: @unchecked Sendable {
        let loop: RunLoop
        let thread: Thread
    }

    /// Where Apple's frameworks would make the callbacks of an object that the calling thread makes: on the main queue for
    /// the main thread, on its run loop for a thread that was started by itself. A thread of a pool has no run loop that
    /// anybody runs; there, the main queue is used, and it is logged.
    public static func ofCurrentThread(for owner: String) -> CallbackContext {
        // The main queue need not be served by the main thread: not in a program that awaits in its main function.
        if Thread.isMainThread || isOnMainQueue { return .queue(.main) }
        // Foundation knows of the threads that it started that they are executing; to those of a pool it is a guest.
        guard Thread.current.isExecuting else {
            Logger(label: "swift-beacon.callbacks").notice(
                "\(owner) was made on a thread of a pool, which has no run loop; its callbacks come on the main queue.")
            return .queue(.main)
        }
        let loop = RunLoop.current
        // Without a source, a run loop returns at once instead of waiting for callbacks.
        loop.add(Timer(fire: .distantFuture, interval: 1e9, repeats: true) { _ in }, forMode: .default)
        return .runLoop(LoopHandle(loop: loop, thread: .current))
    }

    private static let mainQueueMark: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    private static var isOnMainQueue: Bool { DispatchQueue.getSpecific(key: mainQueueMark) == true }

    /// Makes a call there, after all that were asked for before.
    public func perform(_ call: @escaping @Sendable () -> Void) {
        switch self {
        case .queue(let queue): queue.async(execute: call)
        case .runLoop(let handle):
            // Nobody runs the loop of a thread that has ended.
            if !handle.thread.isFinished { handle.loop.perform(call) }
        }
    }
}
