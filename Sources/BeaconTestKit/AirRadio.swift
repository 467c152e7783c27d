import BeaconModel
import BeaconRadio
import BeaconSupport

/// The radio of a simulated device. The air delivers adverts and the time to the center directly, so that each step
/// ends before the next one starts.
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
            // New adverts, and adverts that still have no answer.
            state.unanswered = adverts.filter { state.unanswered.contains($0) || !state.adverts.contains($0) }
            state.adverts = adverts
        }
    }

    var adverts: [OutgoingAdvert] { state.withLock { $0.adverts } }
    var mode: ScanMode { state.withLock { $0.mode } }

    /// Returns the current adverts without an outcome, and marks them as answered.
    func takeAnswers() -> [OutgoingAdvert] {
        state.withLock { state in
            defer { state.unanswered = [] }
            return state.unanswered
        }
    }
}
