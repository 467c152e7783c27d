package import BeaconModel

/// The status of a radio, as its events report it, for a reader that pulls a source on one thread: its state, the lead
/// of the wall clock over its times, and its answers.
///
/// It is a class because the function that a source reports to changes it while the source is being pulled.
package final class RadioStatus {
    /// A stretch of deafness that the radio learnt of afterwards.
    package struct Gap: Hashable, Sendable {
        /// When nothing was heard any more.
        package var from: Timestamp
        /// When it was noticed, or hearing began again.
        package var to: Timestamp
        /// The receiver that was deaf; nil for all.
        package var receiver: ReceiverID?
    }

    /// The state of the radio.
    package private(set) var state = RadioState.unknown

    /// The nanoseconds by which the wall clock is ahead of the radio's times.
    package private(set) var wallOffset: Int64 = 0

    /// The newest answer for each advert that was to be advertised.
    package private(set) var advertising: [OutgoingAdvert: Result<Void, RadioError>] = [:]

    /// The most answers and stretches that wait for somebody to ask: more than any radio has adverts.
    private static let most = 64

    /// The most stretches that wait: several for each receiver that an engine has places for.
    private static let mostGaps = 1024

    private var gaps: [Gap] = []
    private let observe: (SourceEvent) -> Void

    /// The status of a radio that has reported nothing.
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
            if gaps.count >= Self.mostGaps {
                // Of more than anybody looks at, two become one that has both: not to hear for too long is no harm.
                let first = gaps.removeFirst()
                gaps[0] = Gap(
                    from: min(first.from, gaps[0].from), to: max(first.to, gaps[0].to),
                    receiver: first.receiver == gaps[0].receiver ? first.receiver : nil)
            }
            gaps.append(Gap(from: from, to: to, receiver: receiver))
        case .opened, .heard, .notice, .failed, .ended: break
        }
        observe(event)
    }

    /// Returns the stretches of deafness that the radio learnt of afterwards, since the last call.
    package func takeGaps() -> [Gap] {
        guard !gaps.isEmpty else { return [] }
        defer { gaps = [] }
        return gaps
    }

    /// Returns a time of the radio by the wall clock.
    package func wall(_ time: Timestamp) -> Timestamp { time.advanced(by: wallOffset) }
}
