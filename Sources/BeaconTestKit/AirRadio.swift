import BeaconModel
import BeaconRadio
import BeaconSupport

/// The radio of a simulated device. The air delivers adverts and the time to the center itself, so that each step is
/// over before the next begins.
final class AirRadio: Radio, Advertiser {
    private struct State {
        var frames: [IBeaconFrame] = []
        var mode = ScanMode.off
        var unanswered: [IBeaconFrame] = []
    }

    private let state = Locked(State())

    func events() -> AsyncStream<SourceEvent> { AsyncStream { $0.finish() } }

    var advertiser: (any Advertiser & Sendable)? { self }

    func scan(_ mode: ScanMode) { state.withLock { $0.mode = mode } }

    func advertise(_ frames: [IBeaconFrame]) {
        state.withLock { state in
            // Each frame that is new, and those that still wait.
            state.unanswered = frames.filter { state.unanswered.contains($0) || !state.frames.contains($0) }
            state.frames = frames
        }
    }

    var frames: [IBeaconFrame] { state.withLock { $0.frames } }
    var isScanning: Bool { state.withLock { $0.mode != .off } }

    /// Returns the frames that are on the air and had no outcome, and counts them as answered.
    func takeAnswers() -> [IBeaconFrame] {
        state.withLock { state in
            defer { state.unanswered = [] }
            return state.unanswered
        }
    }
}
