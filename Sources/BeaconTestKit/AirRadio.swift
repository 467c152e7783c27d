import BeaconModel
import BeaconRadio
import BeaconService

/// The radio of a simulated device. What it hears and what time it is, the air hands to the center itself, so that each
/// step is over before the next begins.
final class AirRadio: Radio {
    private struct State {
        var frames: [IBeaconFrame] = []
        var mode = ScanMode.off
        var owesAnswer = false
    }

    private let state = Locked(State())

    func events() -> AsyncStream<RadioEvent> { AsyncStream { $0.finish() } }

    func scan(_ mode: ScanMode) { state.withLock { $0.mode = mode } }

    func advertise(_ frames: [IBeaconFrame]) {
        state.withLock { state in
            state.owesAnswer = frames.count > state.frames.count
            state.frames = frames
        }
    }

    var frames: [IBeaconFrame] { state.withLock { $0.frames } }
    var isScanning: Bool { state.withLock { $0.mode != .off } }

    /// Whether advertising has begun since the last call.
    func takeAnswer() -> Bool {
        state.withLock { state in
            defer { state.owesAnswer = false }
            return state.owesAnswer
        }
    }
}
