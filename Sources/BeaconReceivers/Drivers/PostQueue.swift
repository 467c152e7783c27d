import BeaconModel
import BeaconRadio
import BeaconSupport

/// A queue of what gateways posted and the source has not read yet.
package final class PostQueue: Sendable, Hashable {
    /// A request's content.
    struct Post: Sendable {
        var bytes: [UInt8]
        var time: Timestamp
    }

    /// The most requests that wait, and their bytes: seconds of what forty gateways hear in a crowd.
    private static let (mostPosts, mostBytes) = (4096, 16 << 20)

    private struct State {
        var posts: [Post] = []
        var bytes = 0
        /// False while no source reads.
        var isOpen = false
    }

    /// The waker that is woken when there is something in the queue.
    let waker = Waker()

    private let state = Locked(State())

    /// Adds what a gateway posted.
    ///
    /// - Returns: false where there is no room, or no source reads; the gateway may send it again.
    package func add(_ bytes: [UInt8]) -> Bool {
        let time = RadioClock.now()
        let (isTaken, isFirst) = state.withLock { state in
            guard state.isOpen, state.posts.count < Self.mostPosts, state.bytes + bytes.count <= Self.mostBytes else {
                return (false, false)
            }
            state.posts.append(Post(bytes: bytes, time: time))
            state.bytes += bytes.count
            return (true, state.posts.count == 1)
        }
        if isFirst { waker.wake() }
        return isTaken
    }

    /// Takes requests from now on, or none, and those that wait are dropped.
    func open(_ isOpen: Bool) { state.withLock { $0 = State(isOpen: isOpen) } }

    /// Returns what has come since the last call.
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
