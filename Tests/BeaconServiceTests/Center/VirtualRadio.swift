import BeaconModel
import BeaconRadio
import BeaconService

/// A radio whose events a test tells, one after another.
final class VirtualRadio: Radio {
    private let continuation: AsyncStream<RadioEvent>.Continuation
    private let stream: AsyncStream<RadioEvent>
    private let log = Locked<(modes: [ScanMode], frames: [[IBeaconFrame]])>(([], []))

    init() { (stream, continuation) = AsyncStream.makeStream(of: RadioEvent.self) }

    func events() -> AsyncStream<RadioEvent> { stream }
    func scan(_ mode: ScanMode) { log.withLock { $0.modes.append(mode) } }
    func advertise(_ frames: [IBeaconFrame]) { log.withLock { $0.frames.append(frames) } }

    /// What the radio was asked to do so far.
    var modes: [ScanMode] { log.withLock { $0.modes } }
    var frames: [[IBeaconFrame]] { log.withLock { $0.frames } }
}
