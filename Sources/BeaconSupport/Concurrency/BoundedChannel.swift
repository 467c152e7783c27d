import Dispatch

/// A channel from threads, which may block, to one task: a thread that is too far ahead waits.
///
/// The task iterates over the channel once. An element counts as received when the next one is requested.
package final class BoundedChannel<Element: Sendable>: AsyncSequence, Sendable {
    // It begins with nothing, since a semaphore must not end with less than it began with.
    private let room = DispatchSemaphore(value: 0)
    private let stream: AsyncStream<Element>
    private let continuation: AsyncStream<Element>.Continuation
    private let waiting = Locked(0)

    /// Creates a channel without elements.
    ///
    /// - Parameter capacity: the most elements that wait.
    package init(capacity: Int) {
        (stream, continuation) = AsyncStream.makeStream(of: Element.self)
        for _ in 0..<Swift.max(capacity, 1) { room.signal() }
        // A thread that waits for capacity continues when the iteration has ended.
        continuation.onTermination = { [room] _ in room.signal() }
    }

    /// Sends an element. It blocks the calling thread while the channel is full, unless the iteration has ended.
    package func send(_ element: Element) {
        room.wait()
        // Before the element is there, so that it is counted when it is received.
        waiting.withLock { $0 += 1 }
        // An element that was refused is never received, so that its place is free again.
        if case .terminated = continuation.yield(element) {
            waiting.withLock { $0 -= 1 }
            room.signal()
        }
    }

    /// A Boolean value indicating whether an element is there that was not received so far.
    package var hasElements: Bool { waiting.withLock { $0 > 0 } }

    /// Ends the sequence: nothing more is delivered, and no thread waits any more.
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
