import BeaconModel
import BeaconRadio
import BeaconSupport

/// The report that messages name more receivers than there are places: once when it begins, and once when it is over.
struct Crowd {
    /// The time without another receiver too many after which it is over, in nanoseconds.
    private static let calm = 600 * Timestamp.nanosecondsPerSecond

    /// When a receiver found no place, or took that of another one, last; nil where none has of late.
    private var newest: Timestamp?
    private var example = ""
    private var isReported = false

    /// Notes a receiver that found no place, or took that of another one.
    mutating func note(_ name: String, at time: Timestamp) {
        if newest == nil { example = name.prefix(bytes: 64).printable }
        newest = time
    }

    /// Reports what has changed.
    mutating func report(at time: Timestamp, limit: Int, in network: String, _ batch: inout AdvertBatch) {
        guard let newest else { return }
        if !isReported {
            isReported = true
            notice(
                .crowded,
                "messages name more than \(limit) receivers, \"\(example)\" among them. Receivers that you have "
                    + "named, or that are in places, stay. Of the others, the least used one makes way for a new one. "
                    + "Find out which client sends these names",
                network, &batch)
        } else if time.since(newest) > Self.calm {
            self.newest = nil
            isReported = false
            notice(.uncrowded, "no receiver has been without a place for ten minutes", network, &batch)
        }
    }

    private func notice(_ kind: RadioNotice.Kind, _ message: String, _ network: String, _ batch: inout AdvertBatch) {
        batch.report(.notice(RadioNotice(kind, adapter: network, message)))
    }
}
