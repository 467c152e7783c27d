import BeaconModel
import BeaconRadio
import BeaconSupport

/// A queue of requests that gateways posted and the source has not read yet.
package final class PostQueue: Sendable, Hashable {
    /// A request's content.
    struct Post: Sendable {
        var bytes: [UInt8]
        var time: Timestamp
    }

    /// The most requests in the queue, and their bytes: a few seconds of forty gateways in a crowd.
    private static let (maximumPosts, maximumBytes) = (4096, 16 << 20)

    private struct State {
        var posts: [Post] = []
        var bytes = 0
        /// False while no source reads the queue.
        var isOpen = false
    }

    /// The waker that signals requests in the queue.
    let waker = Waker()

    private let state = Locked(State())

    /// Adds a gateway's request.
    ///
    /// - Returns: false if the queue is full or no source reads it. The gateway may send the request again.
    package func add(_ bytes: [UInt8]) -> Bool {
        let time = RadioClock.now()
        let (isTaken, isFirst) = state.withLock { state in
            guard state.isOpen, state.posts.count < Self.maximumPosts, state.bytes + bytes.count <= Self.maximumBytes
            else {
                return (false, false)
            }
            state.posts.append(Post(bytes: bytes, time: time))
            state.bytes += bytes.count
            return (true, state.posts.count == 1)
        }
        if isFirst { waker.wake() }
        return isTaken
    }

    /// Starts or stops accepting requests, and drops the queued ones.
    func open(_ isOpen: Bool) { state.withLock { $0 = State(isOpen: isOpen) } }

    /// Returns the requests since the last call.
    func take() -> [Post] {
        waker.reset()
        return state.withLock { state in
            defer { (state.posts, state.bytes) = ([], 0) }
            return state.posts
        }
    }

    package static func == (one: PostQueue, other: PostQueue) -> Bool { one === other }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
