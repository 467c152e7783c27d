package import BeaconModel

/// The status of a radio, updated from its events, for a reader that pulls a source on one thread: its state, the
/// offset of the wall clock, and its answers.
///
/// It is a class because the source's report function changes it while the source is being read.
package final class RadioStatus {
    /// A period of deafness that the radio detected afterwards.
    package struct Gap: Hashable, Sendable {
        /// The start of the deafness.
        package var from: Timestamp
        /// The time at which it was detected, or reception resumed.
        package var to: Timestamp
        /// The receiver that was deaf; nil for all.
        package var receiver: ReceiverID?
    }

    /// The state of the radio.
    package private(set) var state = RadioState.unknown

    /// The nanoseconds by which the wall clock is ahead of the radio's times.
    package private(set) var wallOffset: Int64 = 0

    /// The newest answer for each requested advert.
    package private(set) var advertising: [OutgoingAdvert: Result<Void, RadioError>] = [:]

    /// The most answers to keep: more than any radio has adverts.
    private static let most = 64

    /// The most gaps to keep: several for each receiver that an engine supports.
    private static let maximumGaps = 1024

    private var gaps: [Gap] = []
    private let observe: (SourceEvent) -> Void

    /// Creates the status of a radio that has reported nothing.
    ///
    /// - Parameter observe: called with each event after the status was updated from it.
    package init(observe: @escaping (SourceEvent) -> Void = { _ in }) { self.observe = observe }

    /// Updates the status from an event of the radio.
    package func update(_ event: SourceEvent) {
        switch event {
        case .state(let new): state = new
        case .wallClock(let ahead): wallOffset = ahead
        case .advertising(let advert, let result):
            if advertising.count >= Self.most, advertising[advert] == nil { advertising.removeAll() }
            advertising[advert] = result
        case .deaf(let from, let to, let receiver):
            if gaps.count >= Self.maximumGaps {
                // If there are too many, two gaps become one that covers both: too long a gap does no harm.
                let first = gaps.removeFirst()
                gaps[0] = Gap(
                    from: min(first.from, gaps[0].from), to: max(first.to, gaps[0].to),
                    receiver: first.receiver == gaps[0].receiver ? first.receiver : nil)
            }
            gaps.append(Gap(from: from, to: to, receiver: receiver))
        case .opened, .heard, .forged, .notice, .failed, .ended: break
        }
        observe(event)
    }

    /// Returns the periods of deafness detected since the last call.
    package func drainGaps() -> [Gap] {
        guard !gaps.isEmpty else { return [] }
        defer { gaps = [] }
        return gaps
    }

    /// Converts a time of the radio to the wall clock.
    package func wall(_ time: Timestamp) -> Timestamp { time.advanced(by: wallOffset) }
}
