import BeaconModel
import BeaconRadio
import BeaconSupport
import CLibrary

/// The driver of gateways that post adverts by HTTP.
final class PostedDriver: ReceiverDriver {
    let name: String
    private let queue: PostQueue
    private var network: ReceiverNetwork

    /// Starts to accept requests.
    ///
    /// - Throws: an error that lists the mistakes in the settings.
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

    var receiverKeys: [String] { network.nameKeys }

    var receiverStatuses: [ReceiverStatus] { network.statuses }

    // Before the first request no receiver is known that could be deaf.
    var state: RadioState { network.names.isEmpty ? .unknown : network.isHearing ? .poweredOn : .resetting }

    func scan(_ mode: ScanMode) { network.isListening = mode != .off }

    func process(at now: Timestamp, into batch: inout AdvertBatch) {
        for post in queue.take() {
            // At most `now`: everything up to the previous step has been delivered.
            network.receive(
                topic: RawSpan(), payload: post.bytes.span.bytes, at: min(post.time, now), into: &batch)
        }
        network.advance(to: now, into: &batch)
    }

    func close() { queue.open(false) }
}
