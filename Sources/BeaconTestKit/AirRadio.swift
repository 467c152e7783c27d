import BeaconModel
import BeaconRadio
import BeaconSupport

/// The radio of a simulated device. The air delivers adverts and the time to the center itself, so that each step is
/// over before the next begins.
final class AirRadio: Radio, Advertiser {
    private struct State {
        var adverts: [OutgoingAdvert] = []
        var mode = ScanMode.off
        var unanswered: [OutgoingAdvert] = []
    }

    private let state = Locked(State())

    func events() -> AsyncStream<SourceEvent> { AsyncStream { $0.finish() } }

    var advertiser: (any Advertiser & Sendable)? { self }

    func scan(_ mode: ScanMode) { state.withLock { $0.mode = mode } }

    func advertise(_ adverts: [OutgoingAdvert]) {
        state.withLock { state in
            // Each advert that is new, and those that still wait.
            state.unanswered = adverts.filter { state.unanswered.contains($0) || !state.adverts.contains($0) }
            state.adverts = adverts
        }
    }

    var adverts: [OutgoingAdvert] { state.withLock { $0.adverts } }
    var mode: ScanMode { state.withLock { $0.mode } }

    /// Returns the adverts that are on the air and had no outcome, and counts them as answered.
    func takeAnswers() -> [OutgoingAdvert] {
        state.withLock { state in
            defer { state.unanswered = [] }
            return state.unanswered
        }
    }
}
