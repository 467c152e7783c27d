import Dispatch

/// Carries what the threads of sources say to the one task that listens. A thread that is too far ahead waits.
final class SourceChannel: Sendable {
    /// So many messages may be on their way. A source that plays at full speed must not fill the memory.
    private static let capacity = 64

    // It begins with nothing, since a semaphore must not end with less than it began with.
    private let room = DispatchSemaphore(value: 0)
    private let continuation: AsyncStream<(Int, SourceEvent)>.Continuation

    /// What was said, by whom, in order. One task reads it, and calls ``taken()`` when it is done with a message.
    let messages: AsyncStream<(Int, SourceEvent)>

    init() {
        (messages, continuation) = AsyncStream.makeStream(of: (Int, SourceEvent).self)
        for _ in 0..<Self.capacity { room.signal() }
    }

    /// Says something. It blocks its thread while there is no room, unless nobody listens any more.
    func say(_ event: SourceEvent, from source: Int) {
        room.wait()
        // What nobody takes makes no room.
        if case .terminated = continuation.yield((source, event)) { room.signal() }
    }

    /// A message was dealt with.
    func taken() { room.signal() }

    /// Nobody will say anything more.
    func finish() { continuation.finish() }
}
