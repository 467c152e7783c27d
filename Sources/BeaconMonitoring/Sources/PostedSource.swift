import BeaconModel
import BeaconRadio
package import BeaconReceivers
package import BeaconSupport
import CLibrary
import LinuxRadio

/// Gateways that post what they hear as a source: who takes their requests adds these to its queue.
package struct PostedSource: Hashable, Sendable {
    /// The name of the source.
    package var name: String
    /// The token that gateways show; nil before it is known.
    package var token: Secret?
    /// What is known of the receivers.
    package var network = ReceiverNetwork.Settings()
    /// Where requests wait.
    package let queue = PostQueue()

    /// The shortest token, in characters: nobody guesses one of 16 in any time.
    package static let shortestToken = 16

    /// A source of this name.
    package init(name: String) { self.name = name }

    /// Returns the mistakes in the settings, each with its remedy.
    package func mistakes() -> [String] {
        guard let token else {
            return ["\"token\" is missing: write { env: NAME } or { file: PATH }, where the token of the gateways is"]
        }
        guard token.reveal().utf8.count < Self.shortestToken else { return [] }
        return ["the token is shorter than \(Self.shortestToken) characters; make one with 'openssl rand -hex 16'"]
    }
}

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
    /// - Returns: false where there is no room, or nobody reads; the gateway may send it again.
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

/// Gateways that post what they hear as the adapters of a radio, so that everything around a radio is the same.
final class PostedDriver: AdapterDriver {
    let name: String
    private let queue: PostQueue
    private var network: ReceiverNetwork
    private var mode = ScanMode.off
    private var unanswered: [IBeaconFrame] = []

    /// Begins to take requests.
    ///
    /// - Throws: an error that lists what is wrong with the settings.
    init(_ source: PostedSource) throws(RadioError) {
        let mistakes = source.mistakes()
        guard mistakes.isEmpty else { throw RadioError(.failed, mistakes.joined(separator: "; ")) }
        name = source.name
        queue = source.queue
        network = ReceiverNetwork(source.network)
        network.connect(at: RadioClock.now())
        queue.open(true)
    }

    var descriptor: Int32 { queue.waker.descriptor }

    var interest: Int16 { Int16(POLLIN) }

    var deadline: Timestamp { unanswered.isEmpty ? network.deadline : .zero }

    var receiverNames: [String] { network.names }

    var receiverStatuses: [ReceiverStatus] { network.statuses }

    // Before the first gateway has posted there is nobody who does not hear.
    var state: RadioState { network.names.isEmpty ? .unknown : network.isHearing ? .poweredOn : .resetting }

    func scan(_ mode: ScanMode) { self.mode = mode }

    func advertise(_ frames: [IBeaconFrame]) { unanswered = frames }

    func process(
        at now: Timestamp, as receiver: ReceiverID, deliver: (Reception, RawSpan) throws -> Void,
        report: (RadioEvent) -> Void
    ) throws {
        for frame in unanswered { report(.advertising(frame, .failure(.receiversCannotSend))) }
        unanswered = []
        for post in queue.take() {
            // Never later than this step, up to which everything is delivered.
            try network.receive(
                topic: RawSpan(), payload: post.bytes.span.bytes, at: min(post.time, now),
                deliver: { if mode != .off { try deliver($0, $1) } }, report: report)
        }
        network.advance(to: now, report: report)
    }

    func close() { queue.open(false) }
}
