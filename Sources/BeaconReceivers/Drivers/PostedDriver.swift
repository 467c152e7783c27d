import BeaconModel
import BeaconRadio
import BeaconSupport
import CLibrary

/// The driver of gateways that post what they hear.
final class PostedDriver: ReceiverDriver {
    let name: String
    private let queue: PostQueue
    private var network: ReceiverNetwork

    /// Begins to take requests.
    ///
    /// - Throws: an error that lists what is wrong with the settings.
    init(_ source: PostedSource) throws(RadioError) {
        let mistakes = source.mistakes()
        guard mistakes.isEmpty else { throw RadioError(.failed, mistakes.joined(separator: "; ")) }
        name = source.name
        queue = source.queue
        network = ReceiverNetwork(source.network)
        network.isListening = false
        network.connect(at: RadioClock.now())
        queue.open(true)
    }

    func forEachPoll(_ body: (_ descriptor: Int32, _ events: Int16) -> Void) {
        body(queue.waker.descriptor, Int16(POLLIN))
    }

    var deadline: Timestamp { network.deadline }

    var receiverNames: [String] { network.names }

    var receiverStatuses: [ReceiverStatus] { network.statuses }

    // Before the first gateway has posted there is no receiver that could be deaf.
    var state: RadioState { network.names.isEmpty ? .unknown : network.isHearing ? .poweredOn : .resetting }

    func scan(_ mode: ScanMode) { network.isListening = mode != .off }

    func process(at now: Timestamp, into batch: inout AdvertBatch) {
        for post in queue.take() {
            // Never later than this step, up to which everything is delivered.
            network.receive(
                topic: RawSpan(), payload: post.bytes.span.bytes, at: min(post.time, now), into: &batch)
        }
        network.advance(to: now, into: &batch)
    }

    func close() { queue.open(false) }
}
