import BeaconModel
import BeaconRadio
import BeaconSupport

/// The notices that messages name more receivers than there are places: one at the beginning, one at the end.
struct Crowd {
    /// The time without a further receiver after which the crowd is over, in nanoseconds.
    private static let calm = 600 * Timestamp.nanosecondsPerSecond

    /// The last time that a receiver found no free place; nil if that has not happened recently.
    private var newest: Timestamp?
    private var example = ""
    private var isReported = false

    /// Notes a receiver that found no free place.
    mutating func note(_ name: String, at time: Timestamp) {
        if newest == nil { example = name.prefix(bytes: 64).printable }
        newest = time
    }

    /// Reports the beginning or the end of the crowd.
    mutating func report(at time: Timestamp, limit: Int, in network: String, _ batch: inout AdvertBatch) {
        guard let newest else { return }
        if !isReported {
            isReported = true
            notice(
                .tooManyReceivers,
                "messages name more than \(limit) receivers, for example \"\(example)\". Receivers that you "
                    + "named or assigned to places stay. New receivers replace the least used of the others. "
                    + "Find out which client sends these names",
                network, &batch)
        } else if time.since(newest) > Self.calm {
            self.newest = nil
            isReported = false
            notice(.receiversFit, "no receiver has been without a place for ten minutes", network, &batch)
        }
    }

    private func notice(_ kind: RadioNotice.Kind, _ message: String, _ network: String, _ batch: inout AdvertBatch) {
        batch.report(.notice(RadioNotice(kind, adapter: network, message)))
    }
}
