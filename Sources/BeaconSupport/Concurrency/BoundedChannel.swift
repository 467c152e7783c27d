import Dispatch

/// A channel from threads, which may block, to one task. A thread that is too far ahead waits.
///
/// The task iterates over the channel once. An element counts as received when the next one is requested.
package final class BoundedChannel<Element: Sendable>: AsyncSequence, Sendable {
    // It starts at zero, since a semaphore must not be destroyed with less than its initial value.
    private let room = DispatchSemaphore(value: 0)
    private let stream: AsyncStream<Element>
    private let continuation: AsyncStream<Element>.Continuation
    private let waiting = Locked(0)

    /// Creates a channel without elements.
    ///
    /// - Parameter capacity: the most elements in the channel.
    package init(capacity: Int) {
        (stream, continuation) = AsyncStream.makeStream(of: Element.self)
        for _ in 0..<Swift.max(capacity, 1) { room.signal() }
        // A thread that waits for room continues when the iteration has ended.
        continuation.onTermination = { [room] _ in room.signal() }
    }

    /// Sends an element. It blocks the calling thread while the channel is full, unless the iteration has ended.
    package func send(_ element: Element) {
        room.wait()
        // Count the element before the task can receive it.
        waiting.withLock { $0 += 1 }
        // A rejected element is never received, so release its place.
        if case .terminated = continuation.yield(element) {
            waiting.withLock { $0 -= 1 }
            room.signal()
        }
    }

    /// A Boolean value indicating whether an element has not been received yet.
    package var hasElements: Bool { waiting.withLock { $0 > 0 } }

    /// Ends the sequence. No further element is delivered, and no thread waits any longer.
    package func finish() {
        continuation.finish()
    }

    package struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var base: AsyncStream<Element>.AsyncIterator
        fileprivate let room: DispatchSemaphore
        fileprivate let waiting: Locked<Int>
        fileprivate var owes = false

        package mutating func next() async -> Element? {
            if owes { room.signal() }
            owes = false
            guard let element = await base.next() else { return nil }
            waiting.withLock { $0 -= 1 }
            owes = true
            return element
        }
    }

    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: stream.makeAsyncIterator(), room: room, waiting: waiting)
    }
}
